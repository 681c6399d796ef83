"""Perturbation: numbers and categories that are published changed, one operation a file."""
