"""Measures of risk and utility before and after a release, computed from frequency tables alone."""
