"""Rows that few columns make unique."""
