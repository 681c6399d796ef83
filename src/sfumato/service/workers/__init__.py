"""Processes that do the work and can be ended at any moment: forked from a template that has all imports done."""
