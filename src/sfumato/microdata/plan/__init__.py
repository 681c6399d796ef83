"""The plan of a microdata release: read, checked, written back."""
