"""Attributes of persons, masked, generalized or randomized one by one as a configuration says."""
