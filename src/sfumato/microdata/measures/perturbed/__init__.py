"""Measures of perturbed numbers: how often rows are found again, and what analysts lose."""
