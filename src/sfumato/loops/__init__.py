"""Compiled loops: one Python source each, compiled to machine code when the package is built, or else by numba."""
