"""Configurations and contexts from elsewhere, fetched with care."""
