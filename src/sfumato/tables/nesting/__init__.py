"""Columns of the same records of which one determines another, and what that says of tables of each."""
