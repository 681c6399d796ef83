"""Tables in τ-ARGUS formats: cells, statuses, sensitivity rules, tabulation, and errors in their files."""
