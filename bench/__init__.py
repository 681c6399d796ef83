"""Benchmarks: `python -m bench [name …]` measures what the issues of the day ask for, and prints it."""
