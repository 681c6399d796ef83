"""Combine several tables of a plan into one, with cells of the cross of their variables that no table shows.

A cell is identified by its codes without totals; so the margin of one table is the margin of another that crosses the
same column with something else, and a column may have several hierarchies. A code of level columns is resolved to the
codes of the single columns.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, permutations
from pathlib import Path

import numpy as np

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
    ProtectionLevels,
    Table,
    make_constraints,
)
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.linked.codes import CommonDimension, axes_of
from sfumato.tables.linked.cross import cross_of, variable_cycles
from sfumato.tables.linked.records import Chain
from sfumato.tables.linked.ties import UNSHOWN, inconsistent_links, possible_values, ties_between
from sfumato.tables.linked.view import CodedTable, Row, TableView, coverage_of, rows_of, unique_rows
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.protection_levels.inference import with_own_contributions
from sfumato.values import Value, replace

Identity = frozenset[tuple[str, tuple[str, ...]]]
# Name of constraints between sums of two tables.
SUMS = "sums that two tables have in common"
# Name of the cells of records with inconsistent codes.
ODD = "records whose codes do not fit the others"


class InputTable(Value):
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


class LinkedTable(Value):
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

    def settled(self, values: Numbers, step: float) -> "LinkedTable":
        """Turn inconsistent constraints that hold for the given values into ordinary ones."""
        exact = [abs(float(np.array(coefs) @ values[cells])) < step / 2 for cells, coefs in self.inconsistent]
        totals, both = _apart(row for row, holds in zip(self.inconsistent, exact, strict=True) if holds)
        if not any(exact):
            return self
        loose = tuple(row for row, holds in zip(self.inconsistent, exact, strict=True) if not holds)
        relations = self.relations.with_rows(totals, "codes within others")
        return replace(self, relations=relations, inconsistent=loose, sums=(*self.sums, *both))


def join(sheets: Sequence[InputTable], folder: Path) -> LinkedTable:
    """Combine several tables into one.

    Raises:
        DataError: A table has duplicate cells, or parents are missing.
    """
    places: dict[Identity, int] = {}
    sections, rows, names, heights = [], list[Row](), list[str](), list[float]()
    spaces = [dimensions_of(sheet.dimensions, sheet.columns, folder) for sheet in sheets]
    known = dict.fromkeys(chain for sheet in sheets for chain in sheet.chains)
    axes = axes_of([trees for trees, _ in spaces], tuple(known), [keys for _, keys in spaces])
    for sheet, (trees, keys), own in zip(sheets, spaces, axes, strict=True):
        try:
            relations = derive(trees, keys)
        except DataError as error:
            raise in_table(error, sheet.name) from None
        cells = np.array([places.setdefault(_identity(trees, own, key), len(places)) for key in keys], np.int64)
        # A table may have a cell twice, by codes of two columns.
        numbers, first = np.unique(cells, return_index=True)
        new = first[numbers >= len(names)]
        names += [describe(trees, keys[row]) for row in new]
        heights += heights_of(trees, keys)[new].tolist()
        rows += rows_of(relations, cells)
        sections.append(TableView(sheet.name, sheet.columns, trees, tuple(keys), cells, own))
    every = unique_rows([*rows, *ties_between(sections), *_doubles(sections, places)])
    unique, sums = _apart(every.values())
    loose = unique_rows(inconsistent_links(sections))
    return LinkedTable(
        tuple(sections),
        _columns(sections, len(places)),
        make_constraints(unique, [names[cells[0]] for cells, _ in unique]),
        tuple(names),
        np.array(heights),
        tuple(row for key, row in loose.items() if key not in every),
        tuple(sums),
    )


def _apart(rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Separate constraints with at most one total, or two equal cells, from those with sums on both sides."""
    plain, sums = list[Row](), list[Row]()
    for row in rows:
        (plain if sum(coef < 0 for coef in row[1]) < 2 else sums).append(row)
    return plain, sums


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


def with_inconsistent_records(part: TablePart, rows: Sequence[Row]) -> TablePart:
    """Add constraints that inconsistent records violate, each with a further cell for its residual if it is not 0.

    Data users assume that a district is the sum of its municipalities, which is true if there are no such records. If
    there are, data users do not know their number. The audit assumes an attacker who knows which cells contain them,
    and that there are at most twice as many.
    """
    if not rows:
        return part
    size, step, values = len(part.table), part.knowledge.precision, part.table.values
    made, off = list[Row](), list[float]()
    for cells, coefs in rows:
        amount = float(np.round(np.array(coefs) @ values[cells] / step)) * step
        more = ([size + len(off)], [-1.0 if amount > 0 else 1.0]) if amount else ([], [])
        made.append(([*cells, *more[0]], [*coefs, *more[1]]))
        off += [abs(amount)] * len(more[0])
    amounts = np.array(off)
    open_ = Bounds(np.zeros(len(off)), 2 * amounts)
    return _with_cells(part, part.table.constraints.with_rows(made, ODD), amounts, (open_, open_), ODD)


def with_cross(
    part: TablePart,
    joint: LinkedTable,
    empty: BoolArray | None = None,
    valued: bool = True,
    deadline: Deadline | None = None,
    presences: Sequence[CodedTable] = (),
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
    if empty is None:
        empty = (part.table.values == 0) & (part.table.status == CellStatus.PUBLISH)
    # Among values of both signs, a sum of 0 may have records.
    nothing = empty & ~(part.table.bounds.low < 0).any()
    cross = cross_of(coverage_of([*(own.coded() for own in joint.sections), *presences]), nothing, linked)
    if cross.broken:
        raise UnattainableError("joint-size.the_cross_of_whose_empty", names=cross.broken[0])
    part = replace(part, not_audited=cross.left_out)
    if not cross.size:
        return part
    try:
        return with_own_contributions(_with_implicit(part, cross.rows, cross.size, valued, deadline or Deadline()))
    except UnattainableError:
        # The time limit was reached: without implicit cells, tables are audited pairwise.
        if not cross.dispensable:
            raise
        return replace(part, not_audited=cross.dispensable)


def presence_in(section: TableView, filled: BoolArray) -> CodedTable:
    """Return which cells of a table of other values have records."""
    own = replace(section, cells=np.arange(len(section.keys))).coded()
    return replace(own, cells=np.zeros(0, np.int64), presence=filled[own.cells])


def is_cyclic(joint: LinkedTable) -> bool:
    """Return whether variables of the tables form a cycle."""
    return bool(variable_cycles(frozenset(own.uncrossed().variables) for own in joint.sections))


def _with_implicit(part: TablePart, rows: Sequence[Row], more: int, valued: bool, deadline: Deadline) -> TablePart:
    """Append implicit cells to the part."""
    relations, values = part.table.constraints.with_rows(rows, UNSHOWN), np.zeros(more)
    unshown = np.arange(len(part.table) + more) >= len(part.table)
    if valued:
        known = np.append(part.table.values, values)
        step, rounding = part.knowledge.precision, part.knowledge.rounding
        values = possible_values(known, ~unshown, relations, step, rounding, deadline.left)[unshown]
    low = [np.full(more, -np.inf if (own.low < 0).any() else 0.0) for own in (part.table.bounds, part.public)]
    bounds = (Bounds(low[0], np.full(more, np.inf)), Bounds(low[1], np.full(more, np.inf)))
    return replace(_with_cells(part, relations, values, bounds, UNSHOWN), hidden=unshown)


def _with_cells(
    part: TablePart, relations: LinearConstraints, values: Numbers, bounds: tuple[Bounds, Bounds], name: str
) -> TablePart:
    """Append cells to the part: always suppressed, without cost and without protection level.

    Args:
        bounds: The bounds that attackers know, and those that everyone knows.
    """
    table, none = part.table, np.zeros(len(values))
    levels = table.protection_levels
    own = Table(
        values=np.append(table.values, values),
        status=np.append(table.status, np.zeros(len(values), np.int8)),
        costs=np.append(table.costs, none),
        bounds=table.bounds.followed_by(bounds[0]),
        protection_levels=ProtectionLevels(np.append(levels.lower, none), np.append(levels.upper, none)),
        constraints=relations,
        names=(*table.names, *([name] * len(values))),
    )
    before = np.zeros(len(table), bool) if part.suppressed_before is None else part.suppressed_before
    return replace(
        part,
        rows=np.arange(len(own)),
        table=own,
        public=part.public.followed_by(bounds[1]),
        suppressed_before=np.append(before, np.ones(len(values), bool)),
    )
