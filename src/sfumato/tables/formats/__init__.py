"""File formats of statistical offices, one per module."""
