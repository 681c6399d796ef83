"""Releases over time: earlier ones of the same persons, who can be placed beside them, what was erased."""
