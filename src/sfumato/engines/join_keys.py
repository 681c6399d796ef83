"""Join keys of all engines: keyed hashes of persons and rows, and the join tables of a recoding."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.hierarchies.spellings import plain_key
from sfumato.microdata.counts.combinations import Packing, packing_of
from sfumato.microdata.counts.frequency_table import DROPPED
from sfumato.microdata.keyed_random import row_hash
from sfumato.microdata.recoding.mapping import (
    STAR,
    ClassRecoding,
    Division,
    LevelRecoding,
    Recoding,
    SuppressionHandling,
    numbered,
)
from sfumato.values import Value

# The column of person keys in addition to those of the data, and the file with these for the published rows, in order.
PERSON = "sfumato_person"
PERSONS_FILE = "persons.parquet"
# Number of digits of a key, and of the first ones that form its number in large records.
KEY_DIGITS, NUMBER_DIGITS = 32, 16


def text_hash(text: str | None, key: str) -> str:
    """Return half of the keyed hash of a text, which prevents length extension.

    >>> text_hash("Ada", "key:")[:8]
    'f613df13'
    """
    return sha256(f"{key}{text}".encode()).hexdigest()[:KEY_DIGITS]


def person_hash(person: str | None, key: str) -> str:
    """Return the key of a person, after normalizing the person's identifier.

    >>> person_hash("LB-1", "key:") == person_hash("lb 1", "key:")
    True
    """
    return text_hash(None if person is None else plain_key(person), key)


def record_key(person: str | None, key: str) -> str:
    """Return the key of a person in the form that `recorded` returns.

    >>> [record_key("Ada", "key:")] == recorded([person_hash("Ada", "key:")])
    True
    """
    return str(key_number(person_hash(person, key)))


def key_number(key: str) -> int:
    """Return the number of a key: its first 63 bits, which are sufficient to distinguish persons.

    >>> key_number("f613df13000000000000000000000000")
    8865880715292573696
    """
    return int(key[:NUMBER_DIGITS], 16) >> 1


def recorded(keys: Iterable[str | None]) -> list[str | None]:
    """Return the keys of a record, which contains texts or numbers, as numbers; other texts are unchanged.

    >>> recorded(["f613df13000000000000000000000000", "8865880715292573696", "erased-1"])
    ['8865880715292573696', '8865880715292573696', 'erased-1']
    """
    return [str(key_number(key)) if key is not None and len(key) == KEY_DIGITS else key for key in keys]


def shared_out(
    division: Division, places: npt.NDArray[np.int32], values: npt.NDArray[np.int64], rows: Sequence[int]
) -> npt.NDArray[np.int64]:
    """Return the class of each row of divided combinations.

    Args:
        places: The combination of each row.
        values: The code of each row's value in the division's column.

    Raises:
        DataError: These are not the rows for which the division was made.
    """
    keys = places.astype(np.int64) * len(division.values) + values
    hashes = np.array([row_hash(row, division.key) for row in rows], "S64")
    order = np.lexsort((hashes, keys))
    groups = division.combinations * len(division.values) + division.codes
    # Parts and rows are in the order of their groups, so the n-th row gets the n-th position of all parts.
    fits = len(order) == int(division.rows.sum()) and (keys[order] == np.repeat(groups, division.rows)).all()
    if not fits or (values < 0).any():
        raise DataError("divided-combination")
    classes = np.empty(len(order), np.int64)
    classes[order] = np.repeat(division.classes, division.rows)
    return classes


class JoinTables(Value):
    """The join tables of a recoding.

    Each quasi-identifier has a join table from its texts to codes. The codes of a row, packed as by `Packing`, are
    looked up in the join table of classes.
    """

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
