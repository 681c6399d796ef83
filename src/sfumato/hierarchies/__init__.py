"""Generalization hierarchies, and the builders that make them from plan parameters."""
