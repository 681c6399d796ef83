"""Which cells to mask besides the unsafe ones: the least-cost pattern, or a quick good one."""
