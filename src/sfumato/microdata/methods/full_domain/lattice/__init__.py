"""The lattice of levels: the problem, the judgment of a node, and what rules out many at once."""
