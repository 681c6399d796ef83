"""Neighbors: the published rows that are nearest to a person by some columns, as Gower measures it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.microdata.attacks import neighbor_kernels as kernels
from sfumato.microdata.attacks.rows import AttackColumn, Codes

TABLE, NUMBERS, EQUALITY = 0, 1, 2


@dataclass(frozen=True)
class Space:
    """Published rows and targets as compiled loops want them; see the kernels for the shapes."""

    parts: tuple[Any, ...]

    def nearest(self, count: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
        """The `count` nearest published rows of each target; of rows equally near, some by chance."""
        published, targets = self.parts[4].shape[1], self.parts[6].shape[1]
        begins = random.integers(max(published, 1), size=targets)
        arguments = (*self.parts, random.permutation(published), begins, count)
        rows: npt.NDArray[np.int64] = kernels.nearest(*arguments)
        return rows

    def votes(self, content: Codes, size: int) -> npt.NDArray[np.int64]:
        """How often each value stands in the nearest published rows of each target."""
        arguments = (*self.parts, content.astype(np.int64), size)
        counts: npt.NDArray[np.int64] = kernels.votes(*arguments)
        return counts


def space_of(columns: Sequence[AttackColumn], targets: Sequence[Codes]) -> Space:
    """The space of some columns.

    Args:
        targets: For each column, the value codes of the targets.
    """
    kinds = [_kind(column) for column in columns]
    tables, starts, widths, at = [], [], [], 0
    for column, kind in zip(columns, kinds, strict=True):
        table = column.distance.ravel().astype(np.float64) if kind == TABLE else np.zeros(0)
        tables.append(table)
        starts.append(at)
        widths.append(len(column.values))
        at += len(table)
    pairs = [_numbers(column, kind, codes) for column, kind, codes in zip(columns, kinds, targets, strict=True)]
    return Space(
        (
            np.array(kinds, np.int64),
            np.array(starts, np.int64),
            np.array(widths, np.int64),
            np.concatenate(tables) if tables else np.zeros(0),
            np.array([column.published for column in columns], np.int32),
            np.array([low for low, _ in pairs]),
            np.array(
                [_comparable(column, kind, codes) for column, kind, codes in zip(columns, kinds, targets, strict=True)],
                np.int32,
            ),
            np.array([numbers for _, numbers in pairs]),
        )
    )


def _kind(column: AttackColumn) -> int:
    if not column.is_large:
        return TABLE
    return NUMBERS if column.numbers is not None else EQUALITY


def _comparable(column: AttackColumn, kind: int, codes: Codes) -> Codes:
    """The codes of targets; where they are compared with labels themselves, the label's code, -1 for none."""
    if kind != EQUALITY:
        return codes
    return column.label_places.astype(np.int32)[codes]


def _numbers(column: AttackColumn, kind: int, codes: Codes) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    if kind != NUMBERS or column.numbers is None:
        return np.zeros(len(column.published)), np.zeros(len(codes))
    labels, values = (np.nan_to_num(part) for part in column.numbers)
    spread = max(float(values.max() - values.min()), 1e-12)
    return labels[column.published] / spread, values[codes] / spread
