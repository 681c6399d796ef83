"""Compiled loops: typed Python functions that are translated to C and built as one extension module."""
