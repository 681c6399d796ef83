"""Crosstabs: detect their totals, and suppress cells by a policy."""
