"""Texts of pages, reports and errors: one table of messages per language, all with the same keys."""
