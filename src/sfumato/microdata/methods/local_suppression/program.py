"""Integer program of local suppression: exact for small tables.

For each group of rows that are identical under a pattern, variables state whether it is used and how many rows of each
combination it takes; at least k if it is used. A group whose rows all agree in a column that its pattern suppresses is
left out: the pattern without that column costs less and takes the same rows.
"""

from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import missing_extra
from sfumato.microdata.methods.local_suppression.heuristic import Assignment
from sfumato.microdata.methods.local_suppression.patterns import UNFIT, Patterns
from sfumato.microdata.models.equivalence_classes import Counts, Floats

# Larger programs take too long.
MOST_TAKEN = 40_000


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups that may be used, as parallel arrays: group, combination that fits, and cost of a row of it."""

    owners: Counts
    combinations: Counts
    patterns: Counts
    costs: Floats
    number: int


def groups_of(patterns: Patterns, k: int) -> Groups | None:
    """Return the groups of k rows that no cheaper group replaces; None if there are too many."""
    parts: list[tuple[Any, ...]] = []
    number, taken = 0, 0
    for place in range(len(patterns.masks)):
        owners, combinations = _of_pattern(patterns, place, k)
        taken += len(owners)
        if taken > MOST_TAKEN:
            return None
        costs = patterns.costs[place, combinations]
        parts.append((owners + number, combinations, np.full(len(owners), place), costs))
        number += int(owners.max(initial=-1)) + 1
    owners, combinations, places, costs = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Groups(owners, combinations, places, costs, number)


def _of_pattern(patterns: Patterns, place: int, k: int) -> tuple[Counts, Counts]:
    """The groups of a pattern, renumbered, and their combinations."""
    cells, groups = patterns.cells, patterns.groups[place]
    rows = patterns.sizes[place]
    useful = rows >= k
    for column in np.flatnonzero(patterns.masks[place]).tolist():
        codes = np.where(cells.missing[:, column], -1, cells.codes[:, column])
        low, high = np.full(len(rows), np.iinfo(np.int32).max), np.full(len(rows), -1)
        fits = groups != UNFIT
        np.minimum.at(low, groups[fits], codes[fits])
        np.maximum.at(high, groups[fits], codes[fits])
        useful &= ~((low == high) & (low >= 0))
    numbers = np.where(useful, np.cumsum(useful) - 1, UNFIT)
    owners = np.where(groups == UNFIT, UNFIT, numbers[groups])
    combinations = np.flatnonzero(owners != UNFIT)
    return owners[combinations].astype(np.int64), combinations


def solve(patterns: Patterns, k: int, start: Assignment, seconds: float) -> Assignment:
    """Return the assignment of least cost, or the best one found in time with its proven bound."""
    groups = groups_of(patterns, k)
    if groups is None or start.proved or seconds <= 0:
        return start
    highs = _program(patterns.cells.counts, groups, k, seconds, start.cost)
    highs.run()
    info = highs.getInfo()
    bound = max(start.bound, min(_rounded(patterns, info.mip_dual_bound), start.cost))
    values = np.array(highs.getSolution().col_value)[: len(groups.owners)].round().astype(np.int64)
    takes = np.flatnonzero(values > 0)
    cost = float((groups.costs[takes] * values[takes]).sum())
    rows = np.bincount(groups.combinations[takes], weights=values[takes], minlength=len(patterns.cells.counts))
    if cost >= start.cost or not (rows == patterns.cells.counts).all():
        return Assignment(start.combinations, start.patterns, start.rows, start.cost, bound)
    return Assignment(groups.combinations[takes], groups.patterns[takes], values[takes], cost, bound)


def _rounded(patterns: Patterns, bound: float) -> float:
    """Return a bound, rounded up if all costs are integers."""
    prices = patterns.cells.prices[np.isfinite(patterns.cells.prices)]
    return float(np.ceil(bound - 1e-6)) if (prices == np.round(prices)).all() and np.isfinite(bound) else bound


def _program(counts: Counts, groups: Groups, k: int, seconds: float, limit: float) -> Any:
    """Solve the program with HiGHS: rows taken from combinations by groups, then whether each group is used."""
    try:
        import highspy
    except ImportError:
        raise missing_extra("highspy", "tables") from None
    highs = highspy.Highs()
    options = {"output_flag": False, "threads": 1, "time_limit": seconds, "objective_bound": limit + 1e-6}
    for option, value in {**options, "mip_abs_gap": 1e-6, "mip_rel_gap": 0.0}.items():
        highs.setOptionValue(option, value)
    taken, model = len(groups.owners), highspy.HighsLp()
    most = counts[groups.combinations].astype(float)
    columns = np.arange(taken)
    # Constraints: each combination is assigned completely; each used group has k rows; only used groups have rows.
    used = taken + groups.owners
    fill = len(counts) + np.arange(groups.number)
    only = len(counts) + groups.number + columns
    entries = [
        (groups.combinations, columns, np.ones(taken)),
        (len(counts) + groups.owners, columns, np.ones(taken)),
        (fill, taken + np.arange(groups.number), np.full(groups.number, -float(k))),
        (only, columns, np.ones(taken)),
        (only, used, -most),
    ]
    rows, places, values = (np.concatenate(part) for part in zip(*entries, strict=True))
    order = np.lexsort((rows, places))
    model.num_col_, model.num_row_ = taken + groups.number, len(counts) + groups.number + taken
    model.col_cost_ = np.concatenate([groups.costs, np.zeros(groups.number)])
    model.col_lower_ = np.zeros(model.num_col_)
    model.col_upper_ = np.concatenate([most, np.ones(groups.number)])
    model.row_lower_ = np.concatenate([counts, np.zeros(groups.number), np.full(taken, -np.inf)]).astype(float)
    model.row_upper_ = np.concatenate([counts, np.full(groups.number, np.inf), np.zeros(taken)]).astype(float)
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.searchsorted(places[order], np.arange(model.num_col_ + 1)).astype(np.int32)
    model.a_matrix_.index_, model.a_matrix_.value_ = rows[order].astype(np.int32), values[order]
    model.integrality_ = [highspy.HighsVarType.kInteger] * model.num_col_
    highs.passModel(model)
    return highs
