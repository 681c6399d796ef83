"""Sets of columns: how many classes each one forms, and which rows it makes unique.

Sets are processed from large to small. The classes of a set are grouped from those of the smallest set already computed
that contains it, so that sets of few columns, which form few classes, cost almost nothing.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.key_packing import Words
from sfumato.microdata.measures.subset_grouping import Owners, Regrouper
from sfumato.microdata.measures.uniques import column_set_kernels
from sfumato.microdata.models.equivalence_classes import Counts

# Limit of cached classes from which smaller sets are grouped; the others are grouped from the full table.
MOST_KEPT = 20_000_000


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """One set of columns.

    Attributes:
        columns: Their indices in the table.
        classes: How many classes they form; uniques: how many rows are unique.
        pairs: How many ordered pairs of rows lie in one class.
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
