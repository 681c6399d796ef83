"""What must stay open: the widths promised for each unsafe cell, and judging a pattern by them."""
