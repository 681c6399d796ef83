"""The command line: one file a command; each parses, calls, renders and ends with the right exit code."""
