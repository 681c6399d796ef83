"""The search if no row may be suppressed: rare combinations exclude many nodes without grouping.

A node then violates k-anonymity if one class is too small. Instead of searching such a class node by node, a
combination that was once in one is compared with all others. The levels at which it coincides with each of them give
its class size at every node, and all nodes at which it is too small are excluded together, in one pass over a table of
classes and cumulative sums along each column (rare_combination_kernels.py). The bounds are those of `optimal.py`.
"""

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.combinations import fits_a_word
from sfumato.microdata.counts.grouping import Node, hash_capacity
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.methods.full_domain.lattice import evaluated_nodes, row_grouping_kernels
from sfumato.microdata.methods.full_domain.lattice import rare_combination_kernels as kernels
from sfumato.microdata.methods.full_domain.lattice.evaluated_nodes import CheckedNodes
from sfumato.microdata.methods.full_domain.lattice.frontier_kernels import OPEN
from sfumato.microdata.methods.full_domain.lattice.problem import LatticeProblem, NodeEvaluation
from sfumato.microdata.models.equivalence_classes import Counts, Floats

# Position of the next node in the open part of the lattice.
WHERE = 0.5
# Number of nodes between two checks of the clock.
BATCH = 64
# Class sizes are stored in half a word.
MAX_ROWS = (1 << 31) - 1


class RareCombinationSearch:
    """The nodes at which no known combination is too rare."""

    def __init__(self, problem: LatticeProblem) -> None:
        self.problem = problem
        self._layout = evaluated_nodes.layout(problem)
        self._columns = self._ladders()
        scores = np.zeros(self._columns.firsts[-1])
        self._lowest = self._raised(scores)
        self._columns = columns = self._lattice()
        nodes = self._nodes()
        self._floors = nodes.floors
        self._checked = CheckedNodes(problem, len(nodes.levels) + 1)
        self._checked.state[OPEN] = len(nodes.levels)
        room, table = self._room(len(nodes.levels), scores), self._combinations()
        state = self._checked.state
        if len(nodes.levels):
            row_grouping_kernels.start(problem.table.counts, columns, table, room, state)
        most = np.full(1, np.inf)
        params = evaluated_nodes.params(problem)
        self._arrays = (nodes, columns, table, room, self._checked.records, params, state, most)

    @staticmethod
    def suits(problem: LatticeProblem) -> bool:
        """Return whether nothing may be suppressed, models depend on class sizes, and a word holds a combination."""
        if problem.limit or problem.table.rows > MAX_ROWS:
            return False
        return evaluated_nodes.suits(problem) and fits_a_word([ladder.size for ladder in problem.table.ladders])

    def search(self) -> bool:
        """Evaluate nodes until none is open; return whether that was done in time."""
        while self._checked.state[OPEN] and not self.problem.deadline.over:
            kernels.advance(*self._arrays, WHERE, BATCH)
        done = not self._checked.state[OPEN]
        if not done and self.best is None:
            # If any node is releasable, the coarsest one is.
            kernels.look(*self._arrays)
        return done

    @property
    def checked(self) -> int:
        """How many nodes were evaluated."""
        return self._checked.many

    @property
    def best(self) -> NodeEvaluation | None:
        """The node to be released; None if no node is releasable."""
        return self._checked.best

    @property
    def bound(self) -> float:
        """A lower bound of the loss over all open nodes."""
        return float(self._floors[: self._checked.state[OPEN]].min(initial=np.inf))

    def _ladders(self) -> row_grouping_kernels.ColumnLevels:
        """The labels of each column's values at the allowed levels."""
        problem, ladders = self.problem, self.problem.table.ladders
        begins, widths, end, levels = [], [], 0, max(problem.highest) + 1
        parts: list[npt.NDArray[np.int32]] = []
        for ladder, low, high in zip(ladders, problem.lowest, problem.highest, strict=True):
            used, below, above = ladder.labels[low : high + 1], [0] * low, [0] * (levels - high - 1)
            begins.append([*below, *range(end, end + len(used) * ladder.size, ladder.size), *above])
            widths.append([*below, *map(len, used), *above])
            parts.extend(ladder.codes[low : high + 1])
            end += len(used) * ladder.size
        firsts: Counts = np.array([0, *accumulate(ladder.size for ladder in ladders)], np.int64)
        places, bits = self._layout
        none: Counts = np.zeros(len(ladders), np.int64)
        return row_grouping_kernels.ColumnLevels(
            np.concatenate(parts, dtype=np.int32), np.array(begins, np.int64), np.array(widths, np.int64), firsts,
            np.array(problem.lowest, np.int64), np.array(problem.highest, np.int64), none, none, none, places, bits,
            np.array([((bits + np.uint64(1)) << places).sum()], np.uint64),
        )  # fmt: skip

    def _raised(self, scores: Floats) -> Node:
        """Return the lowest levels at which no column has a rare label by itself."""
        problem = self.problem
        rows = np.concatenate([problem.table.marginal(column) for column in range(len(problem.lowest))])
        lowest: Counts = np.array(problem.lowest, np.int64)
        kernels.lowest_levels(self._columns, rows, problem.k, lowest, scores)
        return tuple(lowest.tolist())

    def _lattice(self) -> row_grouping_kernels.ColumnLevels:
        """Return the same with the lattice from the lowest levels up, where levels of one side change fastest."""
        lengths = [high - low + 1 for low, high in zip(self._lowest, self.problem.highest, strict=True)]
        sides, ends = self._sides()
        strides, stride = [0] * len(lengths), 1
        for column in reversed(sides):
            strides[column] = stride
            stride *= lengths[column]
        return self._columns._replace(
            lowest=np.array(self._lowest, np.int64),
            strides=np.array(strides, np.int64),
            sides=np.array(sides, np.int64),
            ends=ends,
        )

    def _sides(self) -> tuple[list[int], Counts]:
        """Return the columns ordered by side, and where both sides end: they have about equally many combinations."""
        sizes = np.diff(self._columns.firsts).tolist()
        sides: tuple[list[int], list[int]] = ([], [])
        products = [1, 1]
        for column in sorted(range(len(sizes)), key=lambda column: -sizes[column]):
            side = int(products[1] < products[0])
            sides[side].append(column)
            products[side] *= sizes[column]
        return [*sides[0], *sides[1]], np.array([len(sides[0]), len(sizes)], np.int64)

    def _nodes(self) -> kernels.Nodes:
        """Return the nodes from the lowest levels up."""
        loss = self.problem.loss
        window = tuple(slice(low, high + 1) for low, high in zip(self._lowest, self.problem.highest, strict=True))
        if any(levels.start >= levels.stop for levels in window):
            window = (slice(0, 0),) * len(window)
        floors = np.ascontiguousarray(loss.floors(window).reshape(-1))
        ranks = floors.copy() if isinstance(loss, Marginal) else loss.ranks(window).reshape(-1)
        levels, places = np.empty(len(floors), np.uint64), np.empty(len(floors), np.int64)
        if len(floors):
            kernels.lay_nodes(self._columns, levels, places)
        return kernels.Nodes(levels, places, np.ascontiguousarray(ranks), floors)

    def _combinations(self) -> row_grouping_kernels.Combinations:
        codes, rows = self.problem.table.codes, len(self.problem.table.counts)
        counts, raw, seconds = (np.empty(rows, np.int32) for _ in range(3))
        begins, values = np.empty(rows + 1, np.int32), np.empty((codes.shape[1], rows), np.int32)
        return row_grouping_kernels.Combinations(codes, counts, raw, seconds, begins, values, np.zeros(3, np.int64))

    def _room(self, nodes: int, scores: Floats) -> row_grouping_kernels.RareCombinationBuffers:
        rows = len(self.problem.table.counts)
        return row_grouping_kernels.RareCombinationBuffers(
            np.zeros(hash_capacity(rows), np.int64),
            np.empty(rows, np.uint64),
            np.empty(rows, np.uint64),
            np.zeros(rows, np.int64),
            np.empty(rows, np.int32),
            np.empty(rows, np.int32),
            np.empty((2, rows), np.int32),
            np.empty(rows, np.int32),
            np.empty(rows, np.int32),
            np.empty(len(scores), np.uint64),
            scores,
            np.zeros(len(scores), np.int64),
            np.zeros(nodes, np.int32),
        )
