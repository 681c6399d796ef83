"""Tables in databases, read and written."""
