"""Methods that search for a recoding, one per file."""
