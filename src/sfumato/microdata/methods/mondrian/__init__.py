"""Mondrian: classes by cutting."""
