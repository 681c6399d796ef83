"""Policies: named lists of clauses that a published file is held against; data, and what is read from them."""
