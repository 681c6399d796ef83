"""What columns that are no quasi-identifiers are published as, one operation a file."""
