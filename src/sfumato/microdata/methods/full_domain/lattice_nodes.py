"""Nodes of the lattice: those that a compiled search has evaluated, and those that pairs of columns exclude."""

import math
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import accumulate, combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.microdata.counts import kernels as count_kernels
from sfumato.microdata.counts.combinations import Words
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.losses.class_sizes import AverageClassSize, Discernibility
from sfumato.microdata.losses.loss import LossTerms
from sfumato.microdata.methods.full_domain import frontier_kernels as kernels
from sfumato.microdata.methods.full_domain.problem import LatticeProblem
from sfumato.microdata.methods.search_result import ClassSizeSummary, NodeEvaluation
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts

if TYPE_CHECKING:
    from concurrent.futures import Executor


WORD_BITS = 63


class CheckedNodes:
    """The arrays that a compiled search fills for each node it evaluates.

    Attributes:
        places: The position of each column's level in the word of a node.
        bits: The number of bits of each column's level.
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
        """The number of evaluated nodes."""
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
        """Return the word of a node."""
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


MAX_PAIR_CELLS = 200_000
# Minimum number of combinations for which threads are worthwhile.
MANY = 200_000
# Number of pairs between two checks of the clock.
PAIRS_PER_CHECK = 8


def screened(problem: LatticeProblem) -> BoolArray:
    """Return which nodes no pair of columns excludes, one axis per column.

    Rows that are rare in two columns are at least as rare in all of them. If, at some levels of two columns, more rows
    than the suppression limit lie in pairs rarer than k, no node with these levels can be released, whatever the other
    columns do. (The idea of pruning by subsets: LeFevre, K. et al. (2005). Incognito,
    https://doi.org/10.1145/1066157.1066164.) The tables of pairs are tiny compared with the frequency table, and they
    exclude most of a lattice when little may be suppressed.
    """
    window = problem.window()
    alive = np.ones(problem.shape, bool)
    for first, second, rare in rare_pairs(problem):
        shape = [1] * alive.ndim
        seen = rare[window[first], window[second]]
        shape[first], shape[second] = seen.shape
        alive &= (seen <= problem.limit).reshape(shape)
    return alive


def rare_pairs(problem: LatticeProblem) -> Iterator[tuple[int, int, Counts]]:
    """Yield for each pair of columns the rows that are rare at each pair of their levels; large tables in parallel."""
    # Missing values that match anything make rows less rare than their count, so no nodes can be excluded.
    if problem.k <= 1 or problem.missing_matches:
        return
    ladders, table = problem.table.ladders, problem.table
    levels = [np.array(ladder.codes) for ladder in ladders]
    pairs = [
        (first, second)
        for first, second in combinations(range(len(ladders)), 2)
        if ladders[first].size * ladders[second].size <= MAX_PAIR_CELLS
    ]

    def rare(pair: tuple[int, int]) -> tuple[int, int, Counts]:
        first, second = pair
        rows = count_kernels.rare_rows(
            table.codes, table.counts, first, second, levels[first], levels[second], problem.k
        )
        return first, second, np.asarray(rows)

    with _pool() if len(table.counts) >= MANY else nullcontext() as pool:
        for begin in range(0, len(pairs), PAIRS_PER_CHECK):
            # Pairs not computed in time exclude no nodes.
            if problem.deadline.over:
                return
            yield from (pool.map if pool else map)(rare, pairs[begin : begin + PAIRS_PER_CHECK])


def _pool() -> "Executor":
    """Return threads for a large table; a small one does not need them."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor()
