"""Groups of a table: one that is the total of others, or another in a different unit, is no table of its own."""

import math
import time
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.tables.build.group_units import has_units
from sfumato.tables.build.shared_detail import shared_lines
from sfumato.tables.build.undeclared_sums import SECONDS, is_no_accident, most_parts, parts_of
from sfumato.tables.cells.cells import Mask
from sfumato.tables.cells.table_part import Part
from sfumato.tables.plan.plan import TablePlan

# Seconds for all unrestricted searches for group sums together; sums over whole columns are always compared.
PATIENCE = 60.0
Lines = npt.NDArray[np.float64]


def check_groups(plan: TablePlan, parts: Sequence[Part]) -> None:
    """Refuse groups of which one is the total of others, or another one in a different unit.

    Protected as independent tables, they would disclose each other.

    Groups are compared on their common cells, first those that differ in one column, then all.

    Raises:
        DataError: There is such a group.
    """
    end = time.monotonic() + PATIENCE
    columns = plan.table.group_by
    for place, column in enumerate(columns):
        siblings: dict[tuple[str, ...], list[Part]] = {}
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
    return DataError(
        f'one group of {"columns" if several else "column"} "{names}" is the total of others.',
        f"Make {names} {'dimensions' if several else 'a dimension'}: "
        "as independent tables the groups give one another away.",
        "group-is-total",
        column=columns[0],
    )


def _unit_refusal(column: str) -> DataError:
    return DataError(
        f'two groups of column "{column}" hold the same numbers in different units.',
        "Leave one of them out: what is suppressed in one could be computed from the other.",
        "group-in-other-unit",
        column=column,
    )


def _has_total(parts: Sequence[Part], tolerance: float, end: float, margin: float = 1.0) -> bool:
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


def _differ(own: tuple[str, ...], groups: Sequence[tuple[str, ...]], chosen: Sequence[int]) -> Mask:
    """Return which groups differ from one in exactly the chosen columns."""
    other = np.array(groups) != np.array(own)
    return np.asarray((other == np.isin(np.arange(len(own)), chosen)).all(axis=1))
