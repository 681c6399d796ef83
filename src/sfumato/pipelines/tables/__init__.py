"""Whole jobs on tables: crossing rows, protecting, masking by a policy, auditing."""
