"""Searches that evaluate few nodes: method `greedy`, and best-first search for large lattices."""

import heapq
from collections.abc import Iterator
from itertools import count

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.methods.full_domain.lattice_nodes import rare_pairs
from sfumato.microdata.methods.full_domain.problem import Judgments, LatticeProblem, NodeSolution
from sfumato.microdata.methods.full_domain.unattainable import unattainable
from sfumato.microdata.methods.search_result import NodeEvaluation
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.values import Value

REMARK = "Greedy search: no single step improves this result, but a better one may exist; method optimal proves."


def search_greedily(problem: LatticeProblem) -> NodeSolution:
    """Find a good node.

    Top-down starts with every column at its highest level and refines, each time to the releasable neighbor of least
    loss, as long as the loss decreases. Bottom-up starts from the lowest levels and generalizes, each time the column
    that saves most rows from suppression per loss added, until the node may be released; then it refines where possible
    (similar to Sweeney, L. (2002). Datafly, https://doi.org/10.1142/S021848850200165X, which generalizes the column
    with most values instead). Both stop at a node that no single step improves; a better one may exist elsewhere.

    Raises:
        UnattainableError: No node on the path, not even the top, satisfies the models within the suppression limit.
    """
    walk = Walk(problem)
    best = walk.up() if problem.upwards else walk.down()
    if best is None:
        raise unattainable(problem)
    late = Message("note.greedy_late", seconds=problem.time_limit)
    remarks = (late if walk.ended else Message("note.greedy"),)
    return NodeSolution(best, False, walk.checked, problem.size, notes=remarks, cut_short=walk.ended)


class Walk:
    """A path through the lattice on which each node is evaluated once.

    Attributes:
        ended: Whether the search timed out.
    """

    def __init__(self, problem: LatticeProblem) -> None:
        self.problem = problem
        self.ended = False
        self._judgments = Judgments(problem)

    @property
    def checked(self) -> int:
        return len(self._judgments)

    def down(self, start: Node | None = None) -> NodeEvaluation | None:
        """Refine from a releasable node until no finer neighbor improves it; None if the start is not releasable."""
        best = self._judgments[start or self.problem.highest]
        if not best.satisfied:
            return None
        while True:
            next_best = self.problem.best([best, *self._neighbors(best.node, -1)])
            if next_best is None or next_best is best:
                return best
            best = next_best

    def up(self) -> NodeEvaluation | None:
        """Generalize from the lowest levels to a releasable node, then refine; None if no node on the path is."""
        here = self._judgments[self.problem.lowest]
        while not here.satisfied:
            coarser = list(self._neighbors(here.node, 1))
            if not coarser:
                return self.down() if self.ended else None
            here = max(coarser, key=lambda after: _worth(here, after))
        return self.down(here.node)

    def _neighbors(self, node: Node, step: int) -> Iterator[NodeEvaluation]:
        """Yield the neighbors of a node that are evaluated in time."""
        for neighbor in self.problem.neighbors(node, step):
            self.ended |= self.problem.deadline.over
            if self.ended:
                return
            yield self._judgments[neighbor]


def _worth(before: NodeEvaluation, after: NodeEvaluation) -> tuple[bool, float, float]:
    """Return whether a step reaches a releasable node, and the rows it saves per additional loss."""
    saved = before.suppressed_rows - after.suppressed_rows
    cost = max(after.loss_terms.generalization - before.loss_terms.generalization, 1e-12)
    return (after.satisfied, -after.loss if after.satisfied else saved / cost, -after.loss)


TIE = 1e-9
# Maximum number of open choices: beyond it, the search ends as if its time were over.
MAX_WAITING = 4_000_000


class Choice(Value):
    """Levels chosen for the first columns of the order.

    Columns are assigned levels one after the other. Columns without an assignment are taken at their highest levels:
    such a node is coarser than all nodes that the choice so far leaves open, so

    - if more rows than the suppression limit are certain to violate a model there, all of them are ruled out (the
      subset pruning of LeFevre, K. et al. (2005). Incognito, https://doi.org/10.1145/1066157.1066164);
    - they cost at least what suppression costs there;
    - the cost of the chosen levels, and of the lowest levels that pairs of columns leave to the others, bounds the rest
      of their loss from below.

    The choice with the smallest bound is expanded next (best first), so the smallest bound in the queue bounds every
    node not yet evaluated. When it exceeds the best solution found, that one is optimal. Otherwise, when the time is
    over, the best solution is returned together with the bound. Nothing is stored for nodes that were not reached.

    Attributes:
        levels: The levels of the columns in their order.
        least: For every column, the lowest level still possible.
        added: A lower bound of the loss of suppression.
        judgment: The evaluation of the node with all other columns at their highest levels; None if not evaluated.
    """

    levels: tuple[int, ...]
    least: Node
    added: float = 0.0
    judgment: NodeEvaluation | None = None


def search_best_first(problem: LatticeProblem) -> NodeSolution:
    """Find the best node, with a proof if the time suffices.

    Raises:
        UnattainableError: No node satisfies the models within the suppression limit.
    """
    walk = Walk(problem)
    best = walk.down()
    tree = _Tree(problem, best)
    tree.run()
    if tree.best is None:
        raise unattainable(problem)
    checked = tree.checked + walk.checked
    if tree.bound is None:
        return NodeSolution(tree.best, True, checked, problem.size)
    return cut_short(problem, tree.best, checked, tree.bound)


def cut_short(problem: LatticeProblem, best: NodeEvaluation, checked: int, least: float) -> NodeSolution:
    """Return the solution of a search that timed out, with a lower bound of the loss of any node."""
    bound = min(problem.loss.value(least), best.loss)
    remark = Message("note.best_first", nodes=problem.size, seconds=problem.time_limit, loss=best.loss, bound=bound)
    return NodeSolution(best, False, checked, problem.size, notes=(remark,), bound=bound, cut_short=True)


class _Tree:
    """The open choices, smallest bound first."""

    def __init__(self, problem: LatticeProblem, best: NodeEvaluation | None) -> None:
        self.problem = problem
        self.best = best
        self.checked = 0
        self.bound: float | None = None
        self._floors = _floors(problem)
        sizes = [ladder.size for ladder in problem.table.ladders]
        self._order = sorted(range(len(sizes)), key=lambda column: -sizes[column])
        self._pairs = _lowest_beside(problem)
        self._waiting: list[tuple[float, int, int, Choice]] = []
        self._number = count()

    def run(self) -> None:
        """Expand choices until none can be better than the best solution, or the time is over."""
        self._push(Choice((), self.problem.lowest))
        while self._waiting:
            bound, _, _, choice = heapq.heappop(self._waiting)
            if bound > self._most:
                return
            if self.problem.deadline.over or len(self._waiting) > MAX_WAITING:
                self.bound = bound
                return
            self._look(choice)

    @property
    def _most(self) -> float:
        """Return the largest bound that is still of interest."""
        if self.best is None or not self.problem.offers(self.best):
            return np.inf
        return self.best.loss_terms.total + TIE * max(1.0, self.best.loss_terms.total)

    def _push(self, choice: Choice) -> None:
        bound = self._bound(choice)
        if bound <= self._most:
            # Of equal bounds, the deeper choice comes first: it is nearer to a node.
            heapq.heappush(self._waiting, (bound, -len(choice.levels), next(self._number), choice))

    def _bound(self, choice: Choice) -> float:
        levels = list(choice.least)
        for column, level in zip(self._order, choice.levels, strict=False):
            levels[column] = level
        return float(sum(floor[level] for floor, level in zip(self._floors, levels, strict=True))) + choice.added

    def _look(self, choice: Choice) -> None:
        """Evaluate the coarsest node of a choice and, unless it excludes them, queue the levels of its next column."""
        judgment = choice.judgment or self._judge(choice)
        if judgment.certain_rows > self.problem.limit or len(choice.levels) == len(self._order):
            return
        column = self._order[len(choice.levels)]
        added = max(choice.added, judgment.certain_suppression)
        for level in range(choice.least[column], self.problem.highest[column] + 1):
            least = self._narrowed(choice, column, level)
            if least is not None:
                same = judgment if level == self.problem.highest[column] else None
                self._push(Choice((*choice.levels, level), least, added, same))

    def _judge(self, choice: Choice) -> NodeEvaluation:
        levels = list(self.problem.highest)
        for column, level in zip(self._order, choice.levels, strict=False):
            levels[column] = level
        judgment = self.problem.evaluate(tuple(levels), priced=False)
        self.checked += 1
        if self.problem.better(judgment, self.best):
            self.best = judgment
        return judgment

    def _narrowed(self, choice: Choice, column: int, level: int) -> Node | None:
        """Return the lowest possible levels once a column has its level; None if some column has none."""
        chosen = set(self._order[: len(choice.levels)])
        least = list(choice.least)
        for other in range(len(least)):
            if other != column and other not in chosen:
                least[other] = max(least[other], int(self._pairs[column][level, other]))
                if least[other] > self.problem.highest[other]:
                    return None
        return tuple(least)


def _floors(problem: LatticeProblem) -> list[Floats]:
    """Return for each column and level a lower bound of its contribution to the generalization part of the loss.

    The bounds of a lattice are sums over columns, known from one line of nodes along each column; or they are products,
    which increase more if other columns are coarser: their increase along these lines is a lower bound.
    """
    corner = tuple(slice(low, low + 1) for low in problem.lowest)
    base = float(problem.loss.floors(corner).reshape(-1)[0]) / len(corner)
    columns = []
    for column, (low, high) in enumerate(zip(problem.lowest, problem.highest, strict=True)):
        line = (*corner[:column], slice(low, high + 1), *corner[column + 1 :])
        values = problem.loss.floors(line).reshape(-1)
        columns.append(np.concatenate([np.zeros(low), values - values[0] + base]))
    return columns


def _lowest_beside(problem: LatticeProblem) -> list[Counts]:
    """Return for each level of each column the lowest level of each other column that the pair leaves possible.

    Rows that are rare in two columns are at least as rare in all (see pair_screening.py).
    """
    ladders = problem.table.ladders
    lowest = [np.zeros((ladder.height, len(ladders)), np.int64) for ladder in ladders]
    for one, two, rare in rare_pairs(problem):
        fits = rare <= problem.limit
        lowest[one][:, two] = _first(fits)
        lowest[two][:, one] = _first(fits.T)
    return lowest


def _first(fits: BoolArray) -> Counts:
    """Return for each row the index of its first True; the row length if there is none."""
    first: Counts = np.where(fits.any(axis=1), fits.argmax(axis=1), fits.shape[1])
    return first
