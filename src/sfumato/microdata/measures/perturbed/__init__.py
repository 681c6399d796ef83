"""Measures of perturbed numbers: how often rows are re-identified, and the information loss for analyses."""
