"""Pseudonyms: the key file, and reversing pseudonyms with it."""
