"""Combine several tables into one, with cells of the cross of their variables that no table shows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.batch.code_coverage import coverage_of, variable_of
from sfumato.tables.batch.hidden_cells import UNSHOWN, possible_values
from sfumato.tables.batch.implicit_cells import ImplicitCells, TableCells, cross_of
from sfumato.tables.batch.variable_cycles import variable_cycles
from sfumato.tables.batch.zero_patterns import ZeroPattern
from sfumato.tables.build.crossed_columns import uncrossed
from sfumato.tables.build.linked_table import LinkedTable
from sfumato.tables.build.table_views import TableView, coded_table
from sfumato.tables.cells.system import (
    BoolArray,
    Bounds,
    CellStatus,
    LinearConstraints,
    Numbers,
    ProtectionLevels,
    Table,
)
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.protection_levels.inference import with_own_contributions

# Name of constraints between sums of two tables.
SUMS = "sums that two tables have in common"


def with_cross(
    part: TablePart,
    joint: LinkedTable,
    empty: BoolArray | None = None,
    valued: bool = True,
    deadline: Deadline | None = None,
    presences: Sequence[ZeroPattern] = (),
) -> TablePart:
    """Add implicit cells to the combined tables if their variables form a cycle.

    Args:
        empty: Which cells are publicly empty; by default zeros that must be published.
        valued: Whether the true values are known; feasible values of the implicit cells are then computed.
        deadline: Deadline of that computation.
        presences: Tables of other values of the same records, which show that cells are empty.

    Raises:
        UnattainableError: There are too many implicit cells, or no feasible values.
    """
    if joint.sums:
        table = part.table
        part = replace(part, table=table.with_columns(constraints=table.constraints.with_rows(joint.sums, SUMS)))
    linked = frozenset(axis.variable.lower() for own in joint.sections for axis in own.axes if axis.variable)
    if not is_cyclic(joint) and not presences and not linked:
        return part
    sections = [TableCells(coded_table(own), own.cells) for own in map(uncrossed, joint.sections)]
    if empty is None:
        empty = (part.table.values == 0) & (part.table.status == CellStatus.PUBLISH)
    # Among values of both signs, a sum of 0 may have records.
    nothing = empty & ~(part.table.bounds.low < 0).any()
    sections += [own.cells for own in presences]
    cross = cross_of(coverage_of([own.table for own in sections]), sections, nothing, linked)
    if cross.broken:
        raise UnattainableError("joint-size.the_cross_of_whose_empty", names=cross.broken[0])
    part = replace(part, not_audited=cross.left_out)
    if not cross.size:
        return part
    try:
        return with_own_contributions(_behind(part, cross, valued, deadline or Deadline()))
    except UnattainableError:
        # The time is over: without implicit cells, tables are audited pairwise.
        if not cross.dispensable:
            raise
        return replace(part, not_audited=cross.dispensable)


def presence_in(section: TableView, filled: BoolArray) -> ZeroPattern:
    """Return which cells of a table of other values have records."""
    own = uncrossed(replace(section, cells=np.arange(len(section.keys))))
    return ZeroPattern(coded_table(own), filled[own.cells])


def is_cyclic(joint: LinkedTable) -> bool:
    """Return whether variables of the tables form a cycle."""
    return bool(variable_cycles(_variables(own) for own in joint.sections))


def _variables(section: TableView) -> frozenset[str]:
    return frozenset(variable_of(axis.tree) for axis in uncrossed(section).axes)


def _behind(part: TablePart, cross: ImplicitCells, valued: bool, deadline: Deadline) -> TablePart:
    """Append implicit cells to the part: always suppressed, without cost and without protection level."""
    size, more = len(part.table), cross.size
    unshown = np.arange(size + more) >= size
    relations = part.table.constraints.with_rows(cross.rows, UNSHOWN)
    values = _values(part, relations, unshown, deadline) if valued else None
    before = np.zeros(size, bool) if part.suppressed_before is None else part.suppressed_before
    return replace(
        part,
        rows=np.arange(size + more),
        table=_table(part, relations, more, values),
        public=_bounds(part.public, more),
        suppressed_before=np.append(before, np.ones(more, bool)),
        hidden=unshown,
    )


def _values(part: TablePart, relations: LinearConstraints, unshown: BoolArray, deadline: Deadline) -> Numbers:
    values = np.append(part.table.values, np.zeros(int(unshown.sum())))
    step, rounding = part.knowledge.precision, part.knowledge.rounding
    return possible_values(values, ~unshown, relations, step, rounding, deadline.left)


def _table(part: TablePart, relations: LinearConstraints, more: int, values: Numbers | None) -> Table:
    table, none = part.table, np.zeros(more)
    return Table(
        values=np.append(table.values, none) if values is None else values,
        status=np.append(table.status, np.zeros(more, np.int8)),
        costs=np.append(table.costs, none),
        bounds=_bounds(table.bounds, more),
        protection_levels=ProtectionLevels(
            np.append(table.protection_levels.lower, none), np.append(table.protection_levels.upper, none)
        ),
        constraints=relations,
        names=(*table.names, *([UNSHOWN] * more)),
    )


def _bounds(bounds: Bounds, more: int) -> Bounds:
    low = -np.inf if (bounds.low < 0).any() else 0.0
    return Bounds(np.append(bounds.low, np.full(more, low)), np.append(bounds.high, np.full(more, np.inf)))
