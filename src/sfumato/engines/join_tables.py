"""Lookups: a recoding as arrays that an engine joins to its rows, the same for every engine.

The text of each quasi-identifier is looked up in a table of its own, which yields a code. The codes of a row, packed as
in key_packing.py, are looked up in the table of classes.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.frequency_table import DROPPED
from sfumato.microdata.counts.key_packing import Packing, packing_of
from sfumato.microdata.recoding.recoding import (
    STAR,
    ClassRecoding,
    Division,
    LevelRecoding,
    Recoding,
    SuppressionHandling,
    numbered,
)


@dataclass(frozen=True, slots=True)
class JoinTables:
    """The join tables of a recoding."""

    recoding: Recoding
    handling: SuppressionHandling

    @property
    def stars(self) -> bool:
        """Whether some rows are published as `*`."""
        return self.handling.suppressed == "star" and bool(self.recoding.suppressed.any())

    def with_class_column(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of the columns in the release."""
        return columns if self.handling.class_column is None else (*columns, self.handling.class_column)

    @property
    def packing(self) -> Packing:
        if isinstance(self.recoding, LevelRecoding):
            return packing_of([len(labels) for labels in self.recoding.labels])
        return packing_of([coding.ladder.size for coding in self.recoding.codings])

    @property
    def division(self) -> Division | None:
        return self.recoding.division if isinstance(self.recoding, ClassRecoding) else None

    def column_lookup(self, place: int) -> dict[str, Any]:
        """Return text and code of each value of a column whose rows are not dropped."""
        codes = self.key_codes(place)
        kept = np.flatnonzero(codes != DROPPED)
        texts = np.array([self.recoding.codings[place].texts[row] for row in kept], object)
        return {"text": texts, "code": codes[kept].astype(np.uint64)}

    def label_lookup(self, column: str) -> dict[str, Any]:
        """Return text and label of each value of a transformed column."""
        labels = self.handling.labels[column]
        return {"text": np.array([*labels], object), "label": np.array([*labels.values()], object)}

    def value_lookup(self, division: Division) -> dict[str, Any]:
        """Return text and code of each value of the column that divides combinations."""
        texts = np.array([*division.spellings], object)
        return {"text": texts, "code": np.array([*division.spellings.values()], np.int64)}

    def key_codes(self, place: int) -> npt.NDArray[np.int32]:
        """Return for each text of a column the code that identifies its class, or that its rows are dropped."""
        codes = self.recoding.codings[place].codes
        if not isinstance(self.recoding, LevelRecoding):
            return codes
        found: npt.NDArray[np.int32] = np.where(codes == DROPPED, DROPPED, self.recoding.label_codes(place)[codes])
        return found

    def class_lookup(self) -> dict[str, Any]:
        """Return packed codes and labels of each class, combination, or part of a divided combination."""
        keys = self.class_keys()
        owners = keys.pop("owner")
        return keys | {name: values[owners] for name, values in self.class_labels().items() if name != "owner"}

    def class_keys(self) -> dict[str, Any]:
        """Return packed codes and class index of each class, combination, or part of a divided combination."""
        recoding = self.recoding
        shares: dict[str, Any] = {}
        if isinstance(recoding, LevelRecoding):
            keys, owners = recoding.classes, np.arange(len(recoding.classes), dtype=np.int32)
        elif recoding.division is None:
            keys, owners = recoding.combinations, recoding.owners
        else:
            places, owners, shares = _shares(recoding, recoding.division)
            keys = recoding.combinations[places]
        packed = self.packing.pack(keys)
        return {f"k{word}": packed[word] for word in range(len(packed))} | shares | {"owner": owners}

    def class_labels(self) -> dict[str, Any]:
        """Return the labels of each class, and whether it is suppressed."""
        recoding = self.recoding
        hidden = recoding.suppressed
        table: dict[str, Any] = {"owner": np.arange(len(hidden), dtype=np.int32), "hidden": hidden}
        table["number"] = numbered(recoding)
        for place, labels in enumerate(recoding.labels):
            texts = np.array([*labels, None], object)[recoding.classes[:, place]]
            texts[hidden] = STAR if self.handling.suppressed == "star" else None
            table[f"p{place}"] = texts
        return table


def _shares(recoding: ClassRecoding, division: Division) -> tuple[Any, Any, dict[str, Any]]:
    """Return combination, class, ranks and value of undivided combinations and of parts of divided ones."""
    whole = np.ones(len(recoding.combinations), bool)
    whole[division.combinations] = False
    undivided = np.flatnonzero(whole)
    places = np.concatenate([undivided, division.combinations])
    owners = np.concatenate([recoding.owners[undivided], division.classes]).astype(np.int32)
    none, all_ranks = np.zeros(len(undivided), np.int64), np.full(len(undivided), np.iinfo(np.int64).max)
    bounds = {
        "undivided": np.arange(len(places)) < len(undivided),
        "above": np.concatenate([none, division.ends - division.rows]),
        "upto": np.concatenate([all_ranks, division.ends]),
        "value": np.concatenate([none, division.codes]),
    }
    return places, owners, bounds
