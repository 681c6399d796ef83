"""Groups of a table: one that is the total of others is no table of its own."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.plan.tables import TablePlan
from sfumato.tables.parts import Part
from sfumato.tables.sums import is_no_accident, parts_of


def check_groups(plan: TablePlan, parts: Sequence[Part]) -> None:
    """Refuse groups of which one is the total of others: as independent tables they give one another away.

    Raises:
        DataError: There is such a group.
    """
    for place, column in enumerate(plan.table.group_by):
        siblings: dict[tuple[str, ...], list[Part]] = {}
        for part in parts:
            siblings.setdefault((*part.group[:place], *part.group[place + 1 :]), []).append(part)
        if any(_has_total(found, plan.table.tolerance) for found in siblings.values()):
            raise DataError(
                f'one group of column "{column}" is the total of others.',
                f"Make {column} a dimension: as independent tables the groups give one another away.",
                "group-is-total",
                column=column,
            )


def _has_total(parts: Sequence[Part], tolerance: float) -> bool:
    """Whether a group is the sum of at least two others, cell by cell; a cell that a group lacks is empty."""
    lines = _lines(parts)
    for total in range(len(lines)):
        found = parts_of(lines, total, tolerance)
        if found is not None and (
            len(found) == len(lines) - 1 or is_no_accident(lines[total], len(found), len(lines) - 1)
        ):
            return True
    return False


def _lines(parts: Sequence[Part]) -> npt.NDArray[np.float64]:
    """The finest cells of every group, in the same order; cells that some group does not publish are left out."""
    places: dict[object, int] = {}
    entries: list[dict[int, float]] = []
    for part in parts:
        cells = np.flatnonzero(part.finest)
        entries.append(
            {places.setdefault(part.keys[cell], len(places)): float(part.table.values[cell]) for cell in cells}
        )
    lines = np.zeros((len(parts), len(places)))
    for row, entry in enumerate(entries):
        lines[row, list(entry)] = list(entry.values())
    return lines[:, ~np.isnan(lines).any(axis=0)]
