"""K-Optimize: the best set of cuts."""
