"""Combine several τ-ARGUS tables into one: identify shared cells, and collect all constraints."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from sfumato.localization.messages import Message
from sfumato.tables.argus.office_table import (
    ArgusStatus,
    ArgusTable,
    Holders,
    choices_of,
    floor_of,
    secondary_of,
    unsafe_of,
)
from sfumato.tables.cells.constraints import describe, precision_of
from sfumato.tables.cells.system import (
    BoolArray,
    Bounds,
    CellStatus,
    LinearConstraints,
    Numbers,
    Places,
    make_constraints,
)
from sfumato.tables.linked.cells import SharedCells, TiedRows, shared_cells, tied_rows
from sfumato.tables.linked.codes import Cover
from sfumato.tables.linked.cross import ImplicitCells, cross_of
from sfumato.tables.linked.from_office import OfficeView, ZeroPattern, cover_codes, linked_views
from sfumato.tables.linked.ties import PART, UNSHOWN, Blocks, Ties, inconsistent_links, possible_values
from sfumato.tables.linked.view import CodedTable, Coverage, Identity, coverage_of, rows_of, unique_rows
from sfumato.values import Value, replace

# Frequency of cells with an unknown number of respondents: no one is a singleton in them.
MANY = 1e6
# Columns that are taken over for sensitive cells that no table shows.
COLUMNS = ("statuses", "lower", "upper", "frequency", "holdings")
# A counted table, and the position of a cell in it.
Counted = tuple[ArgusTable, int]


class JointTable(Value):
    """Several tables combined into one.

    Attributes:
        whole: All cells, with the constraints of all tables.
        places: For each table, the positions of its cells in `whole`.
        shown: The cells that some table shows; the others only link tables.
        differing: Number of cells whose value differs from that of the same codes in another table.
        crossed: The implicit cells; no rule evaluates them.
        broken: Cycles of variables whose cross is not included, because too many cells differ.
        left_out: Messages for crosses that are too large; their tables are audited pairwise.
    """

    whole: ArgusTable
    places: tuple[Places, ...]
    shown: BoolArray
    differing: int
    crossed: BoolArray
    broken: tuple[str, ...] = ()
    left_out: tuple[Message, ...] = ()

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
    coverage = coverage_of([view.coded for view in views])
    own, coded = views[: len(tables)], coverage.tables[: len(tables)]
    identities = [view.identities(coded[number], number, coverage) for number, view in enumerate(own)]
    shared = shared_cells(tables, identities, tolerance)
    size, counted = len(shared.numbers), dict[int, Counted]()
    ties = Ties(coverage, shared.numbers, judge=partial(_judge, coverage, shared.numbers, size, counted))
    ties.tie(coded)
    sections = (view.section(number, shared.places[number]) for number, view in enumerate(own))
    tied = tied_rows(shared, ties.rows, inconsistent_links([one for one in sections if one is not None]))
    cross = _cross(coverage, shared, own, [one.filled for one in presences], len(shared.numbers) + len(tied.off))
    columns = _Columns(tables, shared, tied, cross, counted)
    odd = {name: cover for view in own for name, cover in view.inconsistent.items()}
    # Data users do not know that cells made of inconsistent records only exist.
    odd_places = {
        place
        for identity, place in shared.numbers.items()
        if any(name in odd and cover <= odd[name] for name, cover in identity)
    }
    judged = {place: cell for place, cell in counted.items() if place not in odd_places}
    names = _names(shared, _parts(own, coverage.everything, shared.numbers, size), columns.size)
    whole = _judged(columns.table(), judged).with_columns(cell_names=names)
    places, crossed = tuple(shared.places), columns.cells >= columns.size - cross.size
    return JointTable(whole, places, columns.shown, shared.differing, crossed, cross.broken, cross.left_out)


def _judge(
    coverage: Coverage,
    places: Mapping[Identity, int],
    shown: int,
    counted: dict[int, Counted],
    blocks: Blocks,
    tables: Iterable[CodedTable],
) -> None:
    """Count from the records what cells hold that no table shows, and evaluate the rules for them."""
    for finer in (table.finer for table in tables):
        if finer is None or all(place < shown for place in places.values()):
            continue
        own = finer(blocks)
        unsafe, roots = unsafe_of(own.statuses), {tree.name.lower(): tree.root for tree in own.trees}
        for cell, key in enumerate(own.keys):
            covers = (
                (name, coverage.everything[name])
                if code == roots[name] or not code[0].startswith(PART)
                else (name, blocks[name][int(code[0].removeprefix(PART))])
                for name, code in zip(roots, key, strict=True)
            )
            place = places.get(coverage.of(covers), -1)
            if place >= shown and (place not in counted or unsafe[cell]):
                counted[place] = own, cell


def _names(shared: SharedCells, parts: Mapping[int, str], size: int) -> tuple[str, ...]:
    """Name each cell as in the first table that has it; cells that no table has are named by their parts."""
    names = [describe(shared.tables[number].trees, shared.tables[number].keys[cell]) for number, cell in shared.origins]
    return (*names, *(f"{UNSHOWN}{parts.get(cell, '')}" for cell in range(len(names), size)))


def _parts(
    views: Sequence[OfficeView], everything: Mapping[str, Cover], numbers: Mapping[Identity, int], shown: int
) -> dict[int, str]:
    """Return the codes of the cells that no table shows."""
    called = {tree.name.lower(): tree.name for view in views for tree in view.whole.trees}
    linked = {name: columns for view in views for name, columns in view.linked.items()}
    parts = {}
    for identity, place in numbers.items():
        if place >= shown:
            own = (cover_codes(linked.get(name, (name,)), cover, everything[name]) for name, cover in identity)
            codes = sorted(f"{'/'.join(called.get(name, name) for name in names)} {text}" for names, text in own)
            parts[place] = f" ({', '.join(codes)})"
    return parts


def _judged(whole: ArgusTable, judged: Mapping[int, Counted]) -> ArgusTable:
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


class _Columns(Value):
    """The columns of several tables, merged."""

    tables: Sequence[ArgusTable]
    shared: SharedCells
    tied: TiedRows
    cross: ImplicitCells
    counted: Mapping[int, Counted]

    @property
    def size(self) -> int:
        """Number of cells: shared ones, residuals of inexact constraints, implicit ones."""
        return len(self.shared.numbers) + len(self.tied.off) + self.cross.size

    @property
    def cells(self) -> Places:
        return np.arange(self.size)

    @property
    def shown(self) -> BoolArray:
        """Which cells some table shows."""
        return np.asarray(self.cells < len(self.shared.origins))

    @property
    def off(self) -> Places:
        """The residuals of inexact constraints."""
        return np.arange(len(self.tied.off)) + len(self.shared.numbers)

    def table(self) -> ArgusTable:
        """Build the combined table."""
        relations = self._relations()
        values, shown = self._values(relations), self.shown
        bounds = self._bounds(-np.inf if (values[shown] < 0).any() else 0.0)
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
            low=bounds.low,
            high=bounds.high,
            frequency=None if frequency is None else np.where(shown, frequency, MANY),
            holdings=np.where(shown, self._most("holdings"), MANY) if self._all_have("holdings") else None,
            holders=self._holders(),
            largest=self._largest(),
            given=relations,
        )

    def _relations(self) -> LinearConstraints:
        """Return the constraints of all tables, without duplicates, and those between tables."""
        own = zip(self.tables, self.shared.places, strict=True)
        inside = (row for table, cells in own for row in rows_of(table.relations(), cells))
        rows = unique_rows([*inside, *self.tied.rows, *self.cross.rows])
        return make_constraints(rows.values(), [f"relation {place}" for place in range(len(rows))])

    def _values(self, relations: LinearConstraints) -> Numbers:
        """Return the cell values, with feasible ones for implicit cells that are not counted."""
        values, counted = np.zeros(self.size), sorted(self.counted)
        for table, own in zip(self.tables, self.shared.places, strict=True):
            values[own] = table.values
        values[counted] = [table.values[cell] for table, cell in map(self.counted.__getitem__, counted)]
        values[self.off] = self.tied.off
        known = self.shown | np.isin(self.cells, [*counted, *self.off.tolist()])
        return possible_values(values, known, relations, precision_of(values[self.shown]), self.shared.tolerance)

    def _all_have(self, name: str) -> bool:
        return all(getattr(table, name) is not None for table in self.tables)

    def _gathered(self, columns: Iterable[Numbers], start: float, choose: np.ufunc) -> Numbers:
        gathered = np.full(self.size, start)
        for column, own in zip(columns, self.shared.places, strict=True):
            # A cell may occur twice in a table: as a total and as its single part.
            choose.at(gathered, own, column)
        return gathered

    def _most(self, name: str) -> Numbers:
        own = [getattr(table, name) for table in self.tables]
        return self._gathered(
            [np.zeros(len(table)) if one is None else one for table, one in zip(self.tables, own, strict=True)],
            0.0,
            np.maximum,
        )

    def _levels(self, name: str) -> Numbers:
        """Return the protection levels; in a table with fewer decimals at least its precision, or the value is
        disclosed.
        """
        levels, shared = self._most(name), self.shared
        for table, own, grain in zip(self.tables, shared.places, shared.grains if shared.mixed else (), strict=False):
            np.maximum.at(levels, own, np.where(unsafe_of(table.statuses), grain.precision, 0.0))
        return levels

    def _bounds(self, lowest: float) -> Bounds:
        """Return the a priori bounds, the strictest of all tables."""
        lows = [floor_of(table) if table.low is None else table.low for table in self.tables]
        highs = [np.full(len(table), np.inf) if table.high is None else table.high for table in self.tables]
        bounds = Bounds(self._gathered(lows, lowest, np.maximum), self._gathered(highs, np.inf, np.minimum))
        if self.tied.ranges:
            # What rounding or a few inconsistent records explain limits the residual of an inexact constraint.
            bounds.low[self.off], bounds.high[self.off] = np.array(self.tied.ranges).T
        return bounds

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
        for table, own in zip(self.tables, self.shared.places, strict=True):
            for place, names in zip(own.tolist(), table.holders, strict=True):
                holders[place] = names
        return tuple(holders)

    def _statuses(self) -> Places:
        """Return the strongest status of each cell in any table: sensitive, suppressed, always published, then the
        rest.
        """
        own = np.concatenate(self.shared.places)
        statuses = np.concatenate([table.statuses for table in self.tables])
        fixed = choices_of(statuses) == CellStatus.PUBLISH
        strength = np.select([unsafe_of(statuses), secondary_of(statuses), fixed], [3, 2, 1], 0)
        # Among equal statuses the first table has priority.
        order = np.lexsort((-np.arange(len(own)), strength))
        strongest = np.full(self.size, int(ArgusStatus.SAFE), np.int64)
        strongest[own[order]] = statuses[order]
        return strongest


def _cross(
    coverage: Coverage, shared: SharedCells, views: Sequence[OfficeView], presences: Sequence[BoolArray], size: int
) -> ImplicitCells:
    """Build the implicit cells, numbered after the other cells; those below differing cells are left out.

    Args:
        coverage: The tables, followed by those of other values.
        presences: Which cells of each table of other values may have records.
        size: Number of other cells.

    Raises:
        UnattainableError: There would be too many cells.
    """
    differing = np.unique([place for first, own in shared.others.items() for place in (first, *own.values())])
    tables = []
    for table, view, own in zip(coverage.tables, views, shared.places, strict=False):
        below = _below(view.whole.relations(), np.isin(own, differing))
        tables.append(replace(table, cells=own[table.cells], differing=below[table.cells]))
    for table, filled in zip(coverage.tables[len(views) :], presences, strict=True):
        tables.append(replace(table, presence=filled[table.cells]))
    empty = np.zeros(size, bool)
    # If values of both signs occur, a sum of 0 may have records, so that no cell is publicly empty.
    if not any((table.values < 0).any() for table in shared.tables):
        for whole, own in zip(shared.tables, shared.places, strict=True):
            empty[own[(whole.values == 0) & (choices_of(whole.statuses) == CellStatus.PUBLISH)]] = True
    linked = frozenset(name for view in views for name in view.linked)
    return cross_of(replace(coverage, tables=tuple(tables)), empty, linked)


def _below(relations: LinearConstraints, differing: BoolArray) -> BoolArray:
    """Return the finest differing cells and all parts of these."""
    below = np.zeros(len(differing), bool)
    if not differing.any():
        return below
    parts: dict[int, list[int]] = {}
    for cells, coefs in rows_of(relations):
        for total, coef in zip(cells, coefs, strict=True):
            if coef < 0:
                parts.setdefault(total, []).extend(part for part, one in zip(cells, coefs, strict=True) if one > 0)
    waiting = [cell for cell in np.flatnonzero(differing).tolist() if not differing[parts.get(cell, [])].any()]
    while waiting:
        cell = waiting.pop()
        if not below[cell]:
            below[cell] = True
            waiting += parts.get(cell, ())
    return below
