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
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.argus.statuses import masked_of
from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.formats.argus_outputs import Protected
from sfumato.tables.linked.cross import TableCells
from sfumato.tables.linked.from_office import VariableTable, own_identity
from sfumato.tables.linked.ties import Row
from sfumato.tables.linked.view import Identity, coverage_of, finest_codes

# Tables count the same records if at least this share of the information in common cells agrees.
ENOUGH = 0.25
# Relative tolerance between values of the same cell, for rounding errors of sums.
NOISE = 1e-9
# The coarsest precision that is considered.
MOST_STEP = 1e9


@dataclass(frozen=True)
class CellPrecision:
    """The precision of the cells of a table.

    Attributes:
        precision: The smallest difference of two values.
        finest: Number of finest cells that each cell consists of, at most.
    """

    precision: float
    finest: Numbers


def cell_precision(table: ArgusTable) -> CellPrecision:
    """Return the precision of the cells of a table."""
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


def rounding_between(one: CellPrecision, cell: int, two: CellPrecision, other: int) -> float:
    """Return how far two values of one cell may differ by rounding; 0 if the tables have the same precision."""
    if one.precision == two.precision:
        return 0.0
    return max(one.precision, two.precision) / 2 * max(float(one.finest[cell]), float(two.finest[other]))


def agree(one: ArgusTable, two: ArgusTable, exactly: bool = False) -> bool:
    """Return whether cells with the same codes have the same values; small numbers have less weight.

    Args:
        one: A table.
        two: Another table.
        exactly: Whether rounding differences count as differences.

    Codes are compared by what they cover, since a new code may reuse the name of an old one.
    """
    coverage, grains = coverage_of([one, two]), (cell_precision(one), cell_precision(two))
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


def in_other_units(one: ArgusTable, two: ArgusTable) -> bool:
    """Return whether two tables are equal except for their unit, such as thousands."""
    largest = [float(np.abs(table.values).max(initial=0.0)) for table in (one, two)]
    if not all(largest):
        return False
    power = round(float(np.log10(largest[1] / largest[0])))
    # Counts of respondents are not rounded, so a rescaled count must match exactly.
    exactly = _tells_counts(one) != _tells_counts(two)
    return power != 0 and agree(one.with_columns(values=one.values * 10.0**power), two, exactly)


def _tells_counts(table: ArgusTable) -> bool:
    """Return whether the values of a table are its numbers of respondents."""
    return table.frequency is not None and np.array_equal(table.frequency, table.values)


def noise_of(value: float) -> float:
    """Return the numerical tolerance for a value."""
    return NOISE * max(1.0, abs(float(value)))


@dataclass
class SharedCells:
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

    def add(self, number: int, identities: Sequence[Identity]) -> None:
        """Number the cells of a table by their identities."""
        own = []
        for cell, identity in enumerate(identities):
            first = self.numbers.get(identity)
            own.append(
                self._new(identity, number, cell) if first is None else self._same(first, number, cell, identity)
            )
        self.places.append(np.array(own, np.int64))

    def _same(self, first: int, number: int, cell: int, identity: Identity) -> int:
        """Return the number of a cell whose codes another table has: the same number if the value agrees, else a new
        one.
        """
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

    def views(self, row: Row) -> Iterator[Row]:
        """Yield a constraint between tables, with the cell numbers of the first and of each table with differing
        values.

        Raises:
            UnattainableError: It has such a cell, and another that no table shows, whose value is therefore
                ambiguous.
        """
        cells, coefs = row
        changed = {number for cell in cells for number in self.others.get(cell, ())}
        if changed and any(cell >= len(self.origins) for cell in cells):
            raise UnattainableError("joint-values")
        yield row
        for number in sorted(changed):
            yield [self.others.get(cell, {}).get(number, cell) for cell in cells], coefs

    def slack(self, row: Row) -> tuple[float, float]:
        """Return the residual of a constraint between shown cells, and the residual that their precision allows."""
        cells, coefs = np.array(row[0]), np.array(row[1])
        origins = [self.origins[cell] for cell in cells]
        steps = {self.grains[number].precision for number, _ in origins}
        finest = np.array([self.grains[number].finest[cell] for number, cell in origins])
        sides = max(float(finest[coefs < 0].sum()), float(finest[coefs > 0].sum()))
        off = float(coefs @ np.array([self.value(cell) for cell in row[0]]))
        return off, max(steps) / 2 * sides if len(steps) > 1 else 0.0


@dataclass(frozen=True)
class TiedRows:
    """Constraints between tables.

    Attributes:
        rows: The constraints. One that holds only up to rounding or inconsistent records has a further cell, which
            holds the residual.
        off: The value of each of these cells.
        ranges: The known bounds of each of them.
    """

    rows: list[Row]
    off: list[float]
    ranges: list[tuple[float, float]]

    def add(self, row: Row, place: int, off: float, low: float, high: float) -> None:
        """Add a constraint with a residual; `place` is the number of the first residual cell."""
        self.rows.append(([*row[0], place + len(self.off)], [*row[1], -1.0]))
        self.off.append(off)
        self.ranges.append((low, high))


def tied_rows(shared: SharedCells, rows: Sequence[Row]) -> TiedRows:
    """Return the constraints between tables that hold, exactly or up to rounding; the others are dropped.

    Raises:
        UnattainableError: The value of a cell in a constraint is ambiguous.
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
    """Add constraints that hold except for a few records; attackers are assumed to know at most twice their number.

    Args:
        tied: The constraints that hold.
        rows: The constraints that would hold without these records.
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
    tables: Sequence[ArgusTable], identities: Sequence[Sequence[Identity]], tolerance: float
) -> SharedCells:
    """Collect the cells of several tables without duplicates, by identity."""
    shared = SharedCells(tables, [cell_precision(table) for table in tables], tolerance)
    for number, own in enumerate(identities):
        shared.add(number, own)
    return shared


@dataclass(frozen=True, slots=True)
class ZeroPattern:
    """Which cells of a table have records.

    Attributes:
        filled: Which of its cells may have records; cells that it does not list have none.
    """

    table: ArgusTable
    filled: BoolArray

    def by(self, view: VariableTable) -> "ZeroPattern":
        """Return the same in linked variables."""
        return ZeroPattern(view.table, self.filled[view.cells])

    @property
    def cells(self) -> TableCells:
        """The table, used only for its empty cells."""
        return TableCells(self.table, np.zeros(0, np.int64), filled=self.filled)


def presence_of(table: ArgusTable, changed: bool = False) -> ZeroPattern:
    """Return which cells have records, as far as the table shows; perturbed or suppressed cells always may have some.

    Args:
        changed: Whether its numbers were perturbed.
    """
    if changed or table.frequency is None:
        return ZeroPattern(table, np.ones(len(table), bool))
    return ZeroPattern(table, np.asarray((table.frequency > 0) | masked_of(table.statuses)))


def shown_presence(done: Protected) -> ZeroPattern:
    """Return which cells have records, as far as the published table shows."""
    return presence_of(done.table, done.published is not None)


def same_respondents(one: ArgusTable, two: ArgusTable) -> bool:
    """Return whether tables of different responses count the same records, by the number of respondents per cell."""
    if one.frequency is None or two.frequency is None:
        return False
    return agree(one.with_columns(values=one.frequency), two.with_columns(values=two.frequency))
