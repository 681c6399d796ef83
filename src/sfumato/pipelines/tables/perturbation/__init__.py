"""Whole jobs on tables whose numbers are changed instead of masked."""
