"""Controlled tabular adjustment: unsafe cells moved away, and the table made additive again."""
