"""Regrouping: the classes of a frequency table by some of its columns, without regard to the others."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts import grouping_kernels
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.counts.grouping import hash_capacity
from sfumato.microdata.counts.packing import Words, packing_of
from sfumato.microdata.models.classes import Counts

Owners = npt.NDArray[np.int32]


class Regrouper:
    """Groups packed combinations by chosen columns; its arrays are used again and again."""

    def __init__(self, table: FrequencyTable) -> None:
        self.columns = table.columns
        self.counts = table.counts
        self.packing = packing_of([ladder.size for ladder in table.ladders])
        self.keys = self.packing.pack(table.codes)
        self._hashed = np.zeros(hash_capacity(len(table.counts)), np.int64)
        self._stamp = 0
        self._masked = np.empty_like(self.keys)
        self._out_keys = np.empty_like(self.keys)
        self._out_counts = np.empty_like(table.counts)
        self._owner = np.empty(len(table.counts), np.int32)

    def by(
        self, columns: Iterable[int], keys: Words | None = None, counts: Counts | None = None
    ) -> tuple[Words, Counts]:
        """The classes by some columns: their packed values and rows; from all combinations, or from some classes."""
        keys = self.keys if keys is None else keys
        count = self._group(columns, keys, self.counts if counts is None else counts)
        return self._out_keys[:, :count].copy(), self._out_counts[:count].copy()

    def sizes_by(self, columns: Iterable[int]) -> tuple[Owners, Counts]:
        """For each combination its class by some columns, and the classes' rows; both are overwritten by the next."""
        count = self._group(columns, self.keys, self.counts)
        return self._owner, self._out_counts[:count]

    def owners(self, many: int) -> Owners:
        """For each of the `many` entries that were grouped last its class; overwritten by the next."""
        return self._owner[:many]

    def _group(self, columns: Iterable[int], keys: Words, counts: Counts) -> int:
        masked = self._masked[:, : keys.shape[1]]
        np.bitwise_and(keys, self.packing.bits(columns)[:, None], out=masked)
        self._stamp += 1
        return int(
            grouping_kernels.group(
                masked, counts, self._hashed, self._stamp, self._out_keys, self._out_counts, self._owner
            )
        )
