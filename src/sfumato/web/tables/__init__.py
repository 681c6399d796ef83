"""The pages that protect tables."""
