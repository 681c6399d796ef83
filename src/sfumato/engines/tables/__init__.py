"""Frames and files on the way into tables: counted, with keys of their records."""
