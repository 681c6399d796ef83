"""Combine several tables into one: shared cells are identified, and the relations of all tables hold together."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.argus.argus_table import ArgusTable, Holders, floor_of
from sfumato.tables.argus.statuses import ArgusStatus, choices_of, secondary_of, unsafe_of
from sfumato.tables.cells.constraints import describe, precision_of
from sfumato.tables.cells.system import BoolArray, CellStatus, LinearConstraints, Numbers, Places, make_constraints
from sfumato.tables.linked.cells import CellPrecision, SharedCells, ZeroPattern, add_loose, shared_cells, tied_rows
from sfumato.tables.linked.codes import Cover
from sfumato.tables.linked.cross import ImplicitCells, TableCells, cross_of
from sfumato.tables.linked.from_office import VariableTable, cover_codes, linked_views
from sfumato.tables.linked.ties import UNSHOWN, Row, Ties, inconsistent_links, possible_values
from sfumato.tables.linked.view import Coverage, Identity, coverage_of, variable_of

# Frequency of cells with an unknown number of respondents: no one is a singleton in them.
MANY = 1e6
# Columns that are taken over for sensitive cells that no table shows.
COLUMNS = ("statuses", "lower", "upper", "frequency", "holdings")


@dataclass(frozen=True, slots=True)
class JointTable:
    """Several tables combined into one.

    Attributes:
        whole: All cells, with the constraints of all tables.
        places: For each table, the positions of its cells in `whole`.
        shown: Which cells some table shows; the others only link tables.
        differing: Number of cells whose value differs from that of the same codes in another table.
        crossed: Which of the cells that no table shows are implicit cells of a cross; no rule evaluates them.
        broken: Cycles of variables whose cross is not included, because too many cells differ.
        left_out: Messages for crosses that are too large; their tables are audited pairwise.
    """

    whole: ArgusTable
    places: tuple[Places, ...]
    shown: BoolArray
    differing: int
    crossed: BoolArray
    broken: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def precision(self) -> float:
        """The precision of the values that tables show."""
        return precision_of(self.whole.values[self.shown])


def joined(tables: Sequence[ArgusTable], tolerance: float = 0.0, presences: Sequence[ZeroPattern] = ()) -> JointTable:
    """Combine several tables into one.

    Cells with the same codes but different values remain two cells: they were revised, or are linked within the
    rounding error if tables have different decimals.

    Args:
        tolerance: How far totals may differ from the sum of their parts.
        presences: Tables of other values of the same records, which show that cells are empty.

    Raises:
        UnattainableError: Codes or values of the tables differ in too many ways.
    """
    views = linked_views([*tables, *(one.table for one in presences)])
    coverage = coverage_of([view.table for view in views])
    own, others = views[: len(tables)], views[len(tables) :]
    identities = [view.identities(number, coverage) for number, view in enumerate(own)]
    shared = shared_cells(tables, identities, tolerance)
    size = len(shared.numbers)
    ties = Ties(coverage, [view.table for view in own], shared.numbers)
    ties.tie(range(len(tables)))
    tied = tied_rows(shared, ties.rows)
    sections = [
        view.section(number, cells) for number, (view, cells) in enumerate(zip(own, shared.places, strict=True))
    ]
    add_loose(tied, shared, inconsistent_links([one for one in sections if one is not None]))
    off = np.arange(len(tied.off)) + len(shared.numbers)
    present = [one.by(view) for one, view in zip(presences, others, strict=True)]
    cross = shared_cross(coverage, shared, own, len(shared.numbers) + len(off), present)
    cells = np.arange(len(shared.numbers) + len(off) + cross.size)
    shown, crossed = cells < size, cells >= len(cells) - cross.size
    columns = _Columns(tables, shared.places, len(shown), shared.grains if shared.mixed else None)
    relations = _relations(tables, shared.places, [*tied.rows, *cross.rows])
    odd = _odd_places(own, shared.numbers)
    values, counted = columns.values(), sorted(ties.judged)
    values[counted] = [table.values[cell] for table, cell in map(ties.judged.__getitem__, counted)]
    values[off] = tied.off
    known = shown | np.isin(cells, [*counted, *off.tolist()])
    values = possible_values(values, known, relations, precision_of(values[shown]), tolerance)
    judged = {place: cell for place, cell in ties.judged.items() if place not in odd}
    whole = _judged(columns.table(values, shown, relations), judged)
    names = _names(tables, shared.origins, _parts(own, coverage.everything, shared.numbers, size), len(cells))
    whole = _within(whole, off, tied.ranges).with_columns(cell_names=names)
    return JointTable(whole, tuple(shared.places), shown, shared.differing, crossed, cross.broken, cross.left_out)


def _names(
    tables: Sequence[ArgusTable], origins: Sequence[tuple[int, int]], parts: Mapping[int, str], size: int
) -> tuple[str, ...]:
    """Name each cell as in the first table that has it; cells that no table has are named by their parts."""
    names = [describe(tables[number].trees, tables[number].keys[cell]) for number, cell in origins]
    return (*names, *(f"{UNSHOWN}{parts.get(cell, '')}" for cell in range(len(names), size)))


def _parts(
    views: Sequence[VariableTable], everything: Mapping[str, Cover], numbers: Mapping[Identity, int], shown: int
) -> dict[int, str]:
    """Return the codes of the cells that no table shows."""
    called = {variable_of(tree): tree.name for view in views for tree in view.whole.trees}
    linked = {axis.variable.lower(): axis.columns for view in views for axis in view.axes if axis.variable}
    parts = {}
    for identity, place in numbers.items():
        if place >= shown:
            own = (cover_codes(linked.get(name, (name,)), cover, everything[name]) for name, cover in identity)
            codes = sorted(f"{'/'.join(called.get(name, name) for name in names)} {text}" for names, text in own)
            parts[place] = f" ({', '.join(codes)})"
    return parts


def _odd_places(views: Sequence[VariableTable], numbers: Mapping[Identity, int]) -> set[int]:
    """Return the cells made of inconsistent records only; data users do not know that these records exist."""
    odd = {axis.variable.lower(): axis.inconsistent for view in views for axis in view.axes if axis.inconsistent}
    return {
        place
        for identity, place in (numbers.items() if odd else ())
        if any(name in odd and cover <= odd[name] for name, cover in identity)
    }


def _within(whole: ArgusTable, off: Places, ranges: Sequence[tuple[float, float]]) -> ArgusTable:
    """Limit the deviation of inexact constraints to what rounding or a few inconsistent records explain."""
    if whole.low is None or whole.high is None:
        return whole
    low, high = whole.low.copy(), whole.high.copy()
    low[off], high[off] = np.array(ranges).reshape(-1, 2).T
    return whole.with_columns(low=low, high=high)


def _judged(whole: ArgusTable, judged: Mapping[int, tuple[ArgusTable, int]]) -> ArgusTable:
    """Take over status and levels of sensitive cells that no table shows, so that they are protected too."""
    columns = {name: column.copy() for name in COLUMNS if (column := getattr(whole, name)) is not None}
    largest, holders = tuple(column.copy() for column in whole.largest), list(whole.holders)
    for place, (table, cell) in judged.items():
        if not unsafe_of(table.statuses[[cell]])[0]:
            continue
        for name, column in columns.items():
            if (own := getattr(table, name)) is not None:
                column[place] = own[cell]
        for column, own in zip(largest, table.largest, strict=False):
            column[place] = own[cell]
        if holders and table.holders:
            holders[place] = table.holders[cell]
    return whole.with_columns(**columns, largest=largest, holders=tuple(holders))


def _relations(tables: Sequence[ArgusTable], places: Sequence[Places], more: Sequence[Row]) -> LinearConstraints:
    """Return the constraints of all tables, without duplicates, and those between tables."""
    rows: list[Row] = []
    for table, own in zip(tables, places, strict=True):
        relations = table.relations()
        for place in range(len(relations)):
            cells, coefs = relations.row(place)
            rows.append((own[cells].tolist(), coefs.tolist()))
    unique: dict[frozenset[tuple[int, float]], Row] = {}
    for row in map(_summed, [*rows, *more]):
        if row[0]:
            unique.setdefault(frozenset(zip(*row, strict=True)), row)
    return make_constraints(unique.values(), [f"relation {place}" for place in range(len(unique))])


def _summed(row: Row) -> Row:
    """Add up the coefficients of each cell in a constraint; a total of a single part is that part."""
    sums: dict[int, float] = {}
    for cell, coef in zip(*row, strict=True):
        sums[cell] = sums.get(cell, 0.0) + coef
    kept = {cell: coef for cell, coef in sums.items() if coef}
    return list(kept), list(kept.values())


@dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of several tables, merged; with the precision of each table if these differ."""

    tables: Sequence[ArgusTable]
    places: Sequence[Places]
    size: int
    grains: Sequence[CellPrecision] | None = None

    def table(self, values: Numbers, shown: BoolArray, relations: LinearConstraints) -> ArgusTable:
        """Build the combined table."""
        frequency = self._most("frequency") if self._all_have("frequency") else None
        return ArgusTable(
            self.tables[0].value,
            (),
            (),
            values,
            np.where(shown, self._statuses(), int(ArgusStatus.SECONDARY)),
            lower=self._levels("lower"),
            upper=self._levels("upper"),
            costs=np.where(shown, self._costs(), 0.0),
            low=self._lows(-np.inf if (values[shown] < 0).any() else 0.0),
            high=self._highs(),
            frequency=None if frequency is None else np.where(shown, frequency, MANY),
            holdings=np.where(shown, self._most("holdings"), MANY) if self._all_have("holdings") else None,
            holders=self._holders(),
            largest=self._largest(),
            given=relations,
        )

    def values(self) -> Numbers:
        """Return the cell values."""
        values = np.zeros(self.size)
        for table, own in zip(self.tables, self.places, strict=True):
            values[own] = table.values
        return values

    def _all_have(self, name: str) -> bool:
        return all(getattr(table, name) is not None for table in self.tables)

    def _gathered(self, columns: Sequence[Numbers], start: float, choose: np.ufunc) -> Numbers:
        gathered = np.full(self.size, start)
        for column, own in zip(columns, self.places, strict=True):
            # A cell may occur twice in a table: as a total and as its single part.
            choose.at(gathered, own, column)
        return gathered

    def _most(self, name: str) -> Numbers:
        columns = [getattr(table, name) for table in self.tables]
        filled = [
            np.zeros(len(own)) if column is None else column for column, own in zip(columns, self.places, strict=True)
        ]
        return self._gathered(filled, 0.0, np.maximum)

    def _levels(self, name: str) -> Numbers:
        """Return the protection levels; in a table with fewer decimals at least its precision, or the value is
        disclosed.
        """
        levels = self._most(name)
        for table, own, grain in zip(self.tables, self.places, self.grains or (), strict=False):
            np.maximum.at(levels, own, np.where(unsafe_of(table.statuses), grain.precision, 0.0))
        return levels

    def _lows(self, start: float) -> Numbers:
        """Return the a priori lower bounds, the strictest of all tables."""
        lows = [floor_of(table) if table.low is None else table.low for table in self.tables]
        return self._gathered(lows, start, np.maximum)

    def _highs(self) -> Numbers:
        """Return the a priori upper bounds, the strictest of all tables."""
        highs = [np.full(len(table), np.inf) if table.high is None else table.high for table in self.tables]
        return self._gathered(highs, np.inf, np.minimum)

    def _costs(self) -> Numbers:
        costs = [np.abs(table.values) if table.costs is None else table.costs for table in self.tables]
        return self._gathered(costs, 0.0, np.maximum)

    def _largest(self) -> tuple[Numbers, ...]:
        """Return the largest contributions to each cell, as many as all tables have."""
        ranks = range(min(len(table.largest) for table in self.tables))
        return tuple(self._gathered([table.largest[rank] for table in self.tables], 0.0, np.maximum) for rank in ranks)

    def _holders(self) -> tuple[Holders, ...]:
        """Return the largest contributors of each cell, if all tables have them."""
        if not all(table.holders for table in self.tables):
            return ()
        holders: list[Holders] = [()] * self.size
        for table, own in zip(self.tables, self.places, strict=True):
            for place, names in zip(own.tolist(), table.holders, strict=True):
                holders[place] = names
        return tuple(holders)

    def _statuses(self) -> Places:
        """Return the strongest status of each cell in any table: sensitive, suppressed, always published, then the
        rest.
        """
        own = np.concatenate(list(self.places))
        statuses = np.concatenate([table.statuses for table in self.tables])
        fixed = choices_of(statuses) == CellStatus.PUBLISH
        strength = np.select([unsafe_of(statuses), secondary_of(statuses), fixed], [3, 2, 1], 0)
        # Among equal statuses the first table has priority.
        order = np.lexsort((-np.arange(len(own)), strength))
        strongest = np.full(self.size, int(ArgusStatus.SAFE), np.int64)
        strongest[own[order]] = statuses[order]
        return strongest


def shared_cross(
    coverage: Coverage,
    shared: SharedCells,
    views: Sequence[VariableTable],
    size: int,
    presences: Sequence[ZeroPattern] = (),
) -> ImplicitCells:
    """Build the implicit cells, numbered after the other cells; those below differing cells are left out.

    Args:
        coverage: What codes of the tables cover, followed by those of the tables of other values.
        views: The tables in linked variables.
        size: Number of other cells.
        presences: Tables of other values of the same records.

    Raises:
        UnattainableError: There would be too many cells.
    """
    differing = np.unique([place for first, own in shared.others.items() for place in (first, *own.values())])
    tables = [
        TableCells(view.table, own[view.cells], _below(view.whole.relations(), np.isin(own, differing))[view.cells])
        for view, own in zip(views, shared.places, strict=True)
    ]
    empty, linked = _empty(shared, size), frozenset().union(*(view.linked for view in views))
    # If values of both signs occur, an empty cell still has no records.
    return cross_of(coverage, [*tables, *(one.cells for one in presences)], empty, linked)


def _empty(shared: SharedCells, size: int) -> BoolArray:
    """Return the publicly empty cells; none if values of both signs occur, because a sum of 0 may then have records."""
    empty = np.zeros(size, bool)
    if any((table.values < 0).any() for table in shared.tables):
        return empty
    for table, own in zip(shared.tables, shared.places, strict=True):
        empty[own[(table.values == 0) & (choices_of(table.statuses) == CellStatus.PUBLISH)]] = True
    return empty


def _below(relations: LinearConstraints, differing: BoolArray) -> BoolArray:
    """Return the finest differing cells and all parts of these."""
    parts: dict[int, list[int]] = {}
    for relation in range(len(relations)):
        cells, coefs = relations.row(relation)
        for total in cells[coefs < 0].tolist() if differing.any() else ():
            parts.setdefault(total, []).extend(cells[coefs > 0].tolist())
    waiting = [cell for cell in np.flatnonzero(differing).tolist() if not differing[_places(parts.get(cell))].any()]
    below = np.zeros(len(differing), bool)
    while waiting:
        cell = waiting.pop()
        if not below[cell]:
            below[cell] = True
            waiting += parts.get(cell, ())
    return below


def _places(cells: list[int] | None) -> Places:
    return np.array(cells or [], np.int64)
