"""Aggregate tables: suppress or perturb cells so that attackers cannot compute them, and audit the result."""
