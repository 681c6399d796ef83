"""Screening: nodes that two columns alone already make unattainable.

Rows that are rare in two columns are at least as rare in all of them. So when, at some levels of two columns, more rows
than the budget lie in pairs rarer than k, no node with these levels can be released, whatever the other columns do.
(The idea of pruning by subsets: LeFevre, K. et al. (2005). Incognito, https://doi.org/10.1145/1066157.1066164.)
The tables of pairs are tiny beside the frequency table, and they cut most of a lattice when little may be suppressed.
"""

from itertools import combinations, product

import numpy as np

from sfumato.microdata import kernels
from sfumato.microdata.classes import Counts, Mask
from sfumato.microdata.methods.problem import Problem

MAX_PAIR_CELLS = 200_000


def screened(problem: Problem) -> Mask:
    """Which nodes two columns do not rule out, one axis a column."""
    alive = np.ones([ladder.height for ladder in problem.table.ladders], bool)
    # A missing value that matches anything makes rows less rare than their count: nothing can be ruled out.
    if problem.k > 1 and not problem.missing_matches:
        for first, second in combinations(range(alive.ndim), 2):
            sizes = [problem.table.ladders[column].size for column in (first, second)]
            if sizes[0] * sizes[1] <= MAX_PAIR_CELLS:
                _rule_out(problem, alive, first, second)
    return alive[problem.window()]


def _rule_out(problem: Problem, alive: Mask, first: int, second: int) -> None:
    one, two = problem.table.ladders[first], problem.table.ladders[second]
    pairs: Counts = np.zeros(one.size * two.size, np.int64)
    kernels.pair_tables(problem.table.codes, problem.table.counts, first, second, one.size, two.size, pairs)
    scratch = np.empty_like(pairs)
    where: list[slice | int] = [slice(None)] * alive.ndim
    for low, high in product(range(one.height), range(two.height)):
        rare = kernels.rows_below(
            pairs, one.codes[low], two.codes[high], len(one.labels[low]), len(two.labels[high]), scratch, problem.k
        )
        if rare > problem.limit:
            where[first], where[second] = low, high
            alive[tuple(where)] = False
