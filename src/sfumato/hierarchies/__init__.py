"""Hierarchies: the ladders up which values are generalized, and what builds them."""
