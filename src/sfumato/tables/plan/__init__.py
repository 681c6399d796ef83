"""The plan of a table and the rules that make a cell unsafe."""
