"""Transformations of columns that are no quasi-identifiers, one operation per file."""
