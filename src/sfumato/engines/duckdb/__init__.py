"""The embedded engine (DuckDB)."""
