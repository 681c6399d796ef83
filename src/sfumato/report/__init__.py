"""Reports: an outcome in; text, JSON or HTML out."""
