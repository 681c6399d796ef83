"""Columns of the same records of which one determines another, and what that implies for their tables."""
