"""Microdata: rows about persons, released as a recoding of their frequency table."""
