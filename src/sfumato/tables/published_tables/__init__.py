"""Published tables: parsed as an outsider sees them, and audited."""
