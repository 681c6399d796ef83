"""Identify cells that several tables share: the same codes and the same value, possibly with other decimals.

A cell in whole numbers and the same cell with decimals are two numbers of one quantity, at most half a unit of the
coarser table apart; if totals were added up from rounded cells, half a unit for each part.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from math import prod

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.tables.batch.coverage import Identity, coverage_of, finest_codes
from sfumato.tables.batch.linked_variables import own_identity
from sfumato.tables.batch.unshown_cells import Row
from sfumato.tables.cells.cells import Numbers, Places
from sfumato.tables.cells.precision import step_of
from sfumato.tables.office.office_table import OfficeTable

# Tables are of the same records where at least this share of what shared cells tell is the same.
ENOUGH = 0.25
# What values of the same cell may be off each other: noise of sums.
NOISE = 1e-9
# Tables are not rounded to more than this.
MOST_STEP = 1e9


@dataclass(frozen=True)
class Grain:
    """How exact the cells of a table are.

    Attributes:
        step: The smallest difference of two values.
        finest: How many of the finest cells each cell is made of, at most.
    """

    step: float
    finest: Numbers


def grain_of(table: OfficeTable) -> Grain:
    """How exact the cells of a table are."""
    counts = []
    for tree in table.trees:
        below: dict[tuple[str, ...], int] = {}
        for code in finest_codes(table, tree):
            place: tuple[str, ...] | None = code
            while place is not None:
                below[place] = below.get(place, 0) + 1
                place = tree.parents.get(place)
        counts.append(below)
    finest = [prod(own.get(code, 1) for own, code in zip(counts, key, strict=True)) for key in table.keys]
    return Grain(_coarsest_step(table.values), np.array(finest, np.float64))


def _coarsest_step(values: Numbers) -> float:
    """The largest power of ten that all values are multiples of: tables are published in tens and thousands, too.

    >>> _coarsest_step(np.array([300.0, 0.0, 20.0])), _coarsest_step(np.array([3.5])), _coarsest_step(np.zeros(2))
    (10.0, 0.1, 1.0)
    """
    step = step_of(values)
    there = values[values != 0]
    while step >= 1 and len(there) and step < MOST_STEP and (there % (10 * step) == 0).all():
        step *= 10
    return step


def rounding_between(one: Grain, cell: int, two: Grain, other: int) -> float:
    """How far two cells of one quantity may be apart; 0 where both tables have the same decimals."""
    if one.step == two.step:
        return 0.0
    return max(one.step, two.step) / 2 * max(float(one.finest[cell]), float(two.finest[other]))


def agree(one: OfficeTable, two: OfficeTable, exactly: bool = False) -> bool:
    """Whether cells of the same codes hold the same; small numbers, which agree by chance, count for less.

    Args:
        one: A table.
        two: Another.
        exactly: Whether no difference is taken for one of rounding.

    A new code may be called what an old one was called: codes are compared by what they stand for.
    """
    coverage, grains = coverage_of([one, two]), (grain_of(one), grain_of(two))
    first, second = (
        {coverage.identity(number, own, cell): cell for cell in range(len(own))}
        for number, own in enumerate((one, two))
    )
    shared = first.keys() & second.keys()
    weights = {key: float(np.log2(1.0 + abs(one.values[first[key]]))) for key in shared}
    same = {
        key
        for key in shared
        if abs(one.values[first[key]] - two.values[second[key]])
        <= (0.0 if exactly else rounding_between(grains[0], first[key], grains[1], second[key]))
        + noise_of(one.values[first[key]])
    }
    if not any(weights.values()):
        return bool(shared) and same == shared
    return sum(weights[key] for key in same) > sum(weights.values()) * ENOUGH


def in_other_units(one: OfficeTable, two: OfficeTable) -> bool:
    """Whether two tables are the same but for their unit: one in thousands of what the other is in."""
    largest = [float(np.abs(table.values).max(initial=0.0)) for table in (one, two)]
    if not all(largest):
        return False
    power = round(float(np.log10(largest[1] / largest[0])))
    # Numbers of respondents are not rounded: sums are these in another unit only where each is.
    exactly = _tells_counts(one) != _tells_counts(two)
    return power != 0 and agree(one.with_columns(values=one.values * 10.0**power), two, exactly)


def _tells_counts(table: OfficeTable) -> bool:
    """Whether a table tells its respondents, and they are what its cells hold."""
    return table.frequency is not None and np.array_equal(table.frequency, table.values)


def noise_of(value: float) -> float:
    """What a value may be off another that is the same."""
    return NOISE * max(1.0, abs(float(value)))


@dataclass
class SharedCells:
    """The cells of several tables, each once.

    Attributes:
        tables: The tables.
        grains: How exact each is.
        tolerance: How far totals may be off.
        numbers: The number of each cell; grows by cells that no table shows.
        places: The numbers of each table's cells.
        origins: For each number the first table that has the cell, and its place in it.
        others: For a cell whose codes hold something else in other tables, the number that it has in each of these.
        differing: How many cells hold something else than those of the same codes in another table.
    """

    tables: Sequence[OfficeTable]
    grains: Sequence[Grain]
    tolerance: float
    numbers: dict[Identity, int] = field(default_factory=dict)
    places: list[Places] = field(default_factory=list)
    origins: list[tuple[int, int]] = field(default_factory=list)
    others: dict[int, dict[int, int]] = field(default_factory=dict)
    differing: int = 0

    def add(self, number: int, identities: Sequence[Identity]) -> None:
        """Number the cells of a table by what each is."""
        own = []
        for cell, identity in enumerate(identities):
            first = self.numbers.get(identity)
            own.append(
                self._new(identity, number, cell) if first is None else self._same(first, number, cell, identity)
            )
        self.places.append(np.array(own, np.int64))

    def _same(self, first: int, number: int, cell: int, identity: Identity) -> int:
        """The number of a cell whose codes another table has: that one's, or one of its own."""
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
        """What a cell holds."""
        number, cell = self.origins[place]
        return float(self.tables[number].values[cell])

    @property
    def mixed(self) -> bool:
        """Whether tables differ in their decimals."""
        return len({grain.step for grain in self.grains}) > 1

    def pairs(self) -> Iterator[Row]:
        """Cells of the same codes that hold something else: they may be one but for rounding."""
        for first, numbers in self.others.items():
            variants = [first, *dict.fromkeys(numbers.values())]
            for later, two in enumerate(variants):
                for one in variants[:later]:
                    yield [one, two], [-1.0, 1.0]

    def views(self, row: Row) -> Iterator[Row]:
        """A relation between tables, by the numbers of the first, and of each that holds something else in its cells.

        Raises:
            UnattainableError: It has such a cell, and another that no table shows: nobody can tell what that one holds.
        """
        cells, coefs = row
        changed = {number for cell in cells for number in self.others.get(cell, ())}
        if changed and any(cell >= len(self.origins) for cell in cells):
            raise UnattainableError(
                "codes of tables overlap, and cells of the same codes hold different values in them.",
                "Give all tables the same values and decimals, or recode a variable alike in all of them.",
                "joint-values",
            )
        yield row
        for number in sorted(changed):
            yield [self.others.get(cell, {}).get(number, cell) for cell in cells], coefs

    def slack(self, row: Row) -> tuple[float, float]:
        """How far a relation between shown cells is off, and how far it may be by their decimals."""
        cells, coefs = np.array(row[0]), np.array(row[1])
        origins = [self.origins[cell] for cell in cells]
        steps = {self.grains[number].step for number, _ in origins}
        finest = np.array([self.grains[number].finest[cell] for number, cell in origins])
        sides = max(float(finest[coefs < 0].sum()), float(finest[coefs > 0].sum()))
        off = float(coefs @ np.array([self.value(cell) for cell in row[0]]))
        return off, max(steps) / 2 * sides if len(steps) > 1 else 0.0


@dataclass(frozen=True)
class TiedRows:
    """Relations between tables, as far as they hold.

    Attributes:
        rows: The relations; those that hold but for rounding, or for records whose codes do not fit the others, have a
            cell more, which holds what they are off.
        off: What each of these cells holds.
        ranges: What is known of each.
    """

    rows: list[Row]
    off: list[float]
    ranges: list[tuple[float, float]]

    def add(self, row: Row, place: int, off: float, low: float, high: float) -> None:
        """Add a relation that is off, with the number of the first cell for what such are off."""
        self.rows.append(([*row[0], place + len(self.off)], [*row[1], -1.0]))
        self.off.append(off)
        self.ranges.append((low, high))


def tied_rows(shared: SharedCells, rows: Sequence[Row]) -> TiedRows:
    """The relations between tables that hold, and those that hold but for rounding; the others are left out.

    Raises:
        UnattainableError: Nobody can tell of one.
    """
    tied = TiedRows([], [], [])
    shown = len(shared.origins)
    for cells, coefs in (*shared.pairs(), *(view for row in rows for view in shared.views(row))):
        if any(cell >= shown for cell in cells):
            tied.rows.append((cells, coefs))
            continue
        off, most = shared.slack((cells, coefs))
        if most and abs(off) <= most:
            tied.add((cells, coefs), len(shared.numbers), off, -most, most)
        elif abs(off) <= shared.tolerance + _noise(shared, cells):
            tied.rows.append((cells, coefs))
    return tied


def add_loose(tied: TiedRows, shared: SharedCells, rows: Iterable[Row]) -> None:
    """Add relations that hold but for a few records: nobody knows how many, and somebody that they are not twice that.

    Args:
        tied: The relations that hold.
        shared: The cells.
        rows: Those that would hold without these records.
    """
    for cells, coefs in rows:
        off = sum(coef * shared.value(cell) for cell, coef in zip(cells, coefs, strict=True))
        if abs(off) <= shared.tolerance + _noise(shared, cells):
            tied.rows.append((cells, coefs))
        else:
            tied.add((cells, coefs), len(shared.numbers), off, min(0.0, 2 * off), max(0.0, 2 * off))


def _noise(shared: SharedCells, cells: Sequence[int]) -> float:
    return noise_of(max(abs(shared.value(cell)) for cell in cells))


def shared_cells(
    tables: Sequence[OfficeTable], identities: Sequence[Sequence[Identity]], tolerance: float
) -> SharedCells:
    """The cells of several tables, each once, by what each cell is."""
    shared = SharedCells(tables, [grain_of(table) for table in tables], tolerance)
    for number, own in enumerate(identities):
        shared.add(number, own)
    return shared
