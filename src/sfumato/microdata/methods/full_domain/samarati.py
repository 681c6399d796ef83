"""Method `samarati`: find the lowest height with a releasable node, and there the node of least loss.

Binary search on the height: with monotone models, if some node of a height can be released, so can one of every greater
height. If suppression breaks this property, heights are tried from the bottom up. Samarati, P. (2001),
https://doi.org/10.1109/69.971193. The lowest height is not the least loss; the optimal search of the same problem shows
how much better a node can be.
"""

from collections.abc import Iterator, Sequence

from sfumato.localization.messages import Message
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.lattice.problem import (
    Judgments,
    LatticeProblem,
    NodeEvaluation,
    NodeSolution,
)
from sfumato.microdata.methods.full_domain.unattainable import unattainable


class _TimeOverError(Exception):
    """The search timed out before the lowest height was known."""


def search(problem: LatticeProblem) -> NodeSolution:
    """Return the best node of the lowest height that has a releasable one.

    Raises:
        UnattainableError: No node satisfies the models within the suppression limit.
    """
    judgments = Judgments(problem)
    try:
        releasable = _releasable(problem, judgments)
    except _TimeOverError:
        return _cut_short(problem, judgments)
    best = problem.best(releasable)
    if best is None:
        raise unattainable(problem)
    if problem.deadline.over:
        late = (_first_remark(best, releasable), Message("note.samarati_time"))
        return NodeSolution(best, False, len(judgments), problem.size, tuple(releasable), notes=late, cut_short=True)
    better = optimal.search(problem)
    proved = better.best.rank[0] >= best.rank[0]
    remarks = _remarks(problem, releasable, best, better.best, proved)
    worse = None if proved else better.best
    proved = proved and better.proved_optimal
    return NodeSolution(best, proved, len(judgments), problem.size, tuple(releasable), worse, remarks)


def _cut_short(problem: LatticeProblem, judgments: Judgments) -> NodeSolution:
    """Return the best node evaluated so far."""
    best = problem.best([*judgments.values(), judgments[problem.highest]])
    if best is None:
        raise unattainable(problem)
    remark = Message("note.samarati_late", seconds=problem.time_limit)
    return NodeSolution(best, False, len(judgments), problem.size, notes=(remark,), cut_short=True)


def _releasable(problem: LatticeProblem, judgments: Judgments) -> list[NodeEvaluation]:
    """Return the releasable nodes of the lowest height that has some."""
    lowest = _lowest(problem, judgments)
    return [] if lowest is None else [node for node in _height(problem, judgments, lowest) if node.satisfied]


def _lowest(problem: LatticeProblem, judgments: Judgments) -> int | None:
    """Return the lowest height with a releasable node: by bisection if models are monotone, else from the bottom up."""
    low, high = sum(problem.lowest), sum(problem.highest)

    def some(height: int) -> bool:
        return any(node.satisfied for node in _height(problem, judgments, height))

    monotone = all(model.monotone_generalization for model in problem.models)
    if not monotone or (problem.limit > 0 and not problem.prunes_suppression):
        return next((height for height in range(low, high + 1) if some(height)), None)
    if not some(high):
        return None
    while low < high:
        middle = (low + high) // 2
        if some(middle):
            high = middle
        else:
            low = middle + 1
    return high


def _height(problem: LatticeProblem, judgments: Judgments, height: int) -> Iterator[NodeEvaluation]:
    """Yield the evaluations of a height's nodes."""
    for node in nodes_of_height(problem.lowest, problem.highest, height):
        if node not in judgments and problem.deadline.over:
            raise _TimeOverError
        yield judgments[node]


def nodes_of_height(lowest: Node, highest: Node, height: int) -> Iterator[Node]:
    """Yield the nodes with a given sum of levels, the last column's level changing fastest.

    >>> list(nodes_of_height((0, 0), (1, 2), 2))
    [(0, 2), (1, 1)]
    """
    if not lowest:
        yield from [()] if height == 0 else []
        return
    first = max(lowest[0], height - sum(highest[1:]))
    for level in range(first, min(highest[0], height - sum(lowest[1:])) + 1):
        for rest in nodes_of_height(lowest[1:], highest[1:], height - level):
            yield (level, *rest)


def _first_remark(best: NodeEvaluation, releasable: Sequence[NodeEvaluation]) -> str:
    height = sum(best.node)
    return Message("note.samarati_first", height=height, count=len(releasable))


def _remarks(
    problem: LatticeProblem,
    releasable: list[NodeEvaluation],
    best: NodeEvaluation,
    better: NodeEvaluation,
    proved: bool,
) -> tuple[str, ...]:
    first = _first_remark(best, releasable)
    if proved:
        return (first, Message("note.samarati_best"))
    levels = ", ".join(f"{name} {level}" for name, level in zip(problem.table.columns, better.node, strict=True))
    return (
        first,
        Message(
            "note.samarati_less",
            levels=levels,
            height=sum(better.node),
            less=better.loss,
            loss=best.loss,
            share=1 - better.loss / best.loss,
        ),
    )
