"""Rows that few columns single out."""
