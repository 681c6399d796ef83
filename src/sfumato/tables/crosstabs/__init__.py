"""Crosstabs as people have them: their totals found, their cells masked by a policy."""
