"""Controlled tabular adjustment: sensitive cells are moved away, and the table is made additive again."""
