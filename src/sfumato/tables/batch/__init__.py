"""Tables of τ-ARGUS batch files: tabulation, safety rules, protection."""
