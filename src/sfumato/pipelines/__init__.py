"""Whole jobs from source to outcome: the only place that knows engines, methods and reports."""
