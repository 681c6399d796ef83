"""Whole jobs on tables whose numbers are perturbed instead of suppressed."""
