"""Releases over time: earlier releases of the same persons, matching with them, and erased persons."""
