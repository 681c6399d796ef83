"""Keyed hashes of persons and rows, the same on every engine, for keys and for shares of divided combinations."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.hierarchies.person_keys import plain_key
from sfumato.microdata.recoding.recoding import Division
from sfumato.microdata.row_order import row_hash

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
