"""Ranges that are published in place of suppressed values."""
