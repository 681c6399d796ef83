"""Mondrian: equivalence classes by recursive cuts."""
