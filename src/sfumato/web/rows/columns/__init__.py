"""The step of columns: their table, the panel of one, and the editor of its hierarchy."""
