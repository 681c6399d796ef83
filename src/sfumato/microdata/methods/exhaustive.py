"""Exhaustive: every node of the lattice is judged; the answer includes the table of all of them.

Nodes are taken by height, each rolled up from the smallest of its finer neighbors, so that only two heights are in
memory at a time.
"""

from collections import defaultdict

from sfumato.microdata.grouping import Grouped, Node
from sfumato.microdata.methods.problem import Found, Judged, Problem
from sfumato.microdata.methods.unattainable import unattainable


def judge_all(problem: Problem) -> tuple[Judged, ...]:
    """Every node judged, in the order of their levels."""
    judged: dict[Node, Judged] = {}
    below: dict[Node, Grouped] = {}
    for nodes in _by_height(problem):
        here = {}
        for node in nodes:
            here[node] = problem.grouper.rolled(_smallest(problem, below, node), node)
            judged[node] = problem.judged(here[node])
        below = here
        problem.progress(len(judged), problem.size)
    return tuple(judged[node] for node in problem.nodes())


def search(problem: Problem) -> Found:
    """The best of all nodes.

    Raises:
        UnattainableError: No node keeps the promises within the budget.
    """
    nodes = judge_all(problem)
    releasable = [node for node in nodes if node.holds]
    if not releasable:
        raise unattainable(problem)
    return Found(min(releasable, key=lambda node: node.rank), True, len(nodes), problem.size, nodes)


def _by_height(problem: Problem) -> list[list[Node]]:
    heights: dict[int, list[Node]] = defaultdict(list)
    for node in problem.nodes():
        heights[sum(node)].append(node)
    return [heights[height] for height in sorted(heights)]


def _smallest(problem: Problem, below: dict[Node, Grouped], node: Node) -> Grouped:
    """The finer neighbor with the fewest classes, or the raw table for the lowest node."""
    best = problem.grouper.base
    for column, level in enumerate(node):
        neighbor = below.get((*node[:column], level - 1, *node[column + 1 :]))
        if neighbor is not None and len(neighbor.sizes) < len(best.sizes):
            best = neighbor
    return best
