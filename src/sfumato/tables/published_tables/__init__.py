"""Published tables: read as an outsider reads them, and audited."""
