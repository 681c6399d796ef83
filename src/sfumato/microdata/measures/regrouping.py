"""Group a frequency table into classes by a subset of its columns."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.counts.grouping import KeyGroups
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
        self._groups = KeyGroups(self.keys, self.packing)
        self._masked = np.empty_like(self.keys)

    def by(
        self, columns: Iterable[int], keys: Words | None = None, counts: Counts | None = None
    ) -> tuple[Words, Counts]:
        """The classes by some columns: their packed values and rows; from all combinations, or from classes by more."""
        keys = self.keys if keys is None else keys
        count = self._group(columns, keys, self.counts if counts is None else counts)
        return self._groups.keys[:, :count].copy(), self._groups.counts[:count].copy()

    def sizes_by(self, columns: Iterable[int]) -> tuple[Owners, Counts]:
        """For each combination its class by some columns, and the classes' rows; both are overwritten by the next."""
        count = self._group(columns, self.keys, self.counts)
        return self._groups.owner, self._groups.counts[:count]

    def owners(self, many: int) -> Owners:
        """For each of the `many` entries that were grouped last its class; overwritten by the next."""
        return self._groups.owner[:many]

    def _group(self, columns: Iterable[int], keys: Words, counts: Counts) -> int:
        kept = set(columns)
        masked = self._masked[:, : keys.shape[1]]
        np.bitwise_and(keys, self.packing.bits(kept)[:, None], out=masked)
        last = max((column for column in range(len(self.columns)) if column not in kept), default=-1)
        return self._groups.group(masked, counts, last)
