"""Combine several tables of a plan into one, with cells of the cross of their variables that no table shows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import DataError, UnattainableError
from sfumato.localization.messages import Message
from sfumato.tables.build import dimensions_of, heights_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import Key, derive, describe
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.cells.system import (
    BoolArray,
    Bounds,
    CellStatus,
    LinearConstraints,
    Numbers,
    Places,
    ProtectionLevels,
    Table,
    make_constraints,
)
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.linked.cells import ZeroPattern
from sfumato.tables.linked.codes import CommonDimension, axes_of
from sfumato.tables.linked.cross import ImplicitCells, TableCells, cross_of
from sfumato.tables.linked.records import Chain, variable_cycles
from sfumato.tables.linked.ties import UNSHOWN, Row, inconsistent_links, possible_values, ties_between
from sfumato.tables.linked.view import TableView, coded_table, coverage_of, uncrossed, variable_of
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.protection_levels.inference import with_own_contributions

Identity = frozenset[tuple[str, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class InputTable:
    """One of several tables as read.

    Attributes:
        chains: Columns that determine each other in its records.
        recorded: The columns of the records that were examined for this.
    """

    name: str
    dimensions: Mapping[str, Dimension]
    columns: TextColumns
    chains: tuple[Chain, ...] = ()
    recorded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class LinkedTable:
    """Several tables combined into one.

    Attributes:
        columns: The columns that all tables have, one row per joint cell, from the first table that has it.
        names: A name for each joint cell.
        heights: Number of levels of each joint cell above the finest.
        inconsistent: Constraints that hold except for a few inconsistent records.
        sums: Sums of cells that are equal in two tables, though neither shows them.
    """

    sections: tuple[TableView, ...]
    columns: TextColumns
    relations: LinearConstraints
    names: tuple[str, ...]
    heights: Numbers
    inconsistent: tuple[Row, ...] = ()
    sums: tuple[Row, ...] = ()


def join(sheets: Sequence[InputTable], folder: Path) -> LinkedTable:
    """Combine several tables into one.

    Raises:
        DataError: A table has duplicate cells, or parents are missing.
    """
    places: dict[Identity, int] = {}
    sections, rows, names, heights = [], list[tuple[list[int], list[float]]](), list[str](), list[float]()
    spaces = [dimensions_of(sheet.dimensions, sheet.columns, folder) for sheet in sheets]
    known = dict.fromkeys(chain for sheet in sheets for chain in sheet.chains)
    axes = axes_of([trees for trees, _ in spaces], tuple(known), [keys for _, keys in spaces])
    for sheet, (trees, keys), own in zip(sheets, spaces, axes, strict=True):
        try:
            relations = derive(trees, keys)
        except DataError as error:
            raise in_table(error, sheet.name) from None
        cells = np.array([places.setdefault(_identity(trees, own, key), len(places)) for key in keys], np.int64)
        new = _first_rows(cells, len(names))
        names += [describe(trees, keys[row]) for row in new]
        heights += heights_of(trees, keys)[new].tolist()
        rows += [
            (cells[relations.row(place)[0]].tolist(), relations.row(place)[1].tolist())
            for place in range(len(relations))
        ]
        sections.append(TableView(sheet.name, sheet.columns, trees, tuple(keys), cells, own))
    rows += ties_between(sections) + _doubles(sections, places)
    every = _unique(rows)
    unique, sums = _apart(every.values())
    loose = tuple(row for key, row in _unique(inconsistent_links(sections)).items() if key not in every)
    named = [names[cells[0]] for cells, _ in unique]
    return LinkedTable(
        tuple(sections),
        _columns(sections, len(places)),
        make_constraints(unique, named),
        tuple(names),
        np.array(heights),
        loose,
        tuple(sums),
    )


def _first_rows(cells: Places, known: int) -> Places:
    """Return the first row of each new cell; a table may have a cell twice, by codes of two columns."""
    numbers, rows = np.unique(cells, return_index=True)
    return rows[numbers >= known]


def settled(joint: LinkedTable, values: Numbers, step: float) -> LinkedTable:
    """Turn inconsistent constraints that hold for the given values into ordinary ones."""
    sums = [abs(float(np.array(coefs) @ values[cells])) for cells, coefs in joint.inconsistent]
    holding = [row for row, off in zip(joint.inconsistent, sums, strict=True) if off < step / 2]
    if not holding:
        return joint
    loose = tuple(row for row, off in zip(joint.inconsistent, sums, strict=True) if off >= step / 2)
    totals, both = _apart(holding)
    relations = joint.relations.with_rows(totals, "codes within others")
    return replace(joint, relations=relations, inconsistent=loose, sums=(*joint.sums, *both))


def _apart(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Separate constraints with at most one total, or two equal cells, from those with sums on both sides."""
    plain, sums = list[Row](), list[Row]()
    for row in rows:
        (plain if sum(coef < 0 for coef in row[1]) < 2 else sums).append(row)
    return plain, sums


def _unique(rows: Iterable[Row]) -> dict[frozenset[tuple[int, float]], Row]:
    """Return the distinct constraints."""
    gathered = (row for row in map(_gathered, rows) if row[0])
    return {frozenset(zip(cells, coefs, strict=True)): (cells, coefs) for cells, coefs in gathered}


def _gathered(row: Row) -> Row:
    """Add up the coefficients of each cell in a constraint; cells that occur on both sides cancel."""
    if len(set(row[0])) == len(row[0]):
        return row
    coefs: dict[int, float] = {}
    for cell, coef in zip(*row, strict=True):
        coefs[cell] = coefs.get(cell, 0.0) + coef
    kept = {cell: coef for cell, coef in coefs.items() if coef}
    return list(kept), list(kept.values())


def _doubles(sections: Sequence[TableView], places: Mapping[Identity, int]) -> list[Row]:
    """Return equality constraints for cells that cross linked columns, where one code implies the other."""
    rows: list[Row] = []
    for section in sections:
        for cell, key in zip(section.cells.tolist(), section.keys, strict=True):
            narrow = _narrowed(section, key)
            first = cell if narrow == key else places.get(_identity(section.trees, section.axes, narrow), cell)
            if first != cell:
                rows.append(([first, cell], [-1.0, 1.0]))
    return rows


def _narrowed(section: TableView, key: Key) -> Key:
    """Return the codes of a cell without those that another code of the same linked columns implies."""
    narrow = list(key)
    for one, two in permutations(range(len(key)), 2):
        wide, inside = section.axes[one], section.axes[two]
        if wide.variable and wide.variable == inside.variable and section.trees[one].root != narrow[one]:
            cover = inside.covers.get(narrow[two], frozenset())
            if cover and cover <= wide.covers[narrow[one]]:
                narrow[one] = section.trees[one].root
    return tuple(narrow)


def _identity(trees: Sequence[CodeTree], axes: Sequence[CommonDimension], key: Key) -> Identity:
    """Return the identity of a cell in any table: its codes without totals, except totals of a series.

    If two dimensions have codes of one column, such as Land and the Land of a Gemeinde, the dimension is part of it.
    """
    own = [
        (tree, axis.names[code] if code != tree.root else (_name_of(tree), _total_of(tree)))
        for tree, axis, code in zip(trees, axes, key, strict=True)
        if code != tree.root or tree.series
    ]
    several = {one for (_, (one, code)), (_, (two, other)) in combinations(own, 2) if one == two and code != other}
    return frozenset(
        (f"{_name_of(tree)}/{name}" if name in several and name != _name_of(tree) else name, code)
        for tree, (name, code) in own
    )


def _name_of(tree: CodeTree) -> str:
    return "/".join(tree.levels) or tree.name


def _total_of(tree: CodeTree) -> tuple[str, ...]:
    """Return the total of a series, identified by its codes: the total of a single code differs from that code."""
    return ("", *sorted("/".join(code) for code in tree.parents))


def _columns(sections: Sequence[TableView], size: int) -> TextColumns:
    shared = [name for name in sections[0].columns.texts if all(name in section.columns for section in sections)]
    texts: dict[str, list[str]] = {name: [""] * size for name in shared}
    for section in reversed(sections):
        for name in shared:
            for cell, text in zip(section.cells.tolist(), section.columns.texts[name], strict=True):
                texts[name][cell] = text
    return TextColumns({name: tuple(column) for name, column in texts.items()})


def merged(joint: LinkedTable, numbers: Iterable[Numbers], step: float, tolerance: float = 0.0) -> Numbers:
    """Merge the numbers of the rows of all tables by joint cell; NaN if a cell has none.

    Raises:
        DataError: Two tables have different values for the same cell.
    """
    together = np.full(len(joint.names), np.nan)
    for section, own in zip(joint.sections, numbers, strict=True):
        before = together[section.cells]
        difference = np.abs(before - own)
        wrong = np.flatnonzero(difference > max(step / 2, tolerance))
        if len(wrong):
            raise DataError(
                "tables-differ.differs_from_another_one",
                name=joint.names[section.cells[wrong[0]]],
                other=section.name,
                difference=difference[wrong[0]],
            ).about(rows=[int(row) + 1 for row in wrong])
        together[section.cells] = np.where(np.isnan(before), own, before)
    return together


def in_table(error: DataError, name: str) -> DataError:
    """Return the same error with the name of the table."""
    return error.with_text(Message("error.part.in_table", name=name, message=error.message))


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
        return with_own_contributions(_with_implicit(part, cross, valued, deadline or Deadline()))
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


def _with_implicit(part: TablePart, cross: ImplicitCells, valued: bool, deadline: Deadline) -> TablePart:
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
