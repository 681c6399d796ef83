"""HIPAA Safe Harbor: what of its identifiers the columns of a file hold, by their names and values."""
