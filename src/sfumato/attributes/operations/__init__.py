"""What can be done to a value, one kind a file."""
