"""The ranges that are published in place of masked values."""
