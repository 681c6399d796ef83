"""Fetch configurations and contexts from other hosts, guarded against misuse."""
