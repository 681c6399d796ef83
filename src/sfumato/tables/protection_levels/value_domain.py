"""Infer value type and sign of a table from its published cells, and find suppressed cells that contradict it.

A reader takes for the minimum what the plan says, otherwise 0 unless something published is negative or nothing else
adds up; for the decimals those of the published cells. Intervals are computed with that. Using the suppressed cells
instead would reveal that one of them is negative or has decimals; ignoring them could exclude the true value. So the
plan has to say what readers consider possible.
"""

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.cells.system import Bounds
from sfumato.tables.linear_programs import LinearProgram
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.suppress_table import SuppressedCells

SLACK = 1e-9


def check_kind(plan: TablePlan, masked: SuppressedCells) -> None:
    """Refuse a table whose suppressed cells differ in sign or decimals from the published ones, unless the plan
    declares it.

    Raises:
        DataError: A suppressed cell is negative or has decimals, unlike all published ones.
    """
    if masked.without_audit:
        return
    values, mask = masked.part.table.values, masked.suppressed
    hidden = bool((values[mask] < 0).any()) and not (values[~mask] < 0).any()
    if hidden and not _names_least(plan, masked) and _adds_up(masked, plan.table.tolerance):
        raise DataError("hidden-negative")
    if plan.table.precision is None and precision_of(values) < precision_of(values[~mask]) * (1 - SLACK):
        raise DataError("hidden-decimals")


def _names_least(plan: TablePlan, masked: SuppressedCells) -> bool:
    """Return whether the plan declares the minimum, or the file of cells does for each negative cell."""
    below = masked.suppressed & (masked.part.table.values < 0)
    by_file = plan.table.cells is not None and bool(np.isfinite(masked.part.public.low[below]).all())
    return plan.attacker.lower is not None or by_file


def _adds_up(masked: SuppressedCells, tolerance: float) -> bool:
    """Return whether the publication is consistent with a table without negative cells."""
    table, mask = masked.part.table, masked.suppressed
    bounds = Bounds(np.where(mask, 0.0, table.values), np.where(mask, np.inf, table.values))
    sides = np.full(len(table.constraints), tolerance)
    return LinearProgram(table.constraints.matrix(len(table)), bounds, Bounds(-sides, sides)).feasible()
