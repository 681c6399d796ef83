"""Aggregate tables: which cells to mask so that nobody can compute them back, and the attacker who tries."""
