"""Several tables as one, with the cells of the cross of their variables that no table shows."""

from dataclasses import replace

import numpy as np

from sfumato.tables.batch.coverage import coverage_of
from sfumato.tables.batch.cross_cells import Cross, TableCells, cross_of
from sfumato.tables.batch.unshown_cells import possible_values
from sfumato.tables.build.joint import Joint, Section, coded_table
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Reach, Relations, Table
from sfumato.tables.cells.dimensions import Tree
from sfumato.tables.cells.parts import Part
from sfumato.tables.promises.own_cells import with_own_cells

NAME = "a cell that no table shows"


def with_cross(part: Part, joint: Joint, empty: Mask, valued: bool = True) -> Part:
    """The part of several tables with the cells that these are sums of, where their variables go round in a circle.

    Where values may be negative such cells tell nothing.

    Args:
        part: All cells of the tables.
        joint: The tables.
        empty: Which cells everyone knows to hold nothing.
        valued: Whether the true values are known: then some are found that the cells of the cross may hold.

    Raises:
        UnattainableError: There are too many, or none that fit the tables.
    """
    if (part.table.bounds.low < 0).any():
        return part
    sections = [TableCells(coded_table(own, _named(own)), own.cells) for own in joint.sections]
    cross = cross_of(coverage_of([own.table for own in sections]), sections, empty)
    return with_own_cells(_behind(part, cross, valued)) if cross.size else part


def _named(section: Section) -> tuple[Tree, ...]:
    """The dimensions by the columns that their codes are of: those of levels are others than those of one column."""
    return tuple(replace(tree, name="/".join(tree.levels) or tree.name) for tree in section.trees)


def _behind(part: Part, cross: Cross, valued: bool) -> Part:
    """The part with the cells of a cross behind its own: they stay masked, cost nothing, and are promised nothing."""
    size, more = len(part.table), cross.size
    unshown = np.arange(size + more) >= size
    relations = part.table.relations.with_rows(cross.rows, NAME)
    before = np.zeros(size, bool) if part.masked_before is None else part.masked_before
    return replace(
        part,
        rows=np.arange(size + more),
        table=_table(part, relations, more, _values(part, relations, unshown) if valued else None),
        public=_bounds(part.public, more),
        masked_before=np.append(before, np.ones(more, bool)),
        unshown=unshown,
    )


def _values(part: Part, relations: Relations, unshown: Mask) -> Numbers:
    values = np.append(part.table.values, np.zeros(int(unshown.sum())))
    return possible_values(values, ~unshown, relations, part.knowledge.step, part.knowledge.rounding)


def _table(part: Part, relations: Relations, more: int, values: Numbers | None) -> Table:
    table, none = part.table, np.zeros(more)
    return Table(
        values=np.append(table.values, none) if values is None else values,
        status=np.append(table.status, np.zeros(more, np.int8)),
        costs=np.append(table.costs, none),
        bounds=_bounds(table.bounds, more),
        reach=Reach(np.append(table.reach.down, none), np.append(table.reach.up, none)),
        relations=relations,
        names=(*table.names, *([NAME] * more)),
    )


def _bounds(bounds: Bounds, more: int) -> Bounds:
    return Bounds(np.append(bounds.low, np.zeros(more)), np.append(bounds.high, np.full(more, np.inf)))
