"""The nodes that a compiled search has evaluated, and the best of them."""

import math
from itertools import accumulate
from typing import Any

import numpy as np

from sfumato.microdata.counts.combinations import Words
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.losses.class_sizes import AverageClassSize, Discernibility
from sfumato.microdata.losses.loss import LossTerms
from sfumato.microdata.methods.full_domain.lattice import frontier_kernels as kernels
from sfumato.microdata.methods.full_domain.lattice.problem import ClassSizeSummary, LatticeProblem, NodeEvaluation
from sfumato.microdata.models.equivalence_classes import Counts

WORD_BITS = 63


class CheckedNodes:
    """The arrays that a compiled search fills for each node it evaluates.

    Attributes:
        places, bits: Position of each column's level in the word of a node, and its bits.
        records: The arrays that are written.
        state: Progress of the search (see `frontier_kernels`).
    """

    def __init__(self, problem: LatticeProblem, most: int) -> None:
        self.problem = problem
        self.places, self.bits = layout(problem)
        self.state = np.zeros(4, np.int64)
        self.records = kernels.Checked(
            np.zeros(most, np.uint64), np.zeros((8, most), np.int64), np.zeros((2, most), np.float64)
        )

    @property
    def many(self) -> int:
        """How many nodes were evaluated."""
        return int(self.state[kernels.CHECKED])

    @property
    def best(self) -> NodeEvaluation | None:
        """The node to be released; None if no node is releasable."""
        many = self.many
        parts = zip(*self.records.terms[:, :many].tolist(), self.records.figures[kernels.HOLDS, :many], strict=True)
        totals = [one + other if holds else math.inf for one, other, holds in parts]
        least = min(totals, default=math.inf)
        if not math.isfinite(least):
            return None
        most = least + kernels.TIE * max(1.0, least)
        ties = [self._judgment(place) for place, total in enumerate(totals) if total <= most]
        return min(ties, key=lambda judgment: judgment.rank)

    def _judgment(self, place: int) -> NodeEvaluation:
        lost, kept, smallest, largest, classes, least, most, holds = self.records.figures[:, place].tolist()
        terms = LossTerms(*self.records.terms[:, place].tolist())
        loss = self.problem.loss.value(terms.total)
        added = terms.suppression if self.problem.loss.suppression_falls else 0.0
        before, node = ClassSizeSummary(classes, least, most), self._node(self.records.levels[place])
        return NodeEvaluation(node, terms, loss, lost, lost, kept, smallest, largest, bool(holds), added, before)

    def _node(self, levels: Any) -> Node:
        word, fields = int(levels), zip(self.places.tolist(), self.bits.tolist(), strict=True)
        return tuple([word >> place & bits for place, bits in fields])

    def packed(self, node: Node) -> np.uint64:
        """The word of a node."""
        return np.uint64(sum(level << place for level, place in zip(node, self.places.tolist(), strict=True)))

    @property
    def guard(self) -> Words:
        """The free bits of a word."""
        ends = zip(self.places.tolist(), self.bits.tolist(), strict=True)
        return np.array([sum((bits + 1) << place for place, bits in ends)], np.uint64)


def suits(problem: LatticeProblem) -> bool:
    """Return whether models and loss depend on class sizes alone, and one word holds every node."""
    loss = problem.loss
    if not isinstance(loss, Marginal | Discernibility | AverageClassSize):
        return False
    if isinstance(loss, Discernibility) and loss.k != problem.k:
        return False
    return problem.sizes_alone and len(problem.table.counts) > 0 and sum(_widths(problem)) <= WORD_BITS


def params(problem: LatticeProblem) -> Counts:
    """Return the parameters of a problem for compiled searches."""
    loss = problem.loss
    kind = kernels.SQUARES if isinstance(loss, Discernibility) else kernels.AVERAGE
    if isinstance(loss, Marginal):
        kind = kernels.LOGS if loss.aggregate == "geometric" else kernels.SUMS
    return np.array([problem.k, problem.limit, problem.table.rows, kind], np.int64)


def _widths(problem: LatticeProblem) -> list[int]:
    """Return the bits of each column's level, with one that stays free."""
    return [max(high, 1).bit_length() + 1 for high in problem.highest]


def layout(problem: LatticeProblem) -> tuple[Words, Words]:
    """Return the position of each column's level in a word, and its bits."""
    widths = _widths(problem)
    places = [0, *accumulate(widths[:-1])]
    return np.array(places, np.uint64), np.array([(1 << (width - 1)) - 1 for width in widths], np.uint64)
