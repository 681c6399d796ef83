"""Identify cells that several tables share: the same codes and the same value, possibly with other decimals.

A cell in whole numbers and the same cell with decimals are two numbers of one quantity, at most half a unit of the
coarser table apart; if totals were added up from rounded cells, half a unit for each part.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import chain, combinations
from math import prod

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.tables.argus.office_table import ArgusTable, masked_of
from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.cells.system import Numbers, Places
from sfumato.tables.linked.view import CodedTable, Identity, Row, coverage_of, finest_codes
from sfumato.values import State, Value, field

# Tables count the same records if at least this share of the information in common cells agrees.
ENOUGH = 0.25
# Relative tolerance between values of the same cell, for rounding errors of sums.
NOISE = 1e-9
# The coarsest precision that is considered.
MOST_STEP = 1e9


def coded_office(table: ArgusTable) -> CodedTable:
    """Return a τ-ARGUS table in terms of its own codes."""
    filled = (table.values != 0) | masked_of(table.statuses)
    if table.frequency is not None:
        filled |= table.frequency > 0
    origins = {name.lower(): own for name, own in table.origins.items()}
    return CodedTable(table.trees, table.keys, np.arange(len(table)), filled, origins)


def own_identity(number: int, cell: int) -> Identity:
    """Return the identity of a cell that no other table has."""
    return frozenset({("", frozenset({str(number), str(cell)}))})


class CellPrecision(Value):
    """The precision of the cells of a table.

    Attributes:
        precision: The smallest difference of two values.
        finest: Number of finest cells that each cell consists of, at most.
    """

    precision: float
    finest: Numbers

    def rounding(self, cell: int, two: "CellPrecision", other: int) -> float:
        """Return how far two values of one cell may differ by rounding; 0 if the tables have the same precision."""
        if self.precision == two.precision:
            return 0.0
        return max(self.precision, two.precision) / 2 * max(float(self.finest[cell]), float(two.finest[other]))


def cell_precision(table: ArgusTable) -> CellPrecision:
    """Return the precision of the cells of a table."""
    counts = []
    for place, tree in enumerate(table.trees):
        below: dict[tuple[str, ...], int] = {}
        for code in finest_codes(tree, (key[place] for key in table.keys)):
            above: tuple[str, ...] | None = code
            while above is not None:
                below[above] = below.get(above, 0) + 1
                above = tree.parents.get(above)
        counts.append(below)
    finest = [prod(own.get(code, 1) for own, code in zip(counts, key, strict=True)) for key in table.keys]
    return CellPrecision(_coarsest_step(table.values), np.array(finest, np.float64))


def _coarsest_step(values: Numbers) -> float:
    """Return the largest power of ten that divides all values; tables may be published in tens or thousands.

    >>> _coarsest_step(np.array([300.0, 0.0, 20.0])), _coarsest_step(np.array([3.5])), _coarsest_step(np.zeros(2))
    (10.0, 0.1, 1.0)
    """
    step = precision_of(values)
    there = values[values != 0]
    while step >= 1 and len(there) and step < MOST_STEP and (there % (10 * step) == 0).all():
        step *= 10
    return step


def agree(one: ArgusTable, two: ArgusTable, exactly: bool = False) -> bool:
    """Return whether cells with the same codes have the same values; small numbers have less weight.

    Args:
        one: A table.
        two: Another table.
        exactly: Whether rounding differences count as differences.

    Codes are compared by what they cover, since a new code may reuse the name of an old one.
    """
    coverage, grains = coverage_of([coded_office(one), coded_office(two)]), (cell_precision(one), cell_precision(two))
    first, second = (
        {coverage.identity(table, row): row for row in range(len(table.keys))} for table in coverage.tables
    )
    information, agreed, all_agree = 0.0, 0.0, True
    shared = first.keys() & second.keys()
    for value, other, cells in (
        (one.values[first[key]], two.values[second[key]], (first[key], second[key])) for key in shared
    ):
        rounding = 0.0 if exactly else grains[0].rounding(cells[0], grains[1], cells[1])
        same, weight = abs(value - other) <= rounding + noise_of(value), float(np.log2(1.0 + abs(value)))
        information, agreed, all_agree = information + weight, agreed + weight * same, all_agree and bool(same)
    return agreed > information * ENOUGH if information else bool(shared) and all_agree


def in_other_units(one: ArgusTable, two: ArgusTable) -> bool:
    """Return whether two tables are equal except for their unit, such as thousands."""
    largest = [float(np.abs(table.values).max(initial=0.0)) for table in (one, two)]
    if not all(largest):
        return False
    power = round(float(np.log10(largest[1] / largest[0])))
    # Counts of respondents are not rounded, so a rescaled count must match exactly.
    counts = [table.frequency is not None and np.array_equal(table.frequency, table.values) for table in (one, two)]
    return power != 0 and agree(one.with_columns(values=one.values * 10.0**power), two, counts[0] != counts[1])


def same_respondents(one: ArgusTable, two: ArgusTable) -> bool:
    """Return whether tables of different responses count the same records, by the number of respondents per cell."""
    if one.frequency is None or two.frequency is None:
        return False
    return agree(one.with_columns(values=one.frequency), two.with_columns(values=two.frequency))


def same_records(tables: Sequence[ArgusTable], sources: Sequence[Hashable] = ()) -> list[list[int]]:
    """Group tables that count the same records: most cells with the same codes have the same value.

    Args:
        sources: The source that each was counted from, or None if unknown; tables of one source count the same
            records.
    """
    sources = sources or [None] * len(tables)
    groups = [[number] for number in range(len(tables))]
    for one, two in combinations(range(len(tables)), 2):
        first, second = (next(group for group in groups if number in group) for number in (one, two))
        counted = sources[one] is not None and sources[one] == sources[two]
        if first is not second and (counted or agree(tables[one], tables[two])):
            first += second
            groups.remove(second)
    return [sorted(group) for group in groups]


def noise_of(value: float) -> float:
    """Return the numerical tolerance for a value."""
    return NOISE * max(1.0, abs(float(value)))


class SharedCells(State):
    """The cells of several tables, without duplicates.

    Attributes:
        tolerance: How far totals may differ from the sum of their parts.
        numbers: The number of each cell; cells that no table shows are added later.
        places: For each table, the numbers of its cells.
        origins: For each number, the first table that has the cell, and the position in it.
        others: For a cell whose value differs in other tables, the number it has in each of these.
        differing: Number of cells whose value differs from that of the same codes in another table.
    """

    tables: Sequence[ArgusTable]
    grains: Sequence[CellPrecision]
    tolerance: float
    numbers: dict[Identity, int] = field(default_factory=dict)
    places: list[Places] = field(default_factory=list)
    origins: list[tuple[int, int]] = field(default_factory=list)
    others: dict[int, dict[int, int]] = field(default_factory=dict)
    differing: int = 0

    def number_of(self, identity: Identity, number: int, cell: int) -> int:
        """Return the number of a cell: that of the same codes in another table if the value agrees, else a new one."""
        first = self.numbers.get(identity)
        if first is None:
            return self._new(identity, number, cell)
        value = float(self.tables[number].values[cell])
        variants = [first, *dict.fromkeys(self.others.get(first, {}).values())]
        same = (one for one in variants if abs(self.value(one) - value) <= self.tolerance + noise_of(value))
        place = next(same, None)
        self.differing += place != first
        if place is None:
            place = self._new(identity | own_identity(number, cell), number, cell)
        if place != first:
            self.others.setdefault(first, {})[number] = place
        return place

    def _new(self, identity: Identity, number: int, cell: int) -> int:
        self.origins.append((number, cell))
        return self.numbers.setdefault(identity, len(self.numbers))

    def value(self, place: int) -> float:
        """Return the value of a cell."""
        number, cell = self.origins[place]
        return float(self.tables[number].values[cell])

    @property
    def mixed(self) -> bool:
        """Whether tables differ in precision."""
        return len({grain.precision for grain in self.grains}) > 1

    def pairs(self) -> Iterator[Row]:
        """Yield pairs of cells with the same codes but different values; they may be one cell up to rounding."""
        for first, numbers in self.others.items():
            variants = [first, *dict.fromkeys(numbers.values())]
            for later, two in enumerate(variants):
                for one in variants[:later]:
                    yield [one, two], [-1.0, 1.0]

    def versions(self, row: Row) -> Iterator[Row]:
        """Yield a constraint between tables, with the cell numbers of the first and of each table with differing
        values.

        Raises:
            UnattainableError: The constraint has such a cell, and another that no table shows, whose value is therefore
                ambiguous.
        """
        cells, coefs = row
        changed = {number for cell in cells for number in self.others.get(cell, ())}
        if changed and any(cell >= len(self.origins) for cell in cells):
            raise UnattainableError("joint-values")
        yield row
        for number in sorted(changed):
            yield [self.others.get(cell, {}).get(number, cell) for cell in cells], coefs

    def residual(self, row: Row) -> tuple[float, float]:
        """Return the residual of a constraint between shown cells, and the one that numerical noise explains."""
        values = [self.value(cell) for cell in row[0]]
        off = float(np.array(row[1]) @ np.array(values))
        return off, self.tolerance + noise_of(max(map(abs, values)))

    def rounding(self, row: Row) -> float:
        """Return the residual that the different precision of tables explains; 0 if they have the same."""
        origins = [self.origins[cell] for cell in row[0]]
        steps = {self.grains[number].precision for number, _ in origins}
        finest, coefs = np.array([self.grains[number].finest[cell] for number, cell in origins]), np.array(row[1])
        sides = max(float(finest[coefs < 0].sum()), float(finest[coefs > 0].sum()))
        return max(steps) / 2 * sides if len(steps) > 1 else 0.0


def shared_cells(
    tables: Sequence[ArgusTable], identities: Iterable[Sequence[Identity]], tolerance: float
) -> SharedCells:
    """Collect the cells of several tables without duplicates, by identity."""
    shared = SharedCells(tables, [cell_precision(table) for table in tables], tolerance)
    for number, own in enumerate(identities):
        places = [shared.number_of(identity, number, cell) for cell, identity in enumerate(own)]
        shared.places.append(np.array(places, np.int64))
    return shared


class TiedRows(Value):
    """Constraints between tables.

    Attributes:
        rows: The constraints. One that holds only up to rounding or inconsistent records has a further cell, which
            holds the residual.
        off: The value of each of these cells.
        ranges: The known bounds of each of them.
    """

    rows: list[Row] = field(default_factory=list)
    off: list[float] = field(default_factory=list)
    ranges: list[tuple[float, float]] = field(default_factory=list)

    def add(self, row: Row, place: int, off: float, low: float, high: float) -> None:
        """Add a constraint with a residual; `place` is the number of the first residual cell."""
        self.rows.append(([*row[0], place + len(self.off)], [*row[1], -1.0]))
        self.off.append(off)
        self.ranges.append((low, high))


def tied_rows(shared: SharedCells, rows: Iterable[Row], loose: Iterable[Row] = ()) -> TiedRows:
    """Return the constraints between tables that hold, exactly or up to rounding; the others are dropped.

    Args:
        rows: The constraints.
        loose: Constraints that hold except for a few records; attackers are assumed to know at most twice their number.

    Raises:
        UnattainableError: The value of a cell in a constraint is ambiguous.
    """
    tied, shown, size = TiedRows(), len(shared.origins), len(shared.numbers)
    for row in (*shared.pairs(), *chain.from_iterable(map(shared.versions, rows))):
        if any(cell >= shown for cell in row[0]):
            tied.rows.append(row)
            continue
        (off, noise), most = shared.residual(row), shared.rounding(row)
        if most and abs(off) <= most:
            tied.add(row, size, off, -most, most)
        elif abs(off) <= noise:
            tied.rows.append(row)
    for row in loose:
        off, noise = shared.residual(row)
        if abs(off) <= noise:
            tied.rows.append(row)
        else:
            tied.add(row, size, off, min(0.0, 2 * off), max(0.0, 2 * off))
    return tied
