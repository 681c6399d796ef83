"""Samarati: the lowest height at which some node can be released, and there the one of least loss.

Binary search on the height: with monotone promises, if some node of a height can be released, so can one of every
greater height (where suppression breaks that, heights are tried from the bottom up). Samarati, P. (2001),
https://doi.org/10.1109/69.971193. Lowest height is not least loss; the optimal search of the same problem tells by how
much the answer could be better.
"""

from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.problem import Judgment, Judgments, Problem, Solution
from sfumato.microdata.methods.full_domain.sweep import by_height
from sfumato.microdata.methods.full_domain.unattainable import unattainable


def search(problem: Problem) -> Solution:
    """The best node of the lowest height that has a releasable one.

    Raises:
        UnattainableError: No node keeps the promises within the budget.
    """
    judgments = Judgments(problem)
    heights = by_height(problem.nodes())
    lowest = _lowest(problem, heights, judgments)
    if lowest is None:
        raise unattainable(problem)
    releasable = [judgments[node] for node in heights[lowest] if judgments[node].holds]
    best = problem.best(releasable)
    assert best is not None
    better = optimal.search(problem)
    proved = better.best.rank[0] >= best.rank[0]
    remarks = _remarks(problem, releasable, best, better.best, proved)
    worse = None if proved else better.best
    return Solution(best, proved, len(judgments), problem.size, tuple(releasable), worse, remarks)


def _lowest(problem: Problem, heights: list[list[Node]], judgments: Judgments) -> int | None:
    """The lowest height with a releasable node: by halving where promises are monotone, else from the bottom up."""
    monotone = all(model.monotone_generalization for model in problem.models)
    if not monotone or (problem.limit > 0 and not problem.prunes_suppression):
        return next((height for height, nodes in enumerate(heights) if _some(nodes, judgments)), None)
    low, high = 0, len(heights) - 1
    if not _some(heights[high], judgments):
        return None
    while low < high:
        middle = (low + high) // 2
        if _some(heights[middle], judgments):
            high = middle
        else:
            low = middle + 1
    return high


def _some(nodes: list[Node], judgments: Judgments) -> bool:
    """Whether some node can be released; stops at the first."""
    return any(judgments[node].holds for node in nodes)


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
