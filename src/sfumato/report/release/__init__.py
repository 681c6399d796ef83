"""The reports of a microdata release: for the house, to hand out, and to be signed."""
