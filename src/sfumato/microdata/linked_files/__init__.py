"""Linked files: persons whose rows in several joined files are identical, and the generalization this requires."""
