"""Whole jobs on tables: tabulate, protect, suppress by a policy, audit."""
