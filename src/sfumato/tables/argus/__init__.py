"""Tables in the formats of statistical offices: cells, statuses, totals, and faults of their files."""
