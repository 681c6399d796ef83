"""Tabulate frames and files, with keys of their records."""
