"""Policies: requirements of authorities as named lists of clauses, and their evaluation on a published file."""
