"""Groups of a table: one that is the total of others, or another in a different unit, is no table of its own."""

import math
import time
from collections.abc import Sequence
from itertools import combinations, takewhile

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.tables.build.group_units import has_units
from sfumato.tables.build.shared_detail import shared_lines
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.linear_programs import solver
from sfumato.tables.plan.table_plan import TablePlan

# Time limit of one search in seconds; lines that agree in every entry are decided immediately.
SECONDS = 5.0
# Seconds for all unrestricted searches for group sums together; sums over whole columns are always compared.
PATIENCE = 60.0
Lines = npt.NDArray[np.float64]


def check_groups(plan: TablePlan, parts: Sequence[TablePart]) -> None:
    """Refuse groups of which one is the total of others, or another one in a different unit.

    Protected as independent tables, they would disclose each other.

    Groups are compared on their common cells, first those that differ in one column, then all.
    """
    end = time.monotonic() + PATIENCE
    columns = plan.table.group_by
    for place, column in enumerate(columns):
        siblings: dict[tuple[str, ...], list[TablePart]] = {}
        for part in parts:
            siblings.setdefault((*part.group[:place], *part.group[place + 1 :]), []).append(part)
        if any(_has_total(found, plan.table.tolerance, end) for found in siblings.values()):
            raise _refusal([column])
        if any(map(has_units, siblings.values())):
            raise _unit_refusal(column)
    # Among all groups far more selections are possible, so more bits must agree.
    if len(columns) > 1 and _has_total(parts, plan.table.tolerance, end, 4.0 + math.log2(len(parts))):
        raise _refusal(columns)


def _refusal(columns: Sequence[str]) -> DataError:
    several = len(columns) > 1
    names = " and ".join(columns)
    return DataError("group-is-total.columns" if several else "group-is-total.column", names=names).about(
        column=columns[0]
    )


def _unit_refusal(column: str) -> DataError:
    return DataError("group-in-other-unit", column=column).about(column=column)


def _has_total(parts: Sequence[TablePart], tolerance: float, end: float, margin: float = 1.0) -> bool:
    """Return whether a group is the sum of at least two others in every cell; missing cells are empty."""
    if len(parts) < 3:
        return False
    return any(
        _crossed(lines, [parts[place].group for place in groups], total, tolerance)
        or _selected(lines, total, tolerance, end, margin)
        for groups, lines in shared_lines(parts)
        for total in range(len(lines) if len(lines) > 2 else 0)
    )


def _selected(lines: Lines, total: int, tolerance: float, end: float, margin: float) -> bool:
    """Return whether a series is the sum of all others, or of some beyond chance."""
    target, others = lines[total], len(lines) - 1
    seconds = min(SECONDS, end - time.monotonic())
    found = parts_of(lines, total, tolerance, seconds, most_parts(target, others, margin))
    return found is not None and (len(found) == others or is_no_accident(target, len(found), others, margin))


def _crossed(lines: Lines, groups: Sequence[tuple[str, ...]], total: int, tolerance: float) -> bool:
    """Return whether a series is the sum over all other values of several columns together."""
    own, width = groups[total], len(groups[total])
    if width < 2:
        return False
    slack = tolerance + 1e-9 * max(1.0, float(np.abs(lines).max(initial=0.0)))
    for size in range(2, width + 1):
        for chosen in combinations(range(width), size):
            pool = np.flatnonzero(_differ(own, groups, chosen))
            if len(pool) > 1 and (np.abs(lines[pool].sum(axis=0) - lines[total]) <= slack).all():
                return is_no_accident(lines[total], 1, len(groups), width)
    return False


def _differ(own: tuple[str, ...], groups: Sequence[tuple[str, ...]], chosen: Sequence[int]) -> BoolArray:
    """Return which groups differ from one in exactly the chosen columns."""
    other = np.array(groups) != np.array(own)
    return np.asarray((other == np.isin(np.arange(len(own)), chosen)).all(axis=1))


def parts_of(
    lines: Lines, total: int, slack: float = 0.0, seconds: float = SECONDS, most: int | None = None
) -> Places | None:
    """Return at least two lines that add up to one line in every entry; None if none are found in time.

    All other lines together are tried first, then any selection if there is time; with `most`, only selections of at
    most that many lines, or all but that many.

    >>> parts_of(np.array([[2.0, 5.0], [1.0, 1.0], [3.0, 6.0], [9.0, 9.0]]), 2).tolist()
    [0, 1]
    """
    target = lines[total]
    if not target.any():
        return None
    allowed = slack + 1e-9 * max(1.0, float(np.abs(lines).max(initial=0.0)))
    others = np.delete(np.arange(len(lines)), total)
    others = others[lines[others].any(axis=1)]
    if len(others) > 1 and _equal(lines[others].sum(axis=0), target, allowed):
        return others
    fitting = others[_fitting(lines[others], target, allowed)]
    for sizes in _sizes(len(fitting), len(lines) - 1, most) if seconds > 0 else ():
        chosen = _chosen(lines[fitting], target, allowed, sizes, seconds)
        if chosen is not None:
            return fitting[chosen]
    return None


def _sizes(fitting: int, others: int, most: int | None) -> list[tuple[int, int]]:
    """Return the minimum and maximum sizes of selections."""
    if most is None or 2 * most >= others:
        return [(2, fitting)] if fitting > 1 else []
    return [(low, high) for low, high in ((2, min(most, fitting)), (others - most, fitting)) if low <= high]


def _equal(one: Numbers, two: Numbers, allowed: float) -> bool:
    return bool((np.abs(one - two) <= allowed).all())


def _fitting(others: Lines, target: Numbers, allowed: float) -> BoolArray:
    """Return the lines that can be parts: none exceeds its total if nothing is negative."""
    if (others < 0).any() or (target < 0).any():
        return np.ones(len(others), bool)
    return np.asarray((others <= target + allowed).all(axis=1))


def _chosen(others: Lines, target: Numbers, allowed: float, sizes: tuple[int, int], seconds: float) -> BoolArray | None:
    """Return the smallest selection of lines that adds up to the target, by an integer program."""
    if (others >= 0).all() and (others.sum(axis=0) < target - allowed).any():
        return None
    highs = solver(time_limit=seconds)
    import highspy

    size = len(others)
    places = np.arange(size, dtype=np.int32)
    highs.addVars(size, np.zeros(size), np.ones(size))
    highs.changeColsCost(size, places, np.ones(size))
    highs.changeColsIntegrality(size, places, np.full(size, highspy.HighsVarType.kInteger))
    for entry in np.unique(np.vstack([others, target]).T, axis=0):
        highs.addRow(entry[-1] - allowed, entry[-1] + allowed, size, places, entry[:-1])
    highs.addRow(*sizes, size, places, np.ones(size))
    highs.run()
    if highs.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    chosen = np.array(highs.getSolution().col_value) > 0.5
    return chosen if _equal(others[chosen].sum(axis=0), target, allowed) else None


def most_parts(target: Numbers, others: int, margin: float = 1.0) -> int:
    """Return the largest number of parts, up to half of the others, that would not agree by chance."""
    # The more parts, the more ways to choose them.
    telling = takewhile(lambda parts: is_no_accident(target, parts, others, margin), range(others // 2 + 1))
    return max(telling, default=0)


def is_no_accident(target: Numbers, parts: int, others: int, margin: float = 1.0) -> bool:
    """Return whether agreement is unlikely by chance: the numbers carry more bits than the choice of the parts."""
    information = float(np.log2(1.0 + np.abs(target)).sum())
    return information > math.log2(math.comb(others, parts)) + margin
