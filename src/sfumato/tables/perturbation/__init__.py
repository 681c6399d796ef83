"""Tables whose numbers are perturbed instead of suppressed, and what a reader can still compute."""
