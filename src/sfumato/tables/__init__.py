"""Aggregate tables: which cells to mask so that attackers cannot compute them, and the attacker who tries."""
