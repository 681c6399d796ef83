"""Rounding of tables: controlled, of small counts, random and deterministic."""
