"""Compiled searches for the optimal node, for models of class sizes alone: with and without suppression."""

from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.combinations import Words, fits_a_word
from sfumato.microdata.counts.grouping import LEAST_IN_RUNS, Node, hash_capacity
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.losses.class_sizes import AverageClassSize
from sfumato.microdata.losses.loss import summed_over_lattice
from sfumato.microdata.methods.full_domain import frontier_kernels, rare_combination_kernels, row_grouping_kernels
from sfumato.microdata.methods.full_domain.frontier_kernels import OPEN
from sfumato.microdata.methods.full_domain.lattice_nodes import CheckedNodes, layout, params, screened, suits
from sfumato.microdata.methods.full_domain.problem import LatticeProblem
from sfumato.microdata.methods.search_result import NodeEvaluation
from sfumato.microdata.models.equivalence_classes import Counts, Floats

# Position of the next node in the open part of the lattice: a coarse node is cheap to group and excludes many nodes
# below it. If much may be suppressed, and either the number of classes bounds coarser nodes alone or suppression costs
# nothing, fine nodes are better.
WHERE = 0.9
SIZES_WHERE = 0.7
FREE_WHERE = 0.2
# Weight of the number of labels relative to the loss: whether a node violates a model depends on its labels.
FEW_LABELS = 0.3
# Number of nodes between two checks of the clock.
BATCH = 64
# Maximum number of classes that are cached for coarser nodes.
MAX_KEPT_CLASSES = 8_000_000


class Frontier:
    """The nodes that may still be better than the best one found.

    It follows `optimal.py` with all data in arrays and uses one further bound: a class that is kept at a coarser node
    contains a class that is kept here, or k of the rows that are suppressed here.
    """

    def __init__(self, problem: LatticeProblem) -> None:
        self.problem = problem
        self._open = self._nodes()
        self._checked = CheckedNodes(problem, len(self._open.levels) + 2)
        self._state = self._checked.state
        self._state[frontier_kernels.OPEN] = len(self._open.levels)
        most = np.full(1, np.inf)
        self._arrays = (self._open, *self._tables(), self._checked.records, params(problem), self._state, most)

    @staticmethod
    def suits(problem: LatticeProblem) -> bool:
        """Return whether a problem depends on class sizes alone and is small enough for this search."""
        return len(problem.table.counts) < LEAST_IN_RUNS and suits(problem)

    def search(self) -> bool:
        """Evaluate nodes until none is open; return whether that was done in time."""
        problem, where = self.problem, self._where()
        # If any node is releasable, the coarsest one is.
        if self._state[frontier_kernels.OPEN]:
            frontier_kernels.look(*self._arrays, self._checked.packed(problem.highest))
        while self._state[frontier_kernels.OPEN] and not problem.deadline.over:
            frontier_kernels.advance(*self._arrays, where, BATCH)
        return not self._state[frontier_kernels.OPEN]

    def _where(self) -> float:
        problem, loss = self.problem, self.problem.loss
        if isinstance(loss, Marginal):
            fine, where = loss.suppression_is_free, WHERE
        else:
            fine, where = isinstance(loss, AverageClassSize), SIZES_WHERE
        return FREE_WHERE if fine and problem.limit > problem.table.rows // 10 else where

    @property
    def checked(self) -> int:
        """The number of evaluated nodes."""
        return self._checked.many

    @property
    def bound(self) -> float:
        """A lower bound of both parts of the loss over all open nodes."""
        many = self._state[frontier_kernels.OPEN]
        return float((self._open.floors + self._open.added)[:many].min(initial=np.inf))

    @property
    def best(self) -> NodeEvaluation | None:
        """The node to be released; None if no node is releasable."""
        return self._checked.best

    def _nodes(self) -> frontier_kernels.OpenNodes:
        """Return the nodes that no pair of columns excludes, by rank."""
        problem = self.problem
        window, (places_in_word, _) = problem.window(), layout(problem)
        free = problem.limit >= problem.table.rows
        places = np.arange(problem.size) if free else np.flatnonzero(screened(problem).reshape(-1))
        ranks = self._ranks().reshape(-1)[places]
        order = np.argsort(ranks, kind="stable")
        places = places[order]
        levels: Words = np.zeros(len(places), np.uint64)
        for column, level in enumerate(np.unravel_index(places, problem.shape)):
            levels |= (level + problem.lowest[column]).astype(np.uint64) << places_in_word[column]
        floors = problem.loss.floors(window).reshape(-1)[places]
        return frontier_kernels.OpenNodes(levels, ranks[order], floors, np.zeros(len(places)))

    def _ranks(self) -> Floats:
        """Return each node's position between finest and coarsest, by its labels and by its loss if it has one."""
        problem, window = self.problem, self.problem.window()
        labels = [np.log([len(texts) for texts in ladder.labels]) for ladder in problem.table.ladders]
        few = _from_0_to_1(-summed_over_lattice(labels, window))
        if not isinstance(problem.loss, Marginal):
            return few
        # If suppression costs nothing, nodes of less loss are tried first, whether they violate a model or not.
        counted = 0.0 if problem.loss.suppression_is_free else FEW_LABELS
        return _from_0_to_1(problem.loss.floors(window)) + counted * few

    def _tables(
        self,
    ) -> tuple[
        frontier_kernels.Tables,
        frontier_kernels.PackedColumns,
        frontier_kernels.LevelLosses,
        frontier_kernels.FrontierBuffers,
    ]:
        grouper, table = self.problem.grouper, self.problem.table
        rows, words = len(table.counts), grouper.packing.words
        most = min(MAX_KEPT_CLASSES, rows * (self._state[frontier_kernels.OPEN] + 16))
        many = 8 * int(self._state[frontier_kernels.OPEN]) + 64
        tables = frontier_kernels.Tables(
            np.zeros(many, np.uint64),
            np.zeros(many, np.int64),
            np.empty((words, most), np.uint64),
            np.empty(most, np.int64),
        )
        tables.keys[:, :rows], tables.counts[:rows], tables.ends[0] = grouper.base.keys, table.counts, rows
        self._state[frontier_kernels.TABLES] = 1
        room = frontier_kernels.FrontierBuffers(
            np.zeros(hash_capacity(rows), np.int64),
            np.empty((words, rows), np.uint64),
            np.empty((words, rows), np.uint64),
            np.empty(rows, np.int64),
            np.empty(rows, np.int32),
            np.zeros(len(table.columns), np.int16),
            np.zeros(len(table.columns), np.int16),
        )
        return tables, self._columns(), self._prices(), room

    def _columns(self) -> frontier_kernels.PackedColumns:
        grouper, problem, checked = self.problem.grouper, self.problem, self._checked
        for column, (low, high) in enumerate(zip(problem.lowest, problem.highest, strict=True)):
            levels = sorted({0, *range(low, high + 1)})
            for one in levels:
                for other in levels[levels.index(one) + 1 :]:
                    grouper.steps.step(column, one, other)
        packing, sizes = grouper.packing, [ladder.size for ladder in problem.table.ladders]
        widest: Counts = np.array(sorted(range(len(sizes)), key=lambda column: -sizes[column]), np.int64)
        return frontier_kernels.PackedColumns(
            packing.word, packing.shift, packing.mask, checked.places, checked.bits, checked.guard, widest,
            grouper.steps.labels, grouper.steps.begins,
        )  # fmt: skip

    def _prices(self) -> frontier_kernels.LevelLosses:
        loss = self.problem.loss
        if not isinstance(loss, Marginal):
            none = np.zeros((1, 1))
            return frontier_kernels.LevelLosses(none, none[0], none[0], np.zeros((1, 1), np.int64), none)
        means = np.zeros((len(loss.generalization), max(map(len, loss.generalization))))
        for column, levels in enumerate(loss.generalization):
            means[column, : len(levels)] = levels
        charges = loss.charges()
        return frontier_kernels.LevelLosses(means, loss.shares, charges.values, charges.offsets, charges.constant)


def _from_0_to_1(values: Floats) -> Floats:
    """Rescale values to 0..1."""
    shares: Floats = (values - values.min()) / (np.ptp(values) or 1.0)
    return shares


# Position of the next node in the open part of the lattice.
RARE_WHERE = 0.5
# Number of nodes between two checks of the clock.
NODES_PER_CHECK = 64
# Class sizes are stored in half a word.
MAX_ROWS = (1 << 31) - 1


class RareCombinationSearch:
    """The nodes at which no known combination is too rare.

    A node then violates k-anonymity if one class is too small. Instead of searching such a class node by node, a
    combination that was once in one is compared with all others. The levels at which it coincides with each of them
    give its class size at every node, and all nodes at which it is too small are excluded together, in one pass over a
    table of classes and cumulative sums along each column (rare_combination_kernels.py). The bounds are those of
    `optimal.py`.
    """

    def __init__(self, problem: LatticeProblem) -> None:
        self.problem = problem
        self._layout = layout(problem)
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
        numbers = params(problem)
        self._arrays = (nodes, columns, table, room, self._checked.records, numbers, state, most)

    @staticmethod
    def suits(problem: LatticeProblem) -> bool:
        """Return whether no row may be suppressed, models depend on class sizes, and a word holds a combination."""
        if problem.limit or problem.table.rows > MAX_ROWS:
            return False
        return suits(problem) and fits_a_word([ladder.size for ladder in problem.table.ladders])

    def search(self) -> bool:
        """Evaluate nodes until none is open; return whether that was done in time."""
        while self._checked.state[OPEN] and not self.problem.deadline.over:
            rare_combination_kernels.advance(*self._arrays, RARE_WHERE, NODES_PER_CHECK)
        done = not self._checked.state[OPEN]
        if not done and self.best is None:
            # If any node is releasable, the coarsest one is.
            rare_combination_kernels.look(*self._arrays)
        return done

    @property
    def checked(self) -> int:
        """The number of evaluated nodes."""
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
        """Return the labels of each column's values at the allowed levels."""
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
        rare_combination_kernels.lowest_levels(self._columns, rows, problem.k, lowest, scores)
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

    def _nodes(self) -> rare_combination_kernels.Nodes:
        """Return the nodes from the lowest levels up."""
        loss = self.problem.loss
        window = tuple(slice(low, high + 1) for low, high in zip(self._lowest, self.problem.highest, strict=True))
        if any(levels.start >= levels.stop for levels in window):
            window = (slice(0, 0),) * len(window)
        floors = np.ascontiguousarray(loss.floors(window).reshape(-1))
        ranks = floors.copy() if isinstance(loss, Marginal) else loss.ranks(window).reshape(-1)
        levels, places = np.empty(len(floors), np.uint64), np.empty(len(floors), np.int64)
        if len(floors):
            rare_combination_kernels.lay_nodes(self._columns, levels, places)
        return rare_combination_kernels.Nodes(levels, places, np.ascontiguousarray(ranks), floors)

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
