"""Perturbation of published numbers and categories, one operation per file."""
