"""The order of rows: by a keyed hash of their numbers, the same on every engine, and known to who attacks it."""

from collections.abc import Iterable
from hashlib import sha256

import numpy as np
import numpy.typing as npt

# A hash is long enough for the places of so many rows, which are one after the other.
ROWS_A_HASH = 4
# So many of its digits tell the place of one; of rows that have the same, the one that comes first is first.
ORDER_DIGITS = 16


def row_hash(row: int, key: str) -> str:
    """The hash of a row's number (from 1) under a key: SHA-256, which every engine has.

    The key stands first and is of one length, and no hash is ever published: nothing can be appended to what is
    hashed, and who does not know the key cannot tell the order from chance.

    >>> row_hash(1, "key:")[:16]
    'bd24723ab694a02d'
    """
    return sha256(f"{key}{row}".encode()).hexdigest()


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
    return np.argsort(hash_words(numbers[new], key)[np.cumsum(new) - 1, parts], kind="stable")


def hash_words(numbers: npt.NDArray[np.int64], key: str) -> npt.NDArray[np.uint64]:
    """Hashes as numbers of 64 bits, which are in the order of the digits that write them: (numbers, parts)."""
    prefix = key.encode()
    hashes = b"".join([sha256(b"%b%d" % (prefix, number)).digest() for number in numbers.tolist()])
    return np.frombuffer(hashes, ">u8").astype(np.uint64).reshape(-1, ROWS_A_HASH)
