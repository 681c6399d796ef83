"""A table of a statistical office: its cells, statuses, totals, and what can be wrong with its files."""
