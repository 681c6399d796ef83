"""Measures: risk and utility before and after, from frequency tables alone."""
