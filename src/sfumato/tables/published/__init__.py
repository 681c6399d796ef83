"""Published tables: read as a stranger reads them, and reviewed."""
