"""Random numbers and row orders from a keyed hash: the same on every engine, unpredictable without the key.

SHAKE-256 of the key yields eight bytes per row, so a number depends on a key and a row position only. For rows of
persons it depends on person and value instead: later releases of the same persons use the same numbers, so averaging
several releases comes no closer to a value than one does.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256, shake_256
from math import isqrt

import numpy as np
import numpy.typing as npt

from sfumato.microdata.models.equivalence_classes import Floats
from sfumato.microdata.row_order_kernels import hash_numbers
from sfumato.native.dispatch import way

# Number of consecutive rows that share a hash.
ROWS_A_HASH = 4
# Number of digits per row; of rows with equal digits, the first one comes first.
ORDER_DIGITS = 16


def row_hash(row: int, key: str) -> str:
    """Return the hash of a row's number (from 1) under a key: SHA-256, which every engine has.

    The key comes first and has a fixed length, and no hash is ever published: nothing can be appended to what is
    hashed, and without the key the order cannot be distinguished from chance.

    >>> row_hash(1, "key:")[:16]
    'bd24723ab694a02d'
    """
    return _digest(row, key).hex()


def _digest(row: int, key: str) -> bytes:
    return sha256(b"%b%d" % (key.encode(), row)).digest()


def place_hash(row: int, key: str) -> str:
    """Return the digits that place a row (numbered from 1): a part of the hash that it shares with its neighbors.

    The parts of a hash are independent, so each row is placed as if by a separate hash.

    >>> place_hash(6, "key:") == row_hash(1, "key:")[16:32]
    True
    """
    number, part = divmod(row - 1, ROWS_A_HASH)
    return row_hash(number, key)[part * ORDER_DIGITS : (part + 1) * ORDER_DIGITS]


def shuffled(rows: Iterable[int], key: str) -> npt.NDArray[np.int64]:
    """Return the order that shuffles rows, given by their numbers: by their digits, ties in input order.

    >>> order = shuffled([1, 2, 3], "key:")
    >>> order.tolist() == sorted(range(3), key=lambda place: place_hash(place + 1, "key:"))
    True
    """
    given = rows if isinstance(rows, np.ndarray) else np.fromiter(rows, np.int64)
    numbers, parts = np.divmod(given - 1, ROWS_A_HASH)
    # Rows mostly come in order, and those that share a hash together.
    new = np.ones(len(numbers), bool)
    new[1:] = numbers[1:] != numbers[:-1]
    return order_of(hash_words(numbers[new], key)[np.cumsum(new) - 1, parts])


def order_of(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return the order that sorts random words; ties stay in input order.

    >>> order_of(np.array([9 << 40, 7 << 40, 9 << 40], np.uint64)).tolist()
    [1, 0, 2]
    """
    # With their indices in the last bits, all are different and the fastest sort suffices; the first bits mostly
    # decide.
    low = np.uint64((1 << len(words).bit_length()) - 1)
    placed = np.sort(words & ~low | np.arange(len(words), dtype=np.uint64))
    first = placed & ~low
    if (first[1:] == first[:-1]).any():
        return np.argsort(words, kind="stable")
    return (placed & low).astype(np.int64)


def hash_words(numbers: npt.NDArray[np.int64], key: str) -> npt.NDArray[np.uint64]:
    """Return hashes as 64-bit numbers, which sort like their hexadecimal digits: (numbers, parts)."""
    if way() != "native" or (numbers < 0).any():
        hashes = b"".join([_digest(number, key) for number in numbers.tolist()])
        return np.frombuffer(hashes, ">u8").astype(np.uint64).reshape(-1, ROWS_A_HASH)
    words = np.empty((len(numbers), ROWS_A_HASH), np.uint64)
    hash_numbers(np.frombuffer(key.encode(), np.uint8), np.ascontiguousarray(numbers, np.int64), *_constants(), words)
    return words


@cache
def _constants() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return the constants of SHA-256: fractional bits of the cube roots of 64 primes, and square roots of 8."""
    primes = [number for number in range(2, 312) if all(number % least for least in range(2, isqrt(number) + 1))]
    cubes, squares = [_cube_root(prime << 96) for prime in primes], [isqrt(prime << 64) for prime in primes[:8]]
    return _behind_the_point(cubes), _behind_the_point(squares)


def _behind_the_point(roots: list[int]) -> npt.NDArray[np.uint64]:
    return np.array([root % 2**32 for root in roots], np.uint64)


def _cube_root(number: int) -> int:
    root = 1 << -(-number.bit_length() // 3)
    while (better := (2 * root + number // root**2) // 3) < root:
        root = better
    return root


def uniforms(key: str, count: int, identities: Sequence[str] | None = None) -> Floats:
    """Return numbers from 0 up to but not including 1, of 53 bits each.

    Args:
        key: Key of the random numbers.
        count: The number of rows.
        identities: What identifies each row in every release; None uses the position of a row.

    >>> uniforms("key", 2).round(6).tolist()
    [0.093668, 0.121837]
    >>> float(uniforms("key", 2, ["Ada:0:7", "Bob:0:7"])[0] - uniforms("key", 1, ["Ada:0:7"])[0])
    0.0
    """
    if identities is None:
        return _fractions(shake_256(key.encode()).digest(8 * count))
    return _fractions(b"".join(shake_256(f"{key}{identity}".encode()).digest(8) for identity in identities))


def normals(key: str, count: int, identities: Sequence[str] | None = None) -> Floats:
    """Return numbers of the standard normal distribution, by Box and Muller."""
    if identities is not None:
        radius, angle = _polar(*(uniforms(f"{key}{part}:", count, identities) for part in ("radius", "angle")))
        return radius * np.cos(angle)
    radius, angle = _polar(*uniforms(key, 2 * ((count + 1) // 2)).reshape(2, -1))
    both: Floats = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
    return both[:count]


def _polar(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    return np.sqrt(-2 * np.log1p(-one)), 2 * np.pi * other


def _fractions(content: bytes) -> Floats:
    return (np.frombuffer(content, ">u8") >> np.uint64(11)).astype(np.float64) * 2.0**-53
