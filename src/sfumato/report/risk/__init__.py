"""Reports on the risk of a file without any protection."""
