"""Translate the Python source of compiled loops to C."""
