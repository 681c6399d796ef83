"""Propose coarser tables that cost less to protect."""
