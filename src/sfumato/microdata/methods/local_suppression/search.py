"""Local suppression: suppress single values so that every published row is equal to at least k - 1 others.

Samarati, P., Sweeney, L. (1998). Protecting privacy when disclosing information; Meyerson, A., Williams, R. (2004). On
the complexity of optimal k-anonymity, https://doi.org/10.1145/1055558.1055591. A suppressed value counts as a value of
its own, in the search and in the recount. If it counted as a wildcard, k - 1 fully suppressed rows would satisfy
k-anonymity for any table.

Small tables are solved to proven optimality by an integer program, others by a heuristic with a lower bound of the
loss. k may also be requested for all sets of some number of columns: values are then suppressed for one set after the
other until every set has its k. Risk models are satisfied by merging classes (merging.py).
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import UnattainableError, missing_extra
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.class_labels import recode_classes
from sfumato.microdata.methods.local_suppression.heuristic import (
    UNFIT,
    Assignment,
    Patterns,
    SuppressibleCells,
    assign,
    patterns_of,
)
from sfumato.microdata.methods.local_suppression.merging import Merging, RiskPromises
from sfumato.microdata.methods.search_result import Deadline, ProgressCallback, Result
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.microdata.models.k_anonymity import least_sizes
from sfumato.microdata.models.model import requested_class_size
from sfumato.microdata.plan.methods import LocalSuppression
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import ClassRecoding, Division, division_of
from sfumato.values import Value, replace

# Larger programs take too long.
MOST_TAKEN = 40_000
NEVER = "never"
# For more combinations, only one starting point is tried with risk models.
MOST_TRIED = 3_000


def search(
    plan: Plan, method: LocalSuppression, table: FrequencyTable, progress: ProgressCallback | None = None
) -> Result:
    """Find the values to be suppressed.

    Raises:
        UnattainableError: No allowed choice of values puts every row into a large enough class.
    """
    tell = progress or (lambda _done, _all: None)
    deadline = Deadline(method.time_limit)
    cells = cells_of(plan, table)
    k = requested_class_size(plan.privacy, 1)
    if k > cells.rows:
        raise UnattainableError("rows.k_needs_at_least", k=k, rows=cells.rows)
    rows, proved, bound = _hidden(cells, _risk_promises(plan, table, k), dict(least_sizes(plan.privacy)), deadline)
    tell(1, 1)
    return _result(plan, table, cells, rows, proved, bound)


def cells_of(plan: Plan, table: FrequencyTable) -> SuppressibleCells:
    """Return the values of a table with the suppression costs from the plan."""
    absent = np.array([ladder.places.get(None, -1) for ladder in table.ladders], np.int32)
    importance = [plan.columns[name].importance for name in table.columns]
    prices = np.array([np.inf if value == NEVER else float(value) for value in importance])
    return SuppressibleCells(table.codes, table.counts, table.codes == absent[None, :], prices)


class HiddenRows(Value):
    """Suppressed values of rows: a combination, which columns, and how many of its rows."""

    combinations: Counts
    hidden: BoolArray
    rows: Counts


def _risk_promises(plan: Plan, table: FrequencyTable, k: int) -> RiskPromises:
    """Return the requirements on classes: k rows, and risks."""
    models: list[Any] = [model for model in plan.privacy if model.judges != "sizes"]
    return RiskPromises(k, models, None if table.sample is None else table.sample.weights)


def _hidden(
    cells: SuppressibleCells, promises: RiskPromises, set_sizes: dict[int, int], deadline: Deadline
) -> tuple[HiddenRows, bool, float]:
    """Return what is suppressed in each row, whether that is proven minimal, and the minimum cost of any release.

    Args:
        set_sizes: The required class size for all sets of a number of columns.
    """
    patterns = patterns_of(cells)
    if not promises.models:
        assignment = _solved(patterns, promises.k, deadline)
        rows = _mended(cells, _rows_of(assignment, patterns), set_sizes, deadline)
        bound = max(assignment.bound, _set_bound(cells, set_sizes, deadline))
        return rows, assignment.proved and not set_sizes, bound
    starts = _starts(patterns, promises, deadline)
    attempts = [_mended(cells, _without_risk(cells, rows, promises, deadline), set_sizes, deadline) for rows in starts]
    bound = max(promises.bound(patterns), _set_bound(cells, set_sizes, deadline))
    return min(attempts, key=lambda rows: _cost(cells, rows)), False, bound


def _mended(cells: SuppressibleCells, rows: HiddenRows, set_sizes: dict[int, int], deadline: Deadline) -> HiddenRows:
    """Suppress more values until every set of columns has its k."""
    while (fault := _short_set(cells, rows, set_sizes)) is not None:
        rows = _without_short(cells, rows, fault, set_sizes[len(fault)], deadline)
    return rows


def _set_bound(cells: SuppressibleCells, set_sizes: dict[int, int], deadline: Deadline) -> float:
    """Return the minimum cost for a single set of columns, the largest over the sets examined in time."""
    bound = 0.0
    for chosen in _sets(cells.codes.shape[1], set_sizes):
        if deadline.over:
            break
        places = list(chosen)
        part = SuppressibleCells(cells.codes[:, places], cells.counts, cells.missing[:, places], cells.prices[places])
        bound = max(bound, patterns_of(part).bound(set_sizes[len(chosen)]))
    return bound


def _starts(patterns: Patterns, promises: RiskPromises, deadline: Deadline) -> Iterator[HiddenRows]:
    """Yield starting points of merging: groups as large as rows of median weight require, and groups of k.

    The first leaves little to be merged. For large tables it is the only one, unless it cannot be found.
    """
    cells, found = patterns.cells, False
    for size in sorted({promises.k, promises.usual_size(cells.counts)}, reverse=True):
        if found and len(cells.counts) > MOST_TRIED:
            return
        try:
            yield _rows_of(_solved(patterns, size, deadline), patterns)
            found = True
        except UnattainableError:
            if size == promises.k:
                raise


def _cost(cells: SuppressibleCells, rows: HiddenRows) -> float:
    touched = rows.hidden & ~cells.missing[rows.combinations]
    prices = np.where(np.isfinite(cells.prices), cells.prices, 0.0)
    return float((touched * rows.rows[:, None] * prices).sum())


def _without_risk(cells: SuppressibleCells, rows: HiddenRows, promises: RiskPromises, deadline: Deadline) -> HiddenRows:
    """Suppress more values until no risk is too high; all rows of a combination follow the majority of them.

    The weights of the parts of a divided combination would be unknown.
    """
    order = np.lexsort((-rows.rows, rows.combinations))
    combinations, first = np.unique(rows.combinations[order], return_index=True)
    whole = HiddenRows(combinations, rows.hidden[order[first]], cells.counts[combinations])
    codes = Merging(cells, _published(cells, whole), promises).merge(deadline)
    return replace(whole, hidden=codes < 0)


def _solved(patterns: Patterns, k: int, deadline: Deadline) -> Assignment:
    return solve(patterns, k, assign(patterns, k, deadline), deadline.left)


def _rows_of(assignment: Assignment, patterns: Patterns) -> HiddenRows:
    return HiddenRows(assignment.combinations, patterns.masks[assignment.patterns], assignment.rows)


def _published(cells: SuppressibleCells, rows: HiddenRows) -> npt.NDArray[np.int32]:
    """Return the published codes of rows, -1 for missing."""
    gone = rows.hidden | cells.missing[rows.combinations]
    return np.where(gone, -1, cells.codes[rows.combinations]).astype(np.int32)


def _sets(width: int, sizes: dict[int, int]) -> Iterator[tuple[int, ...]]:
    for size in sorted(sizes):
        yield from combinations(range(width), min(size, width))


def _short_set(cells: SuppressibleCells, rows: HiddenRows, sizes: dict[int, int]) -> tuple[int, ...] | None:
    """Return the first set of columns by which some class is too small; None if there is none."""
    codes = _published(cells, rows) + 1
    for chosen in _sets(codes.shape[1], sizes):
        _, owners = np.unique(codes[:, chosen], axis=0, return_inverse=True)
        if np.bincount(owners.reshape(-1), weights=rows.rows).min() < sizes[len(chosen)]:
            return chosen
    return None


def _without_short(
    cells: SuppressibleCells, rows: HiddenRows, chosen: tuple[int, ...], least: int, deadline: Deadline
) -> HiddenRows:
    """Suppress more values until every class by a set of columns is large enough; identical rows stay identical.

    The same values are suppressed in them, so all columns together keep their k.
    """
    codes = _published(cells, rows)
    distinct, owners = np.unique(codes, axis=0, return_inverse=True)
    owners = owners.reshape(-1)
    counts = np.bincount(owners, weights=rows.rows).astype(np.int64)
    prices = cells.prices[list(chosen)]
    part = SuppressibleCells(distinct[:, chosen] + 1, counts, distinct[:, chosen] < 0, prices)
    patterns = patterns_of(part)
    assignment = _solved(patterns, least, deadline)
    hidden = np.zeros((len(distinct), codes.shape[1]), bool)
    pattern = np.zeros(len(distinct), np.int64)
    # The program may divide identical rows: all of them follow its largest part, which has most values suppressed.
    for combination, at in zip(assignment.combinations.tolist(), assignment.patterns.tolist(), strict=True):
        pattern[combination] = max(pattern[combination], at)
    hidden[:, chosen] = patterns.masks[pattern]
    return replace(rows, hidden=rows.hidden | hidden[owners])


def _result(
    plan: Plan, table: FrequencyTable, cells: SuppressibleCells, rows: HiddenRows, proved: bool, bound: float
) -> Result:
    codes = _published(cells, rows)
    distinct, classes = np.unique(codes, axis=0, return_inverse=True)
    classes = classes.reshape(-1)
    recoding = _recoding(plan, table, rows, distinct, classes)
    touched = rows.hidden & ~cells.missing[rows.combinations]
    per_column = (touched * rows.rows[:, None]).sum(axis=0)
    cost = float((per_column * np.where(np.isfinite(cells.prices), cells.prices, 0.0)).sum())
    gap = (cost - bound) / cost if cost else 0.0
    number = int(per_column.sum())
    figures = {"suppressed": number, "cost": cost, "bound": bound, "gap": gap}
    names = dict(zip(table.columns, (per_column / max(cells.rows, 1)).tolist(), strict=True))
    counts = dict(zip(table.columns, per_column.astype(int).tolist(), strict=True))
    blank = [name for name, shown in zip(table.columns, distinct.max(axis=0).tolist(), strict=True) if shown < 0]
    return Result(
        recoding,
        "local-suppression",
        cost,
        names,
        proved,
        1,
        1,
        notes=_remarks(number, cells, proved, gap),
        details={"local_suppression": figures | {"columns": counts, "blank": blank}},
    )


def _remarks(number: int, cells: SuppressibleCells, proved: bool, gap: float) -> tuple[Message, ...]:
    counted = {"count": number, "cells": cells.codes.shape[1] * cells.rows}
    if proved:
        return (Message("note.suppressed_values_optimal", **counted),)
    return (Message("note.suppressed_values", gap=gap, **counted),)


def _recoding(
    plan: Plan, table: FrequencyTable, rows: HiddenRows, distinct: npt.NDArray[np.int32], classes: Counts
) -> ClassRecoding:
    owners = np.empty(len(table.counts), np.int64)
    owners[rows.combinations[::-1]] = classes[::-1]
    labels = tuple((*ladder.labels[0], None) for ladder in table.ladders)
    codes = np.column_stack(
        [
            np.where(distinct[:, place] < 0, len(labels[place]) - 1, ladder.codes[0][np.maximum(distinct[:, place], 0)])
            for place, ladder in enumerate(table.ladders)
        ]
    ).astype(np.int32)
    sizes = np.bincount(classes, weights=rows.rows, minlength=len(distinct)).astype(np.int64)
    division = _division(plan, table, rows, classes)
    return replace(recode_classes(table, owners, labels, codes, division), sizes=sizes)


def _division(plan: Plan, table: FrequencyTable, rows: HiddenRows, classes: Counts) -> Division | None:
    """Return the combinations whose rows are published in more than one way."""
    order = np.lexsort((classes, rows.combinations))
    combinations, owners = rows.combinations[order], classes[order]
    first = np.ones(len(order), bool)
    first[1:] = (combinations[1:] != combinations[:-1]) | (owners[1:] != owners[:-1])
    counts = np.add.reduceat(rows.rows[order], np.flatnonzero(first))
    combinations, owners = combinations[first], owners[first]
    return division_of(plan.secret, table, combinations, owners, counts)


# For each group of rows that are identical under a pattern, variables state whether it is used and how many rows of
# each combination it takes; at least k if it is used. A group whose rows all agree in a column that its pattern
# suppresses is left out: the pattern without that column costs less and takes the same rows.
class Groups(Value):
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
    """Return the groups of a pattern, renumbered, and their combinations."""
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
