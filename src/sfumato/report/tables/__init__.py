"""Reports of tables: protected, changed, compared, by batch."""
