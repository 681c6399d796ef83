"""Flows: deviations from the true values that move a threatened cell by its protection level; ways to find them."""
