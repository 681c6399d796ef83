"""Cells, dimensions and relations of a table."""
