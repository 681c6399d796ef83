"""Pseudonyms: identifiers replaced so that whoever holds the key, and nobody else, finds the original again."""
