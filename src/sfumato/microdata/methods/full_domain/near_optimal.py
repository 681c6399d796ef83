"""Choose a near-optimal node at random, so that attackers cannot reason from the optimum (minimality attack).

Anyone who knows that a release has the least loss knows of every finer node that it violated a model, which may reveal
information about persons (Wong, R. et al. (2007). Minimality attack in privacy preserving data publishing,
https://www.vldb.org/conf/2007/papers/research/p543-wong.pdf). This module therefore draws, by the seed, one of the best
few nodes within two levels of the optimum, each with the same probability.
"""

from dataclasses import replace

import numpy as np

from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.methods.full_domain.lattice.problem import Judgments, LatticeProblem, NodeSolution

# Number of nodes to draw from, including the optimum.
CANDIDATES = 8


def near_least(problem: LatticeProblem, solution: NodeSolution, seed: int) -> NodeSolution:
    """Return one of the best nodes near a solution."""
    judgments = Judgments(problem)
    nearby = [judgments[node] for node in sorted(_nearby(problem, solution.best.node))]
    candidates = sorted((node for node in nearby if problem.offers(node)), key=lambda node: node.rank)[:CANDIDATES]
    drawn = int(np.random.default_rng(seed).integers(len(candidates)))
    checked = solution.checked + len(nearby)
    return replace(solution, best=candidates[drawn], proved_optimal=False, checked=checked)


def _nearby(problem: LatticeProblem, node: Node) -> set[Node]:
    """Return a node, the coarser ones within two levels, and those one level coarser here and one finer there."""
    coarser = set(problem.neighbors(node, 1))
    further = {other for one in coarser for step in (1, -1) for other in problem.neighbors(one, step)}
    return {node} | coarser | further
