"""Tables whose numbers were changed instead of masked, and what a reader still computes from them."""
