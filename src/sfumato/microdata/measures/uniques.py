"""Rows that few columns make unique: sets of columns, special uniques (SUDA), and rows that force generalization.

Elliot, M., Manning, A., Ford, R. (2002). A computational algorithm for handling the special uniques problem,
https://doi.org/10.1142/S0218488502001600; Manning, A., Haglin, D., Keane, J. (2008). A recursive search algorithm for
statistical disclosure assessment (SUDA2), https://doi.org/10.1007/s10618-007-0078-6. A minimal unique of a row is a set
of columns that makes it unique while no proper subset does. A row's score is the sum over its minimal uniques of size s
of (M - s)!, for M columns. DIS (Skinner, C., Elliot, M. (2002), https://doi.org/10.1111/1467-9868.00365) is the
probability that a match with a unique row is correct; it is distributed over the rows by their scores (Elliot et al.
2005). If there are too many sets, only those up to some size are examined, and the result says so.

The fewer columns make a row unique, the more it forces: a row unique by one column forces this column to a higher
level; a row unique only by all columns together is protected by a small generalization of any of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from math import comb, factorial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.combinations import Words
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Owners, Regrouper
from sfumato.microdata.measures import kernels as column_set_kernels
from sfumato.microdata.models.equivalence_classes import Counts, Floats, histogram
from sfumato.microdata.models.persons import PERSONS, persons_in
from sfumato.values import Value, field, shown

# Limit of cached classes from which smaller sets are grouped; the others are grouped from the full table.
MOST_KEPT = 20_000_000


class ColumnSet(Value):
    """One set of columns.

    Attributes:
        columns: The indices of the columns in the table.
        classes: The number of classes by these columns.
        uniques: The number of unique rows.
        pairs: The number of ordered pairs of rows in the same class.
        singled: The bits of the unique combinations, 64 in a word.
    """

    columns: tuple[int, ...]
    classes: int
    uniques: int
    pairs: float
    singled: Words


class _Classes(NamedTuple):
    """Packed values and rows of each class, and the index of one of its combinations."""

    keys: Words
    counts: Counts
    rows: Owners


def column_sets(table: FrequencyTable, largest: int) -> Iterator[list[ColumnSet]]:
    """Yield all sets of up to `largest` columns, grouped by size, large ones first."""
    width = len(table.columns)
    grouper = Regrouper(table)
    whole = _Classes(grouper.keys, table.counts, np.arange(len(table.counts), dtype=np.int32))
    above: dict[int, _Classes] = {}
    for size in range(largest, 0, -1):
        sets, here, room = [], {}, MOST_KEPT
        for chosen in combinations(range(width), size):
            bits = sum(1 << column for column in chosen)
            near = (above.get(bits | 1 << column) for column in range(width) if not bits >> column & 1)
            source = min((classes for classes in near if classes), key=lambda one: len(one.counts), default=whole)
            one, classes = _grouped(grouper, chosen, source, len(table.counts))
            sets.append(one)
            room -= len(classes.counts)
            if size > 1 and room > 0:
                here[bits] = classes
        above = here
        yield sets


def _grouped(
    grouper: Regrouper, chosen: tuple[int, ...], source: _Classes, combinations_: int
) -> tuple[ColumnSet, _Classes]:
    """Return a set of columns, and its classes, from those of a superset."""
    keys, counts = grouper.by(chosen, source.keys, source.counts)
    singled: Words = np.zeros((combinations_ + 63) // 64, np.uint64)
    rows: npt.NDArray[np.int32] = np.empty(len(counts), np.int32)
    owners = grouper.owners(len(source.counts))
    uniques, pairs = column_set_kernels.single_out(owners, counts, source.rows, rows, singled)
    return ColumnSet(chosen, len(counts), uniques, pairs, singled), _Classes(keys, counts, rows)


# The default sampling fraction of DIS.
USUAL_FRACTION = 0.01
# Limit of the work, some seconds: rows times sets of columns.
MOST_WORK = 400_000_000
# Maximum number of sets, even for few rows.
_MOST_SETS = 20_000
Bytes = npt.NDArray[np.uint8]


class SpecialUniques(Value):
    """The special uniques of a table.

    Attributes:
        rows: Number of rows with a minimal unique.
        sizes: Number of minimal uniques by their number of columns.
        columns: Each column's proportion of all scores; the proportions add up to more than 1.
        dis: The probability that a match with a unique row is correct.
        fraction: The assumed sampling fraction.
        highest_dis: The DIS of the row with the greatest score.
        largest: Maximum size of the examined sets.
        complete: Whether all sets were examined.
        certain: Whether DIS is 1 only because all rows are different.
        singled_out: For each column, the number of rows that are unique by this column alone.
        scores: The score of each combination; for the caller only, never in a report.
        shares: The columns' proportions of each combination's score; for the caller only.
        row_dis: The DIS of each combination; for the caller only.
        fewest: For each combination the fewest columns that make it unique, 0 if none do; for the caller only.
    """

    rows: int
    sizes: tuple[int, ...]
    columns: Mapping[str, float]
    dis: float
    fraction: float
    highest_dis: float
    largest: int
    complete: bool
    certain: bool
    scores: Floats = field(default_factory=lambda: np.zeros(0))
    shares: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    row_dis: Floats = field(default_factory=lambda: np.zeros(0))
    singled_out: tuple[int, ...] = ()
    fewest: Bytes = field(default_factory=lambda: np.zeros(0, np.uint8))

    def __repr__(self) -> str:
        return shown(self, "scores", "shares", "row_dis", "fewest")

    def to_dict(self) -> dict[str, object]:
        """Return plain values, without anything about single rows."""
        names = ("rows", "sizes", "dis", "fraction", "highest_dis", "largest", "complete", "certain")
        return {name: getattr(self, name) for name in names} | {"columns": dict(self.columns)}


def special_uniques(
    table: FrequencyTable,
    fraction: float | None = None,
    work: int = MOST_WORK,
    sets: Iterable[list[ColumnSet]] | None = None,
) -> SpecialUniques:
    """Return the special uniques of a frequency table.

    Args:
        fraction: The sampling fraction; by default from the weights if there are some, else 0.01.
        work: Limit of rows times sets of columns.
        sets: All sets of columns, if already computed.
    """
    width = len(table.columns)
    largest = _largest(width, len(table.counts), work)
    search = _Scores(table)
    search.add(column_sets(table, largest) if sets is None else sets)
    exhausted = search.enough
    largest = exhausted or largest
    total = float(search.scores.sum())
    taken = _fraction(table) if fraction is None else fraction
    uniques, pairs = int((table.counts == 1).sum()), 2 * int((table.counts == 2).sum())
    dis = dis_of(uniques, pairs, taken)
    row_dis = dis_of_rows(search.scores, uniques, dis, width)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(search.scores[:, None] > 0, search.shares / search.scores[:, None], 0.0)
    columns = search.shares.sum(axis=0) / total if total else np.zeros(width)
    return SpecialUniques(
        int((search.scores > 0).sum()),
        tuple(search.sizes[:largest]),
        dict(zip(table.columns, columns.tolist(), strict=True)),
        dis,
        taken,
        float(row_dis.max(initial=0.0)),
        largest,
        exhausted is not None or largest == width,
        bool(uniques and not pairs),
        search.scores,
        shares,
        row_dis,
        search.singled_out,
        search.fewest,
    )


def _largest(width: int, rows: int, work: int) -> int:
    """Return the maximum size of sets that the work limit allows."""
    sets = 0
    for size in range(1, width + 1):
        sets += comb(width, size)
        if size > 1 and (sets * rows > work or sets > _MOST_SETS):
            return size - 1
    return width


def _fraction(table: FrequencyTable) -> float:
    weights = None if table.sample is None else table.sample.weights
    return USUAL_FRACTION if weights is None else table.rows * 1e6 / float(weights.sum())


def dis_of(uniques: int, pairs: int, fraction: float) -> float:
    """Return the probability that a match with a unique row is correct.

    Args:
        uniques: Number of unique rows.
        pairs: Number of rows in classes of exactly two.

    >>> round(dis_of(4, 4, 0.01), 8), round(dis_of(4, 6, 0.01), 8)
    (0.01, 0.00668896)
    """
    right = uniques * fraction
    return right / (right + pairs * (1 - fraction)) if uniques else 0.0


def dis_of_rows(scores: Floats, uniques: int, dis: float, width: int) -> Floats:
    """Return DIS distributed over rows by their scores; 0 for rows without one."""
    shares = np.zeros(len(scores))
    scored = scores > 0
    if not scored.any() or not dis:
        return shares
    power = 1 + (8 - width) / 20
    strength = scores[scored] ** power * (scores[scored] ** -power).sum()
    shares[scored] = 1 / (1 + (uniques / dis - uniques) / strength)
    return shares


class _Scores:
    """The scores of rows, added up over sets of columns from large to small."""

    def __init__(self, table: FrequencyTable) -> None:
        rows, self.width = len(table.counts), len(table.columns)
        self.scores, self.shares = np.zeros(rows), np.zeros((rows, self.width))
        self.fewest = np.zeros(rows, np.uint8)
        self.singled_out: tuple[int, ...] = ()
        self.sizes: list[int] = []
        self._uniques = int((table.counts == 1).sum())
        self._exhausted: list[bool] = []

    def add(self, levels: Iterable[list[ColumnSet]]) -> None:
        """Add the points of all sets, grouped by size."""
        larger: list[ColumnSet] = []
        for sets in levels:
            self._score(larger, sets)
            larger = sets
        self._score(larger, [])
        self.singled_out = tuple(one.uniques for one in larger)
        self.sizes.reverse()
        self._exhausted.reverse()

    def _score(self, sets: list[ColumnSet], smaller: list[ColumnSet]) -> None:
        """Add the points of sets of a size, given the sets with one column less."""
        if not sets:
            return
        parts = {one.columns: one.singled for one in smaller}
        size = len(sets[0].columns)
        points, uniques = float(factorial(self.width - size)), 0
        for one in sets:
            within = [parts[one.columns[:at] + one.columns[at + 1 :]] for at in range(size) if size > 1]
            known = np.array(within) if within else np.zeros((0, len(one.singled)), np.uint64)
            columns = np.array(one.columns, np.int64)
            uniques += column_set_kernels.score(
                one.singled, known, columns, points, self.scores, self.shares, self.fewest
            )
        self.sizes.append(uniques)
        self._exhausted.append(all(one.uniques == self._uniques for one in sets))

    @property
    def enough(self) -> int | None:
        """The size at which every set makes all unique rows unique; None if there is none."""
        return next((size for size, ends in enumerate(self._exhausted, 1) if ends), None)


MOST_COLUMNS = 3
# Limit of the work, about a second: combinations times sets of columns.
MAX_WORK = 60_000_000


class MinimalUniques(Value):
    """Unique rows by the smallest number of columns that make them unique.

    Attributes:
        by_columns: For 1, 2, … columns, the number of rows that need exactly this many columns to be unique.
        more: Unique rows for which more columns are needed.
        columns: For each column, the number of rows unique by it alone; with a person column, the rows of persons
        with a value that no other person has. Empty if the table is too large.
        combinations: Indices, in the frequency table, of the rows that one or two columns make unique.
    """

    by_columns: tuple[int, ...]
    more: int
    columns: tuple[tuple[str, int], ...]
    combinations: tuple[int, ...] = ()


def outliers(table: FrequencyTable, special: SpecialUniques, most_work: int = MAX_WORK) -> MinimalUniques:
    """Return the rows that up to three columns make unique (fewer if the table is very large or wide)."""
    reach = _reach(table, most_work)
    reach = reach if special.complete else min(reach, special.largest)
    alone = (_alone_by_persons(table) if table.persons else special.singled_out) if reach else ()
    fewest = special.fewest[(special.fewest > 0) & (special.fewest <= reach)]
    by_columns = tuple(np.bincount(fewest, minlength=1)[1:].tolist())
    return MinimalUniques(
        by_columns,
        int((table.counts == 1).sum()) - len(fewest),
        tuple(zip(table.columns, alone, strict=False)),
        tuple(np.flatnonzero((special.fewest > 0) & (special.fewest <= min(reach, 2))).tolist()),
    )


def _reach(table: FrequencyTable, most_work: int) -> int:
    """Return the maximum number of columns in a set."""
    width, work = len(table.columns), 0
    for columns in range(1, min(MOST_COLUMNS, width) + 1):
        work += comb(width, columns) * len(table.counts)
        if work > most_work:
            return columns - 1
    return min(MOST_COLUMNS, width)


def _alone_by_persons(table: FrequencyTable) -> list[int]:
    """Return for each column the rows whose value only rows of one person have."""
    grouper, members = Regrouper(table), table.persons[PERSONS]
    alone = []
    for place in range(len(table.columns)):
        owners, sizes = grouper.sizes_by((place,))
        by_value = histogram(owners[members.owners], members.values, members.counts, len(sizes), members.size)
        alone.append(int(sizes[persons_in(by_value) == 1].sum()))
    return alone
