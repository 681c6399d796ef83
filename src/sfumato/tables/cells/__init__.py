"""Cells, dimensions and linear constraints of a table."""
