"""Method `k-optimize`: the optimal set of cuts between values."""
