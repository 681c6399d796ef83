"""Group a frequency table into classes by a subset of its columns."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import KeyGroups
from sfumato.microdata.counts.key_packing import Words, packing_of
from sfumato.microdata.models.equivalence_classes import Counts

Owners = npt.NDArray[np.int32]


class Regrouper:
    """Groups packed combinations by chosen columns in reusable arrays."""

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
        """Return packed values and rows of the classes by some columns, from combinations or from finer classes."""
        keys = self.keys if keys is None else keys
        count = self._group(columns, keys, self.counts if counts is None else counts)
        return self._groups.keys[:, :count].copy(), self._groups.counts[:count].copy()

    def sizes_by(self, columns: Iterable[int]) -> tuple[Owners, Counts]:
        """Return for each combination its class by some columns, and the class sizes; the next call overwrites both."""
        count = self._group(columns, self.keys, self.counts)
        return self._groups.owner, self._groups.counts[:count]

    def owners(self, many: int) -> Owners:
        """Return the class of each of the `many` entries grouped last; the next call overwrites it."""
        return self._groups.owner[:many]

    def _group(self, columns: Iterable[int], keys: Words, counts: Counts) -> int:
        kept = set(columns)
        masked = self._masked[:, : keys.shape[1]]
        np.bitwise_and(keys, self.packing.bits(kept)[:, None], out=masked)
        last = max((column for column in range(len(self.columns)) if column not in kept), default=-1)
        return self._groups.group(masked, counts, last)
