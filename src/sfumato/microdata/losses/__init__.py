"""Information losses, one per file."""
