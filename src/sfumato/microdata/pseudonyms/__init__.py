"""Pseudonyms: replacements of identifiers that only the holder of the key can reverse."""
