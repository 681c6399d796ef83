"""The order of rows: by a keyed hash of their numbers, the same on every engine."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.hierarchies.person_keys import plain_key
from sfumato.microdata.recoding.recoding import Division


def row_hash(row: int, key: str) -> str:
    """The hash of a row's number (from 1) under a key: SHA-256, which every engine has.

    The key stands first and is of one length, and no hash is ever published: nothing can be appended to what is
    hashed, and who does not know the key cannot tell the order from chance.

    >>> row_hash(1, "key:")[:16]
    'bd24723ab694a02d'
    """
    return sha256(f"{key}{row}".encode()).hexdigest()


# A hash is long enough for the places of so many rows, which are one after the other.
ROWS_A_HASH = 4
# So many of its digits tell the place of one; of rows that have the same, the one that comes first is first.
ORDER_DIGITS = 16
# The column of keys, beside those of the data, and the file that holds them for the published rows, in their order.
PERSON = "sfumato_person"
PERSONS_FILE = "persons.parquet"


def text_hash(text: str | None, key: str) -> str:
    """Half of the keyed hash of a text, so that nothing can be appended to what was hashed.

    >>> text_hash("Ada", "key:")[:8]
    'f613df13'
    """
    return sha256(f"{key}{text}".encode()).hexdigest()[:32]


def person_hash(person: str | None, key: str) -> str:
    """The key of a person, the same however the person is written.

    >>> person_hash("LB-1", "key:") == person_hash("lb 1", "key:")
    True
    """
    return text_hash(None if person is None else plain_key(person), key)


def place_hash(row: int, key: str) -> str:
    """The digits by which a row (its number counts from 1) is placed: a part of the hash that it shares with neighbors.

    The parts of a hash tell nothing of each other, so each row is placed as if it had a hash of its own.

    >>> place_hash(6, "key:") == row_hash(1, "key:")[16:32]
    True
    """
    number, part = divmod(row - 1, ROWS_A_HASH)
    return row_hash(number, key)[part * ORDER_DIGITS : (part + 1) * ORDER_DIGITS]


def shuffled(rows: Iterable[int], key: str) -> npt.NDArray[np.int64]:
    """The order that shuffles rows, given by their numbers: by the digits that place them, then as they come.

    >>> order = shuffled([1, 2, 3], "key:")
    >>> order.tolist() == sorted(range(3), key=lambda place: place_hash(place + 1, "key:"))
    True
    """
    given = rows if isinstance(rows, np.ndarray) else np.fromiter(rows, np.int64)
    numbers, parts = np.divmod(given - 1, ROWS_A_HASH)
    # Rows mostly come in their order, and those that share a hash together.
    new = np.ones(len(numbers), bool)
    new[1:] = numbers[1:] != numbers[:-1]
    words = _words(numbers[new], key)[np.cumsum(new) - 1, parts]
    return np.argsort(words, kind="stable")


def _words(numbers: npt.NDArray[np.int64], key: str) -> npt.NDArray[np.uint64]:
    """Hashes as numbers of 64 bits, which are in the order of the digits that write them: (numbers, parts)."""
    prefix = key.encode()
    hashes = b"".join([sha256(b"%b%d" % (prefix, number)).digest() for number in numbers.tolist()])
    return np.frombuffer(hashes, ">u8").astype(np.uint64).reshape(-1, ROWS_A_HASH)


def shared_out(
    division: Division, places: npt.NDArray[np.int32], values: npt.NDArray[np.int64], rows: Sequence[int]
) -> npt.NDArray[np.int64]:
    """The class of each row of divided combinations.

    Args:
        places: The combination of each row; values: the code of its value in the division's column; rows: its number.

    Raises:
        DataError: These are not the rows for which the division was made.
    """
    keys = places.astype(np.int64) * len(division.values) + values
    hashes = np.array([row_hash(row, division.key) for row in rows], "S64")
    order = np.lexsort((hashes, keys))
    groups = division.combinations * len(division.values) + division.codes
    # The shares stand in the order of their groups, and so do the rows: the n-th row gets the n-th place of all shares.
    fits = len(order) == int(division.rows.sum()) and (keys[order] == np.repeat(groups, division.rows)).all()
    if not fits or (values < 0).any():
        raise DataError(
            "some rows are not those for which the recoding was made.",
            "A recoding that divides combinations fits its own data alone: make a new release.",
            "divided-combination",
        )
    classes = np.empty(len(order), np.int64)
    classes[order] = np.repeat(division.classes, division.rows)
    return classes
