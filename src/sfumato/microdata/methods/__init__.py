"""Methods: how a recoding is found, one a file."""
