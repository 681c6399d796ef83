"""The generalization lattice: the search problem, the evaluation of a node, and rules that exclude many nodes."""
