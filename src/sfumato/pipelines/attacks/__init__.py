"""Attacking releases: which rows are compared, the plan run again for a control, what came of it."""
