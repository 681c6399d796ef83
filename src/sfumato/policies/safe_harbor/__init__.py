"""HIPAA Safe Harbor: detect its identifiers in the columns of a file, by their names and values."""
