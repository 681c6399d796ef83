"""The order of rows: by a keyed hash of their numbers, the same on every engine."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from sfumato.engines import sql
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


# So many digits of a row's hash tell its place; of those that have the same, the row that comes first is first.
ORDER_DIGITS = 16
# From so many rows on it is worth starting a database to hash them.
MANY = 100_000
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


def shuffled(rows: Iterable[int], key: str) -> npt.NDArray[np.int64]:
    """The order that shuffles rows, given by their numbers: by the first digits of their hashes, then as they come.

    >>> order = shuffled([1, 2, 3], "key:")
    >>> order.tolist() == sorted(range(3), key=lambda place: row_hash(place + 1, "key:"))
    True
    """
    numbers = np.fromiter(rows, np.int64)
    words = _first_words(numbers, key) if len(numbers) < MANY else _first_words_by_database(numbers, key)
    return np.argsort(words, kind="stable")


def _first_words(rows: npt.NDArray[np.int64], key: str) -> npt.NDArray[np.uint64]:
    """The first 64 bits of each row's hash, of which the first 16 digits of its text are made."""
    prefix = key.encode()
    hashes = b"".join([sha256(b"%b%d" % (prefix, row)).digest()[:8] for row in rows.tolist()])
    return np.frombuffer(hashes, ">u8").astype(np.uint64)


def _first_words_by_database(rows: npt.NDArray[np.int64], key: str) -> npt.NDArray[np.uint64]:
    """The same, in less than half the time and on all cores."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.register("numbered", {"r": rows})
        text = f"substr(sha256(concat({sql.text(key)}, r)), 1, {ORDER_DIGITS})"
        found = connection.execute(f"SELECT CAST(concat('0x', {text}) AS UBIGINT) AS w FROM numbered").fetchnumpy()
    return np.asarray(found["w"], np.uint64)


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
