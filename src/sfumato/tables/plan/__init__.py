"""The plan of a table and its sensitivity rules."""
