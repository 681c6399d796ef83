"""Coarser tables that would cost less to protect."""
