"""Releases of several files that are joined by keys."""
