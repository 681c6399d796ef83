"""The search for the optimal node as one compiled loop, for privacy models that depend on class sizes alone.

It follows `optimal.py` with all data in arrays and uses one further bound: a class that is kept at a coarser node
contains a class that is kept here, or k of the rows that are suppressed here.
"""

import numpy as np

from sfumato.microdata.counts.combinations import Words
from sfumato.microdata.counts.grouping import LEAST_IN_RUNS, hash_capacity
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.losses.class_sizes import AverageClassSize
from sfumato.microdata.losses.loss import summed_over_lattice
from sfumato.microdata.methods.full_domain.lattice import evaluated_nodes
from sfumato.microdata.methods.full_domain.lattice import frontier_kernels as kernels
from sfumato.microdata.methods.full_domain.lattice.evaluated_nodes import CheckedNodes, layout, params
from sfumato.microdata.methods.full_domain.lattice.pair_screening import screened
from sfumato.microdata.methods.full_domain.lattice.problem import LatticeProblem, NodeEvaluation
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
    """The nodes that may still be better than the best one found."""

    def __init__(self, problem: LatticeProblem) -> None:
        self.problem = problem
        self._open = self._nodes()
        self._checked = CheckedNodes(problem, len(self._open.levels) + 2)
        self._state = self._checked.state
        self._state[kernels.OPEN] = len(self._open.levels)
        most = np.full(1, np.inf)
        self._arrays = (self._open, *self._tables(), self._checked.records, params(problem), self._state, most)

    @staticmethod
    def suits(problem: LatticeProblem) -> bool:
        """Return whether a problem depends on class sizes alone and is small enough for this search."""
        return len(problem.table.counts) < LEAST_IN_RUNS and evaluated_nodes.suits(problem)

    def search(self) -> bool:
        """Evaluate nodes until none is open; return whether that was done in time."""
        problem, where = self.problem, self._where()
        # If any node is releasable, the coarsest one is.
        if self._state[kernels.OPEN]:
            kernels.look(*self._arrays, self._checked.packed(problem.highest))
        while self._state[kernels.OPEN] and not problem.deadline.over:
            kernels.advance(*self._arrays, where, BATCH)
        return not self._state[kernels.OPEN]

    def _where(self) -> float:
        problem, loss = self.problem, self.problem.loss
        if isinstance(loss, Marginal):
            fine, where = loss.suppression_is_free, WHERE
        else:
            fine, where = isinstance(loss, AverageClassSize), SIZES_WHERE
        return FREE_WHERE if fine and problem.limit > problem.table.rows // 10 else where

    @property
    def checked(self) -> int:
        """How many nodes were evaluated."""
        return self._checked.many

    @property
    def bound(self) -> float:
        """A lower bound of both parts of the loss over all open nodes."""
        many = self._state[kernels.OPEN]
        return float((self._open.floors + self._open.added)[:many].min(initial=np.inf))

    @property
    def best(self) -> NodeEvaluation | None:
        """The node to be released; None if no node is releasable."""
        return self._checked.best

    def _nodes(self) -> kernels.OpenNodes:
        """The nodes that no pair of columns excludes, by rank."""
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
        return kernels.OpenNodes(levels, ranks[order], floors, np.zeros(len(places)))

    def _ranks(self) -> Floats:
        """The position of each node between finest and coarsest: by its labels, and by its loss if it has one."""
        problem, window = self.problem, self.problem.window()
        labels = [np.log([len(texts) for texts in ladder.labels]) for ladder in problem.table.ladders]
        few = _from_0_to_1(-summed_over_lattice(labels, window))
        if not isinstance(problem.loss, Marginal):
            return few
        # If suppression costs nothing, nodes of less loss are tried first, whether they violate a model or not.
        counted = 0.0 if problem.loss.suppression_is_free else FEW_LABELS
        return _from_0_to_1(problem.loss.floors(window)) + counted * few

    def _tables(self) -> tuple[kernels.Tables, kernels.PackedColumns, kernels.LevelLosses, kernels.FrontierBuffers]:
        grouper, table = self.problem.grouper, self.problem.table
        rows, words = len(table.counts), grouper.packing.words
        most = min(MAX_KEPT_CLASSES, rows * (self._state[kernels.OPEN] + 16))
        many = 8 * int(self._state[kernels.OPEN]) + 64
        tables = kernels.Tables(
            np.zeros(many, np.uint64),
            np.zeros(many, np.int64),
            np.empty((words, most), np.uint64),
            np.empty(most, np.int64),
        )
        tables.keys[:, :rows], tables.counts[:rows], tables.ends[0] = grouper.base.keys, table.counts, rows
        self._state[kernels.TABLES] = 1
        room = kernels.FrontierBuffers(
            np.zeros(hash_capacity(rows), np.int64),
            np.empty((words, rows), np.uint64),
            np.empty((words, rows), np.uint64),
            np.empty(rows, np.int64),
            np.empty(rows, np.int32),
            np.zeros(len(table.columns), np.int16),
            np.zeros(len(table.columns), np.int16),
        )
        return tables, self._columns(), self._prices(), room

    def _columns(self) -> kernels.PackedColumns:
        grouper, problem, checked = self.problem.grouper, self.problem, self._checked
        for column, (low, high) in enumerate(zip(problem.lowest, problem.highest, strict=True)):
            levels = sorted({0, *range(low, high + 1)})
            for one in levels:
                for other in levels[levels.index(one) + 1 :]:
                    grouper.steps.step(column, one, other)
        packing, sizes = grouper.packing, [ladder.size for ladder in problem.table.ladders]
        widest: Counts = np.array(sorted(range(len(sizes)), key=lambda column: -sizes[column]), np.int64)
        return kernels.PackedColumns(
            packing.word, packing.shift, packing.mask, checked.places, checked.bits, checked.guard, widest,
            grouper.steps.labels, grouper.steps.begins,
        )  # fmt: skip

    def _prices(self) -> kernels.LevelLosses:
        loss = self.problem.loss
        if not isinstance(loss, Marginal):
            none = np.zeros((1, 1))
            return kernels.LevelLosses(none, none[0], none[0], np.zeros((1, 1), np.int64), none)
        means = np.zeros((len(loss.generalization), max(map(len, loss.generalization))))
        for column, levels in enumerate(loss.generalization):
            means[column, : len(levels)] = levels
        charges = loss.charges()
        return kernels.LevelLosses(means, loss.shares, charges.values, charges.offsets, charges.constant)


def _from_0_to_1(values: Floats) -> Floats:
    """Rescale values to 0..1."""
    shares: Floats = (values - values.min()) / (np.ptp(values) or 1.0)
    return shares
