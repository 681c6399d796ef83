"""Samarati: the lowest height at which some node can be released, and there the one of least loss.

Binary search on the height: with monotone promises, if some node of a height can be released, so can one of every
greater height (where suppression breaks that, heights are tried from the bottom up). Samarati, P. (2001),
https://doi.org/10.1109/69.971193. Lowest height is not least loss; the optimal search of the same problem tells by how
much the answer could be better.
"""

from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.problem import Judgment, Problem, Solution
from sfumato.microdata.methods.full_domain.sweep import by_height
from sfumato.microdata.methods.full_domain.unattainable import unattainable


def search(problem: Problem) -> Solution:
    """The best node of the lowest height that has a releasable one.

    Raises:
        UnattainableError: No node keeps the promises within the budget.
    """
    judgments: dict[Node, Judgment] = {}
    heights = by_height(problem.nodes())
    lowest = _lowest(problem, heights, judgments)
    if lowest is None:
        raise unattainable(problem)
    releasable = [node for node in _all(problem, heights[lowest], judgments) if node.holds]
    best = problem.best(releasable)
    assert best is not None
    better = optimal.search(problem)
    proved = better.best.rank[0] >= best.rank[0]
    remarks = _remarks(problem, releasable, best, better.best, proved)
    worse = None if proved else better.best
    return Solution(best, proved, len(judgments), problem.size, tuple(releasable), worse, remarks)


def _lowest(problem: Problem, heights: list[list[Node]], judgments: dict[Node, Judgment]) -> int | None:
    """The lowest height with a releasable node: by halving where promises are monotone, else from the bottom up."""
    if problem.limit > 0 and not problem.prunes_suppression:
        return next((height for height, nodes in enumerate(heights) if _some(problem, nodes, judgments)), None)
    low, high = 0, len(heights) - 1
    if not _some(problem, heights[high], judgments):
        return None
    while low < high:
        middle = (low + high) // 2
        if _some(problem, heights[middle], judgments):
            high = middle
        else:
            low = middle + 1
    return high


def _some(problem: Problem, nodes: list[Node], judgments: dict[Node, Judgment]) -> bool:
    """Whether some node can be released; stops at the first."""
    return any(_judgment(problem, node, judgments).holds for node in nodes)


def _all(problem: Problem, nodes: list[Node], judgments: dict[Node, Judgment]) -> list[Judgment]:
    return [_judgment(problem, node, judgments) for node in nodes]


def _judgment(problem: Problem, node: Node, judgments: dict[Node, Judgment]) -> Judgment:
    if node not in judgments:
        judgments[node] = problem.judge(node)
    return judgments[node]


def _remarks(
    problem: Problem, releasable: list[Judgment], best: Judgment, better: Judgment, proved: bool
) -> tuple[str, ...]:
    height = sum(best.node)
    first = f"The lowest height with a releasable node is {height}; {len(releasable)} can be released there."
    if proved:
        return (first, "No node of any height has a smaller loss.")
    levels = ", ".join(f"{name} {level}" for name, level in zip(problem.table.columns, better.node, strict=True))
    return (
        first,
        f"Lowest height is not least loss: {levels} (height {sum(better.node)}) loses {better.loss:.6g} instead of "
        f"{best.loss:.6g}, {1 - better.loss / best.loss:.0%} less. The method optimal finds it.",
    )
