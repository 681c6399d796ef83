"""Attack releases: which rows are compared, the control from a second run of the plan, and the result."""
