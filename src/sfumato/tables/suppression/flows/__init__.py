"""Flows: deviations from the true values that move a threatened cell as far as needed, and what finds them."""
