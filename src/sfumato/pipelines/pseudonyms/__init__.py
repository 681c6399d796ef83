"""Pseudonyms: the house's key file, and turning pseudonyms back with it."""
