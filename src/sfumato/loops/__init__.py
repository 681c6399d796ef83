"""Compiled loops: one Python source for each, machine code built with the package, numba where there is none."""
