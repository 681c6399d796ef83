"""Neighbors: the published rows that are nearest to a person by some columns, as Gower measures it."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.attacks import neighbor_kernels as kernels
from sfumato.microdata.attacks.labels import Floats
from sfumato.microdata.attacks.neighbor_kernels import ONE
from sfumato.microdata.attacks.rows import AttackColumn, Codes

Ints = npt.NDArray[np.int64]

TABLE, NUMBERS, EQUALITY, UNKNOWN = 0, 1, 2, 3
# Numbers that are missing are as near to each other as can be, and far from all others.
_MISSING = 1 << 60
_FURTHEST = 1 << 58
# Numbers with so many decimals, and ranges of so many steps, are compared exactly.
_MOST_DECIMALS, _MOST_STEPS = 6, 1 << 34


@dataclass(frozen=True, slots=True)
class Votes:
    """What the nearest rows of each target say of a column.

    Attributes:
        labels, counts: What most of them say, and how many do.
        next_labels, next_counts: What is said most besides, -1 where nothing is, and by how many.
        rows: How many rows are nearest.
    """

    labels: Ints
    counts: Ints
    next_labels: Ints
    next_counts: Ints
    rows: Ints

    def without(self, own: Ints) -> Ints:
        """What most say where so many of those who are right about a target are its own rows; -1 for nothing.

        Targets of whom the label is wrong lose none of those who say it.
        """
        left = self.counts - own
        # Of labels that as many have, the one that comes first is said, as it was before.
        overtaken = (self.next_counts > left) | ((self.next_counts == left) & (self.next_labels < self.labels))
        said = np.where(overtaken, self.next_labels, self.labels)
        return np.where((left <= 0) & (self.next_counts == 0), -1, said)


@dataclass(frozen=True)
class Space:
    """Published rows and targets as compiled loops want them; see the kernels for the shapes."""

    columns: tuple[AttackColumn, ...]
    parts: tuple[Any, ...]

    def nearest(self, count: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
        """The `count` nearest published rows of each target; of rows equally near, some by chance."""
        published, targets = self.parts[4].shape[0], self.parts[6].shape[0]
        begins = random.integers(max(published, 1), size=targets)
        arguments = (*self.parts, random.permutation(published), begins, count)
        rows: npt.NDArray[np.int64] = kernels.nearest(*arguments)
        return rows

    def votes(self, names: Sequence[str]) -> tuple[Votes, ...]:
        """Of each of these columns, what the rows say that are nearest by all others."""
        slots = np.array([names.index(column.name) if column.name in names else -1 for column in self.columns])
        sizes = {column.name: len(column.labels) for column in self.columns}
        offsets = np.concatenate([[0], np.cumsum([sizes[name] for name in names])]).astype(np.int64)
        arguments = (*self.parts, slots.astype(np.int64), offsets)
        figures = kernels.guesses(*arguments).T
        return tuple(Votes(*figures[5 * place : 5 * place + 5]) for place in range(len(names)))


def space_of(columns: Sequence[AttackColumn], targets: Sequence[Codes], unknown: Collection[str] = ()) -> Space:
    """The space of some columns.

    Args:
        targets: For each column, the value codes of the targets.
        unknown: Columns that the attacker does not know of them.
    """
    kinds = [UNKNOWN if column.name in unknown else _kind(column) for column in columns]
    tables = [_table(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    numbers = [_numbers(column, kind, codes) for column, kind, codes in zip(columns, kinds, targets, strict=True)]
    codes = [_comparable(column, kind, codes) for column, kind, codes in zip(columns, kinds, targets, strict=True)]
    return Space(
        tuple(columns),
        (
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
    """Columns as an array whose rows lie in one piece."""
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
    """The codes of targets; where they are compared with labels themselves, the label's code, -1 for none."""
    if kind != EQUALITY:
        return codes
    return column.label_places.astype(np.int32)[codes]


def _numbers(column: AttackColumn, kind: int, codes: Codes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Published numbers and those of targets, as shares of the range of values."""
    if kind != NUMBERS or column.numbers is None:
        return np.zeros(len(column.published), np.int64), np.zeros(len(codes), np.int64)
    labels, values = column.numbers
    spread = max(float(np.nanmax(values) - np.nanmin(values)), 1e-12)
    step = _step(np.concatenate([labels, values]), spread)
    return _shares(labels, spread, step)[column.published], _shares(values, spread, step)[codes]


def _step(numbers: Floats, spread: float) -> float:
    """The decimal step of which all numbers are multiples, 0 where there is none that matters.

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
    """Numbers as shares of a range: whole multiples of one share a step, so that equal distances stay equal."""
    there = np.nan_to_num(numbers)
    if step:
        share = ONE // max(round(spread / step), 1)
        steps = np.rint(np.clip(there / step, -_MOST_STEPS, _MOST_STEPS)).astype(np.int64)
        whole = np.clip(steps, -_FURTHEST // share, _FURTHEST // share) * share
    else:
        whole = np.rint(np.clip(there / spread * ONE, -_FURTHEST, _FURTHEST)).astype(np.int64)
    return np.where(np.isnan(numbers), _MISSING, whole)
