"""Reports of the risk of a file as it is."""
