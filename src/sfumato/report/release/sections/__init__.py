"""Sections of the report of a release."""
