"""The order of rows: drawn from a hash of seed and row number, the same on every engine."""

from collections.abc import Iterable, Sequence
from hashlib import md5

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError
from sfumato.microdata.recoding.recoding import Division


def row_hash(row: int, seed: int) -> str:
    """The hash of a row's number (from 1) and the seed; md5 because every engine has it, not for secrecy.

    >>> row_hash(1, 1)
    'd0bd571dc19c083d82f023c9666c5574'
    """
    return md5(f"{seed}:{row}".encode(), usedforsecurity=False).hexdigest()


def shuffled(rows: Iterable[int], seed: int) -> npt.NDArray[np.int64]:
    """The order that shuffles rows, given by their numbers: by their hash."""
    hashes = [row_hash(row, seed) for row in rows]
    return np.array(sorted(range(len(hashes)), key=hashes.__getitem__), np.int64)


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
    hashes = np.array([row_hash(row, division.seed) for row in rows], "S32")
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
