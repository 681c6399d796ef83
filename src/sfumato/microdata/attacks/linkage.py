"""Linkage attack: the attacker knows two sets of columns of a person and checks whether both lead to the same row.

Giomi et al. (2023). Ties between equally near rows are broken at random. With a register of persons, the attack also
counts the persons whom exactly one published row matches.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.localization.messages import Message
from sfumato.microdata.attacks import kernels
from sfumato.microdata.attacks.coded_rows import AttackColumn, AttackRows, Codes
from sfumato.microdata.attacks.kernels import ONE, Listing, Sides, Turns
from sfumato.microdata.attacks.label_semantics import Floats
from sfumato.microdata.attacks.result import AttackResult, Rate
from sfumato.microdata.attacks.singling_out import Told
from sfumato.values import Value

Ints = npt.NDArray[np.int64]

TABLE, NUMBERS, EQUALITY, UNKNOWN = 0, 1, 2, 3
# Batch size of targets, small enough for regular progress reports.
AT_ONCE = 100
# Number of rows visited in random order before those that are nearest by a column.
LOOKED_AT = 500
_MOST_KEYS = 1 << 62
# Missing numbers have distance 0 to each other and the maximum distance to all others.
_MISSING = 1 << 60
_FURTHEST = 1 << 58
# Up to these numbers of decimals and of steps in a range, numbers are compared exactly.
_MOST_DECIMALS, _MOST_STEPS = 6, 1 << 34


class Votes(Value):
    """The values of a column in the nearest rows of each target.

    Attributes:
        labels: The most frequent label.
        counts: The count of the most frequent label.
        next_labels: The second most frequent label, or -1 if there is none.
        next_counts: The count of the second most frequent label.
        rows: The number of nearest rows.
    """

    labels: Ints
    counts: Ints
    next_labels: Ints
    next_counts: Ints
    rows: Ints

    def without(self, own: Ints) -> Ints:
        """Return the most frequent label without some own rows of each target that have the true value; -1 for none.

        If the label is wrong for a target, no vote for it is removed.
        """
        left = self.counts - own
        # Of equally frequent labels, the first is returned.
        overtaken = (self.next_counts > left) | ((self.next_counts == left) & (self.next_labels < self.labels))
        said = np.where(overtaken, self.next_labels, self.labels)
        return np.where((left <= 0) & (self.next_counts == 0), -1, said)


class NeighborSpace(Value):
    """Published rows and targets as arrays for the compiled loops; see the kernels for the shapes."""

    columns: tuple[AttackColumn, ...]
    sides: Sides

    def nearest(
        self, count: int, random: np.random.Generator, told: Told = lambda: None, look: int = LOOKED_AT
    ) -> Ints:
        """Return the `count` nearest published rows of each target; ties are broken at random."""
        published, targets = len(self.sides.labels), len(self.sides.values)
        firsts = random.integers(max(published, 1), size=targets)
        order = random.permutation(published)
        ranks = np.empty(published, np.int64)
        ranks[order] = np.arange(published)
        listed = self._listed(None)
        parts = [np.zeros((0, count), np.int64)]
        for part, some in self._some():
            parts.append(kernels.nearest(part, Turns(order, ranks, firsts[some]), count, look, *listed))
            told()
        return np.concatenate(parts)

    def votes(self, names: Sequence[str], told: Told = lambda: None) -> tuple[Votes, ...]:
        """Return for each of these columns the votes of the rows that are nearest by all others."""
        return tuple(self._votes(name, told) for name in names)

    def _votes(self, name: str, told: Told) -> Votes:
        place = next(place for place, column in enumerate(self.columns) if column.name == name)
        size, listed = len(self.columns[place].labels), self._listed(place)
        parts = [np.zeros((0, 5), np.int64)]
        for part, _ in self._some():
            parts.append(kernels.guesses(part, place, size, *listed))
            told()
        return Votes(*np.concatenate(parts).T)

    def _some(self) -> Iterator[tuple[Sides, slice]]:
        """Yield the arguments of the loops for batches of targets."""
        for start in range(0, len(self.sides.values), AT_ONCE):
            some = slice(start, start + AT_ONCE)
            yield self.sides._replace(values=self.sides.values[some], numbers=self.sides.numbers[some]), some

    def _listed(self, left_out: int | None) -> tuple[int, Listing]:
        """Return the most distinguishing column, and the rows by its labels."""
        kinds, published = self.sides.kinds, self.sides.labels
        known = [place for place in range(len(kinds)) if place != left_out and kinds[place] != UNKNOWN]
        none, ends = np.zeros(0, np.int64), np.array([0, len(published)], np.int64)
        if not known:
            members = np.arange(len(published), dtype=np.int32)
            return -1, Listing(members, ends, np.array([0, 1], np.int64), none, none)
        known.sort(key=lambda one: _sameness(self.columns[one]))
        keys = _keys([self.columns[one] for one in known])
        members = np.argsort(keys, kind="stable").astype(np.int32)
        ends = np.flatnonzero(np.diff(keys[members], prepend=-1, append=-1)).astype(np.int64)
        of_groups = published[members[ends[:-1]], known[0]]
        begins = np.searchsorted(of_groups, np.arange(len(self.columns[known[0]].labels) + 1)).astype(np.int64)
        if kinds[known[0]] != NUMBERS or not len(members):
            return known[0], Listing(members, ends, begins, none, none)
        numbers = self.sides.low[members[ends[begins[:-1]]], known[0]]  # every label occurs in some row
        order = np.argsort(numbers, kind="stable")
        return known[0], Listing(members, ends, begins, order, numbers[order])


def _keys(columns: Sequence[AttackColumn]) -> Ints:
    """Number rows so that rows equal in these columns share a number, in the order of the first column's codes."""
    keys, size = columns[0].published.astype(np.int64), len(columns[0].labels)
    for column in columns[1:]:
        if size * len(column.labels) > _MOST_KEYS:
            found, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.ravel().astype(np.int64), len(found)
        keys, size = keys * len(column.labels) + column.published, size * len(column.labels)
    return keys


def _sameness(column: AttackColumn) -> float:
    """Return the probability that two rows have the same label."""
    shares = np.bincount(column.published) / max(len(column.published), 1)
    return float((shares**2).sum())


def space_of(columns: Sequence[AttackColumn], targets: Sequence[Codes], unknown: Collection[str] = ()) -> NeighborSpace:
    """Build the space of some columns.

    Args:
        targets: For each column, the value codes of the targets.
        unknown: Columns that the attacker does not know of them.
    """
    kinds = [UNKNOWN if column.name in unknown else _kind(column) for column in columns]
    tables = [_table(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    numbers = [_numbers(column, kind, codes) for column, kind, codes in zip(columns, kinds, targets, strict=True)]
    codes = [_comparable(column, kind, codes) for column, kind, codes in zip(columns, kinds, targets, strict=True)]
    return NeighborSpace(
        tuple(columns),
        Sides(
            np.array(kinds, np.int64),
            np.cumsum([0, *map(len, tables[:-1])]).astype(np.int64),
            np.array([len(column.values) for column in columns], np.int64),
            np.concatenate(tables) if tables else np.zeros(0, np.int64),
            _side_by_side([column.published for column in columns], np.int32),
            _side_by_side([labels for labels, _ in numbers], np.int64),
            _side_by_side(codes, np.int32),
            _side_by_side([values for _, values in numbers], np.int64),
        ),
    )


def _side_by_side(columns: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    """Return columns as an array with contiguous rows."""
    return np.ascontiguousarray(np.array(columns, kind).T)


def _kind(column: AttackColumn) -> int:
    if column.numbers is not None and (column.is_large or column.ladder is None):
        return NUMBERS
    return EQUALITY if column.is_large else TABLE


def _table(column: AttackColumn, kind: int) -> npt.NDArray[np.int64]:
    if kind != TABLE:
        return np.zeros(0, np.int64)
    table: npt.NDArray[np.int64] = np.rint(column.distance.ravel() * float(ONE)).astype(np.int64)
    return table


def _comparable(column: AttackColumn, kind: int, codes: Codes) -> Codes:
    """Return the codes of targets; if they are compared with labels directly, the label's code, -1 for none."""
    if kind != EQUALITY:
        return codes
    return column.label_places.astype(np.int32)[codes]


def _numbers(column: AttackColumn, kind: int, codes: Codes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the numbers of published rows and of targets, as shares of the range of values."""
    if kind != NUMBERS or column.numbers is None:
        return np.zeros(len(column.published), np.int64), np.zeros(len(codes), np.int64)
    labels, values = column.numbers
    spread = max(float(np.nanmax(values) - np.nanmin(values)), 1e-12)
    step = _step(np.concatenate([labels, values]), spread)
    return _shares(labels, spread, step)[column.published], _shares(values, spread, step)[codes]


def _step(numbers: Floats, spread: float) -> float:
    """Return the decimal precision of which all numbers are multiples, 0 if there is no relevant one.

    >>> _step(np.array([1.5, 2.25, np.nan]), 0.75), _step(np.array([1 / 3]), 1.0)
    (0.01, 0.0)
    """
    there = numbers[np.isfinite(numbers)]
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = there * 10.0**decimals
        if spread * 10.0**decimals > _MOST_STEPS:
            return 0.0
        if np.allclose(scaled, np.rint(scaled), rtol=0, atol=1e-6):
            return float(10.0**-decimals)
    return 0.0


def _shares(numbers: Floats, spread: float, step: float) -> npt.NDArray[np.int64]:
    """Return numbers as shares of a range, rounded to multiples of one step so that equal distances stay equal."""
    there = np.nan_to_num(numbers)
    if step:
        share = ONE // max(round(spread / step), 1)
        steps = np.rint(np.clip(there / step, -_MOST_STEPS, _MOST_STEPS)).astype(np.int64)
        whole = np.clip(steps, -_FURTHEST // share, _FURTHEST // share) * share
    else:
        whole = np.rint(np.clip(there / spread * ONE, -_FURTHEST, _FURTHEST)).astype(np.int64)
    return np.where(np.isnan(numbers), _MISSING, whole)


NAME = "linking"


def link(
    rows: AttackRows, attempts: int, random: np.random.Generator, neighbors: int = 1, told: Told = lambda: None
) -> AttackResult | None:
    """Run the attack with the published columns divided into two sets; None if there are fewer than two.

    Args:
        told: Progress callback, called after each part of the work.
    """
    columns = rows.shown
    if len(columns) < 2:
        return None
    order = random.permutation(len(columns))
    first, second = ([columns[place] for place in sorted(part)] for part in (order[::2], order[1::2]))
    published, of_raw, of_control = rows.sizes
    raw = _hits(first, second, "raw", _sample(of_raw, attempts, random), neighbors, random, told)
    control = _hits(first, second, "control", _sample(of_control, attempts, random), neighbors, random, told)
    chance = 1 - (1 - min(neighbors / published, 1.0)) ** neighbors
    sets = [[column.name for column in part] for part in (first, second)]
    details = {"columns": sets, "neighbors": neighbors}
    return AttackResult(
        NAME, Message("note.attack_sets"), raw, Rate(chance * raw.attempts, raw.attempts), control, details=details
    )


def _sample(size: int, attempts: int, random: np.random.Generator) -> Codes:
    chosen: Codes = random.permutation(size)[:attempts].astype(np.int32)
    return chosen


def _hits(
    first: Sequence[AttackColumn],
    second: Sequence[AttackColumn],
    which: str,
    targets: Codes,
    neighbors: int,
    random: np.random.Generator,
    told: Told,
) -> Rate:
    found = []
    for columns in (first, second):
        space = space_of(columns, [getattr(column, which)[targets] for column in columns])
        found.append(space.nearest(neighbors, random, told))
    shared = (found[0][:, :, None] == found[1][:, None, :]).any(axis=(1, 2))
    return Rate(int(shared.sum()), len(targets))


def link_register(rows: AttackRows, members: Codes, strangers: Codes) -> AttackResult:
    """Count the persons of a register whom exactly one published row matches in all shared columns.

    Args:
        rows: The attacked rows, with the register's rows as the original ones.
        members: Register rows of persons who are in the data.
        strangers: Register rows of persons who are not in the data.
    """
    fits = _fitting(rows.shown)
    alone = fits == 1
    return AttackResult(
        NAME,
        Message("note.attack_register"),
        Rate(int(alone[members].sum()), len(members)),
        Rate(len(members) / max(rows.sizes[0], 1), len(members)),
        Rate(int(alone[strangers].sum()), len(strangers)) if len(strangers) else None,
        details={"columns": [column.name for column in rows.shown]},
    )


def _fitting(columns: Sequence[AttackColumn]) -> Codes:
    """Return, for each row of the register, the number of published rows that match it."""
    number = len(columns[0].raw)
    counts = np.zeros(number, np.int32)
    for row in range(number):
        fit = np.ones(len(columns[0].published), bool)
        for column in columns:
            value = column.raw[row]
            if column.is_large:
                fit &= column.published == column.label_places[value]
            else:
                fit &= column.covers[:, value][column.published]
        counts[row] = fit.sum()
    return counts
