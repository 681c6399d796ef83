"""The routes that anonymize attributes."""
