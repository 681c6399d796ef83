"""Reading files: formats, encodings, separators, headers."""
