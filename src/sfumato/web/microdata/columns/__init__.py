"""The columns step: the table of columns, the panel of one column, and the hierarchy editor."""
