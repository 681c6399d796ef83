"""Neighbors: the published rows that are nearest to a person by some columns, as Gower measures it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.microdata.attacks import neighbor_kernels as kernels
from sfumato.microdata.attacks.labels import Floats
from sfumato.microdata.attacks.neighbor_kernels import ONE
from sfumato.microdata.attacks.rows import AttackColumn, Codes

TABLE, NUMBERS, EQUALITY = 0, 1, 2
# Numbers that are missing are as near to each other as can be, and far from all others.
_MISSING = 1 << 60
_FURTHEST = 1 << 58


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

    def guesses(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """For each target the label of each of these columns that most rows have, of those nearest by all others."""
        slots = np.array([names.index(column.name) if column.name in names else -1 for column in self.columns])
        sizes = {column.name: len(column.labels) for column in self.columns}
        offsets = np.concatenate([[0], np.cumsum([sizes[name] for name in names])]).astype(np.int64)
        arguments = (*self.parts, slots.astype(np.int64), offsets)
        labels: npt.NDArray[np.int64] = kernels.guesses(*arguments)
        return labels


def space_of(columns: Sequence[AttackColumn], targets: Sequence[Codes]) -> Space:
    """The space of some columns.

    Args:
        targets: For each column, the value codes of the targets.
    """
    kinds = [_kind(column) for column in columns]
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
    return _shares(labels, spread)[column.published], _shares(values, spread)[codes]


def _shares(numbers: Floats, spread: float) -> npt.NDArray[np.int64]:
    whole = np.rint(np.clip(np.nan_to_num(numbers) / spread * ONE, -_FURTHEST, _FURTHEST)).astype(np.int64)
    return np.where(np.isnan(numbers), _MISSING, whole)
