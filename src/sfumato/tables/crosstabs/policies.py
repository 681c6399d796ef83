"""Small-number policies for crosstabs, as authorities require them of every published table.

Each policy cites its source. Policies that only round leave totals rounded, too; policies that suppress also suppress
further cells, so that none can be computed from the margins.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.errors import DataError, InternalError, PlanError, ViolationError
from sfumato.policies.policy import CellRule, policies, policy_named
from sfumato.tables.attack.audit import audit_publication
from sfumato.tables.attack.findings import AttackerView
from sfumato.tables.cell_labels import MASK
from sfumato.tables.cells.system import (
    BoolArray,
    Bounds,
    CellStatus,
    LinearConstraints,
    Numbers,
    ProtectionLevels,
    Table,
    make_table,
    no_bounds,
    public_floor,
)
from sfumato.tables.crosstabs.crosstabs import Crosstab, Derived, Grid, Ratio, Subtotals, ratios_in, relations_of
from sfumato.tables.protection_levels.resolve_plan import with_parts
from sfumato.tables.suppression.optimal import optimal
from sfumato.tables.suppression.problem import make_problem

SECONDS = 30.0


def rule_named(name: str) -> CellRule:
    """Return what a policy requires for the counts of a crosstab.

    Raises:
        PlanError: There is no such policy, or it does not concern tables.

    >>> rule_named("nhs").base
    5
    """
    rule = policy_named(name).cells
    if rule is None:
        tables = [policy.id for policy in policies().values() if policy.cells]
        tables = [policy.id for policy in policies().values() if policy.cells is not None]
        raise PlanError("no-policy.is_not_about_tables", names=", ".join(tables), name=name)
    return rule


def apply(
    crosstab: Crosstab,
    policy: CellRule,
    margins: str | None = None,
    derived: Derived | None = None,
    subtotals: Subtotals | None = None,
) -> list[list[Any]]:
    """Return the cells to publish, row by row."""
    ratios = ratios_in(crosstab, derived or {})
    counts = [place for place in range(len(crosstab.columns)) if place not in ratios]
    grid = crosstab.values[:, counts]
    _check_counts(grid)
    unsafe = (grid >= policy.low) & (grid <= policy.high)
    small, mask = unsafe, policy.small
    if policy.complementary:
        names = [crosstab.columns[place] for place in counts]
        relations = relations_of(grid, crosstab.rows, names, margins, subtotals)
        # "<5" would be false for secondary cells, and next to "*" it would show which cells are primary.
        mask = MASK if len(relations) and any(sign.isdigit() for sign in str(mask)) else mask
        small = _protected(grid, unsafe, relations, zeros=policy.low == 0)
        if len(relations):
            _check_shown(grid, unsafe, relations, _shown(grid, small, policy.base, mask), policy)
    shown = _shown(grid, small, policy.base, mask)
    return _with_ratios(crosstab, shown, counts, ratios)


def _check_counts(grid: Grid) -> None:
    if np.isnan(grid).any() or (grid < 0).any() or (grid != np.round(grid)).any():
        raise DataError("not-a-count.crosstab_cell")


def _protected(grid: Grid, small: BoolArray, relations: LinearConstraints, zeros: bool) -> BoolArray:
    """Return the small cells, and those that must be suppressed with them.

    Args:
        zeros: Whether zeros are suppressed, too; if they are shown, a suppressed cell is at least 1.
    """
    if not small.any() or not len(relations):
        return small
    values, unsafe = grid.ravel(), small.ravel()
    table = _table(values, unsafe, unsafe | (values > 0) | zeros, relations, zeros)
    masked = unsafe | optimal(make_problem(table), SECONDS).over(table)
    return masked.reshape(grid.shape)


def _table(values: Numbers, unsafe: BoolArray, hidden: BoolArray, relations: LinearConstraints, zeros: bool) -> Table:
    """Build the table with protection levels; a level is at most what is possible, since a total is at least the sum of
    its suppressed parts.
    """
    status = np.where(unsafe, CellStatus.SENSITIVE, np.where(hidden, CellStatus.SAFE, CellStatus.PUBLISH)).astype(
        np.int8
    )
    low = public_floor(values, hidden, 1.0, announced=zeros)
    bounds = with_parts(Bounds(low, np.full(len(values), np.inf)), relations, values)
    up = np.where(unsafe, 1.0, 0.0)
    reach = ProtectionLevels(np.minimum(up, values - bounds.low), up)
    return make_table(values, relations, status=status, bounds=bounds, protection_levels=reach, costs=values + 1.0)


def _check_shown(
    grid: Grid, unsafe: BoolArray, relations: LinearConstraints, shown: Sequence[Sequence[Any]], policy: CellRule
) -> None:
    """Refuse cells for publication that differ from the table or disclose a small count.

    Raises:
        InternalError: A cell shows a different number.
        ViolationError: A small count can be computed.
    """
    exact = np.array([[np.nan if isinstance(cell, str) else cell for cell in row] for row in shown], float).ravel()
    hidden, values, small = np.isnan(exact), grid.ravel(), unsafe.ravel()
    if (np.abs(exact - values)[~hidden] > policy.base / 2).any() or (small & ~hidden).any():
        raise InternalError("handed-out.crosstab_hand_out_shows")
    if not small.any():
        return
    table = _table(values, small, hidden, relations, policy.low == 0)
    publication = AttackerView(
        np.where(hidden, np.nan, values), no_bounds(len(table)), table.bounds, relations, table.names
    )
    if any(small[leak.cell] for leak in audit_publication(publication, table.protection_interval).leaks):
        raise ViolationError("audit.a_small_cell_can")


def _shown(grid: Grid, masked: BoolArray, base: int, mask: str | int) -> list[list[Any]]:
    rounded = np.floor(grid / base + 0.5) * base
    return [
        [mask if hit else int(value) for value, hit in zip(values, hits, strict=True)]
        for values, hits in zip(rounded, masked, strict=True)
    ]


def _with_ratios(
    crosstab: Crosstab, shown: Sequence[Sequence[Any]], counts: Sequence[int], ratios: Mapping[int, Ratio]
) -> list[list[Any]]:
    """Return all columns: ratios of published counts, suppressed if one of the two counts is."""
    at = {column: place for place, column in enumerate(counts)}
    return [
        [
            row[at[column]] if column in at else _ratio(shown, row, at, ratios[column])
            for column in range(len(crosstab.columns))
        ]
        for row in shown
    ]


def _ratio(shown: Sequence[Sequence[Any]], row: Sequence[Any], at: Mapping[int, int], ratio: Ratio) -> Any:
    top = row[at[ratio.top]]
    bottom = (row if ratio.row is None else shown[ratio.row])[at[ratio.bottom]]
    if isinstance(top, str) or isinstance(bottom, str):
        return MASK
    return round(ratio.factor * top / bottom, ratio.decimals) if bottom else float("nan")
