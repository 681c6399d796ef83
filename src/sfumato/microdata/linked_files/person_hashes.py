"""Person hashes: find persons whose rows are identical in all files joined by keys.

The hash of a row is made of its labels and the hashes of its child rows in any order; the hash of a person is that of
the row at the root. Two 64-bit sums represent it during the search; published rows are afterwards compared label by
label.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.microdata.linked_files.rows import FileRows, LinkedFiles
from sfumato.microdata.models.equivalence_classes import Counts

Words = npt.NDArray[np.uint64]
LANES = 2
# The bits above the codes hold the column and the file.
_COLUMN_BITS, _FILE_BITS = 32, 48


def groups_of(relations: LinkedFiles, levels: Sequence[int]) -> tuple[Counts, int]:
    """Return the group of each person at some levels, and the number of groups.

    Args:
        levels: One for each quasi-identifier of all files, in their order.
    """
    sums = {file.name: np.zeros((len(file.codes), LANES), np.uint64) for file in relations.files}
    ends = np.cumsum([0, *(len(file.columns) for file in relations.files)])
    for place in reversed(range(len(relations.files))):
        file = relations.files[place]
        # Scattered before they are combined; otherwise a label of the row could be confused with a child.
        own = _mixed(_labels(file, levels[ends[place] : ends[place + 1]], place) ^ _mixed(sums[file.name]))
        if file.parent is None:
            unique, groups = np.unique(own, axis=0, return_inverse=True)
            return groups.reshape(-1).astype(np.int64), len(unique)
        for lane in range(LANES):
            np.add.at(sums[file.parent][:, lane], file.above, own[:, lane])
    raise AssertionError


def _labels(file: FileRows, levels: Sequence[int], place: int) -> Words:
    """Return the labels of each row as words that include their file, so that equal labels of files differ."""
    words = _mixed(np.full((len(file.codes), LANES), place + 1 << _FILE_BITS, np.uint64))
    for column, (ladder, level) in enumerate(zip(file.ladders, levels, strict=True)):
        codes = ladder.codes[level][file.codes[:, column]].astype(np.uint64)
        words = _mixed(words ^ _mixed(codes[:, None] + np.full(LANES, column + 1 << _COLUMN_BITS, np.uint64)))
    return words


def _mixed(words: Words) -> Words:
    """Scatter words over all 64 bits, each lane differently (splitmix64)."""
    steps = np.array([0x9E3779B97F4A7C15, 0xD1B54A32D192ED03], np.uint64)
    first = np.array([0xBF58476D1CE4E5B9, 0xAEF17502108EF2D9], np.uint64)
    second = np.array([0x94D049BB133111EB, 0xF135AEA2E62A9C5B], np.uint64)
    with np.errstate(over="ignore"):
        mixed: Any = words + steps
        mixed = (mixed ^ (mixed >> np.uint64(30))) * first
        mixed = (mixed ^ (mixed >> np.uint64(27))) * second
        scattered: Words = mixed ^ (mixed >> np.uint64(31))
    return scattered
