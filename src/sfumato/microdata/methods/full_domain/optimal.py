"""Methods `optimal` and `samarati`: the node of least loss with a proof, or the best one of the lowest height."""

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.counts import kernels
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.methods.full_domain.best_first import cut_short, search_best_first
from sfumato.microdata.methods.full_domain.compiled_searches import Frontier, RareCombinationSearch
from sfumato.microdata.methods.full_domain.lattice_nodes import screened
from sfumato.microdata.methods.full_domain.problem import Judgments, LatticeProblem, NodeSolution
from sfumato.microdata.methods.full_domain.unattainable import unattainable
from sfumato.microdata.methods.search_result import NodeEvaluation
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats

# Position of the next node in the open part of the lattice: 0 its finest node, 1 its coarsest.
WHERE = 0.8
# Larger lattices are searched by best_first.py, where a level's cost is known before it is tried,
MAX_MARKED = 500_000
# and those beyond this number of nodes in any case: they are never written down.
MAX_NODES = 10_000_000
TIE = 1e-9


def search(problem: LatticeProblem) -> NodeSolution:
    """Return the best node.

    The search keeps a lower bound of the loss for every node not yet excluded, and ends when none could be better than
    the best found. An evaluated node v implies for others:

    - rows that violate a model at v, if the model is monotone under suppression, violate it at every finer node (with a
      suppression limit of 0, monotone under generalization is enough): if they exceed the limit, all finer nodes are
      excluded (predictive tagging; Kohlmayer, F. et al. (2012). Flash, https://doi.org/10.1109/SocialCom-PASSAT.2012.52);
    - the generalization part of the loss at v bounds that of every coarser node from below;
    - the suppression part at v bounds that of every finer node from below if loss and models are monotone; for other
      models, the bound is its value with only the rows suppressed that every finer node must suppress.

    If a model or a loss lacks a property, the corresponding rule is not used, so the result stays exact. The next node
    is taken from the upper part of the open ones: a coarse node is cheap to group and excludes many nodes below it.

    Raises:
        UnattainableError: No node satisfies the models within the suppression limit.
    """
    bounds_are_sums = isinstance(problem.loss, Marginal) and problem.prunes_suppression
    if problem.size > (MAX_MARKED if bounds_are_sums else MAX_NODES):
        return search_best_first(problem)
    finest = _trivial(problem)
    if finest is not None:
        return NodeSolution(finest, True, 1, problem.size)
    if RareCombinationSearch.suits(problem):
        return _compiled(problem, RareCombinationSearch(problem))
    if Frontier.suits(problem):
        return _compiled(problem, Frontier(problem))
    frontier = _Frontier(problem)
    frontier.visit(problem.highest)
    while (node := frontier.next()) is not None and not problem.deadline.over:
        frontier.visit(node)
    if frontier.best is None:
        raise unattainable(problem)
    if node is not None:
        return cut_short(problem, frontier.best, frontier.checked, frontier.bound)
    return NodeSolution(frontier.best, True, frontier.checked, problem.size)


def _trivial(problem: LatticeProblem) -> NodeEvaluation | None:
    """Return the finest node if it is releasable, suppression costs nothing and every level up does cost."""
    loss = problem.loss
    if not isinstance(loss, Marginal) or not loss.suppression_is_free or not problem.limit:
        return None
    steps = zip(loss.generalization, loss.weights, problem.lowest, problem.highest, strict=True)
    if any(low < high and weight * (means[low + 1] - means[low]) <= TIE for means, weight, low, high in steps):
        return None
    judgment = problem.evaluate(problem.lowest, priced=False)
    return judgment if problem.offers(judgment) else None


def _compiled(problem: LatticeProblem, frontier: RareCombinationSearch | Frontier) -> NodeSolution:
    """Return the best node, searched in one compiled loop."""
    done = frontier.search()
    best = frontier.best
    if best is None:
        raise unattainable(problem)
    if not done:
        return cut_short(problem, best, frontier.checked, frontier.bound)
    return NodeSolution(best, True, frontier.checked, problem.size)


class _Frontier:
    """The nodes that may still be better than the best one found."""

    def __init__(self, problem: LatticeProblem) -> None:
        self.problem = problem
        self.best: NodeEvaluation | None = None
        self.checked = 0
        self._ranks: Floats = np.ascontiguousarray(problem.loss.ranks(problem.window()))
        self._floors: Floats = problem.loss.floors(problem.window())
        self._added: Floats = np.zeros_like(self._floors)
        self._open: BoolArray = np.ascontiguousarray(screened(problem))

    @property
    def bound(self) -> float:
        """Return a lower bound of both parts of the loss over all open nodes."""
        return float((self._floors + self._added)[self._open].min(initial=np.inf))

    def next(self) -> Node | None:
        """Return the node to visit next, or None if no node is open."""
        place = kernels.pick(self._open.reshape(-1), self._ranks.reshape(-1), WHERE)
        if place < 0:
            return None
        levels = np.unravel_index(place, self._open.shape)
        return tuple(int(level) + low for level, low in zip(levels, self.problem.lowest, strict=True))

    def visit(self, node: Node) -> None:
        """Evaluate a node and exclude the nodes that it makes impossible."""
        at = tuple(level - low for level, low in zip(node, self.problem.lowest, strict=True))
        finer = tuple(slice(0, place + 1) for place in at)
        coarser = tuple(slice(place, None) for place in at)
        self._open[at] = False
        bounded = self.problem.sizes_alone or bool(self._open[finer].any())
        judgment = self.problem.evaluate(node, priced=False, bounded=bounded)
        self.checked += 1
        if judgment.certain_rows > self.problem.limit:
            self._open[finer] = False
        if judgment.loss_terms.generalization > self._floors[at]:
            np.maximum(self._floors[coarser], judgment.loss_terms.generalization, out=self._floors[coarser])
        if judgment.certain_suppression > 0:
            np.maximum(self._added[finer], judgment.certain_suppression, out=self._added[finer])
        if self.problem.better(judgment, self.best):
            self.best = judgment
        if self.best is not None and self.problem.offers(self.best):
            most = self.best.loss_terms.total + TIE * max(1.0, self.best.loss_terms.total)
            kernels.rule_out(self._open.reshape(-1), self._floors.reshape(-1), self._added.reshape(-1), most)


class _TimeOverError(Exception):
    """The search timed out before the lowest height was known."""


def search_by_height(problem: LatticeProblem) -> NodeSolution:
    """Return the best node of the lowest height that has a releasable one.

    Binary search on the height: with monotone models, if some node of a height can be released, so can one of every
    greater height. If suppression breaks this property, heights are tried from the bottom up. Samarati, P. (2001),
    https://doi.org/10.1109/69.971193. The lowest height is not the least loss; the optimal search of the same problem
    shows how much better a node can be.

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
    better = search(problem)
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


def _first_remark(best: NodeEvaluation, releasable: Sequence[NodeEvaluation]) -> Message:
    height = sum(best.node)
    return Message("note.samarati_first", height=height, count=len(releasable))


def _remarks(
    problem: LatticeProblem,
    releasable: list[NodeEvaluation],
    best: NodeEvaluation,
    better: NodeEvaluation,
    proved: bool,
) -> tuple[Message, ...]:
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
