"""Screening by pairs: exclude nodes that already violate the suppression limit by two columns alone.

Rows that are rare in two columns are at least as rare in all of them. If, at some levels of two columns, more rows than
the suppression limit lie in pairs rarer than k, no node with these levels can be released, whatever the other columns
do. (The idea of pruning by subsets: LeFevre, K. et al. (2005). Incognito, https://doi.org/10.1145/1066157.1066164.) The
tables of pairs are tiny compared with the frequency table, and they exclude most of a lattice when little may be
suppressed.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sfumato.microdata.counts import kernels
from sfumato.microdata.methods.full_domain.lattice.problem import LatticeProblem
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts

if TYPE_CHECKING:
    from concurrent.futures import Executor

MAX_PAIR_CELLS = 200_000
# Minimum number of combinations for which threads are worthwhile.
MANY = 200_000
# Number of pairs between two checks of the clock.
BATCH = 8


def screened(problem: LatticeProblem) -> BoolArray:
    """Return which nodes no pair of columns excludes, one axis per column."""
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
    # Missing values that match anything make rows less rare than their count, so nothing can be excluded.
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
        rows = kernels.rare_rows(table.codes, table.counts, first, second, levels[first], levels[second], problem.k)
        return first, second, np.asarray(rows)

    with _pool() if len(table.counts) >= MANY else nullcontext() as pool:
        for begin in range(0, len(pairs), BATCH):
            # Pairs not computed in time exclude nothing.
            if problem.deadline.over:
                return
            yield from (pool.map if pool else map)(rare, pairs[begin : begin + BATCH])


def _pool() -> "Executor":
    """Return threads for a large table; a small one does not need them."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor()
