"""Whole jobs from source to result: the only package that uses engines, methods and reports together."""
