"""A near-least node instead of the least: drawn by the seed, so that nobody can reason from the least one.

Who knows that a release has the least loss knows, of every finer one, that it broke a promise; that may tell about
persons (Wong, R. et al. (2007). Minimality attack in privacy preserving data publishing,
https://www.vldb.org/conf/2007/papers/research/p543-wong.pdf). Here one of the best few nodes within two steps of the
least is released, each as likely as the others.
"""

from dataclasses import replace

import numpy as np

from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.methods.full_domain.lattice.problem import Judgments, Problem, Solution

# So many nodes are drawn from, the least among them.
CANDIDATES = 8


def near_least(problem: Problem, solution: Solution, seed: int) -> Solution:
    """One of the best nodes near a solution."""
    judgments = Judgments(problem)
    nearby = [judgments[node] for node in sorted(_nearby(problem, solution.best.node))]
    candidates = sorted((node for node in nearby if problem.offers(node)), key=lambda node: node.rank)[:CANDIDATES]
    drawn = int(np.random.default_rng(seed).integers(len(candidates)))
    checked = solution.checked + len(nearby)
    return replace(solution, best=candidates[drawn], proved_optimal=False, checked=checked)


def _nearby(problem: Problem, node: Node) -> set[Node]:
    """A node, the coarser ones within two steps, and those that are one step coarser here and one finer there."""
    coarser = set(problem.neighbors(node, 1))
    further = {other for one in coarser for step in (1, -1) for other in problem.neighbors(one, step)}
    return {node} | coarser | further
