"""Losses: what a recoding costs, one a file."""
