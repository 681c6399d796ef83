"""Full-domain recoding: one level per column for all rows."""
