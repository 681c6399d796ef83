"""The order of published rows: drawn from a hash of seed and row number, the same on every engine."""

from collections.abc import Iterable
from hashlib import md5

import numpy as np
import numpy.typing as npt


def row_hash(row: int, seed: int) -> str:
    """The hash of a row's number (from 1) and the seed; md5 because every engine has it, not for secrecy.

    >>> row_hash(1, 1)
    'f7177163c833dff4b38fc8d2872f1ec6'
    """
    return md5(f"{seed}:{row}".encode(), usedforsecurity=False).hexdigest()


def shuffled(rows: Iterable[int], seed: int) -> npt.NDArray[np.int64]:
    """The order that shuffles rows, given by their numbers: by their hash."""
    hashes = [row_hash(row, seed) for row in rows]
    return np.array(sorted(range(len(hashes)), key=hashes.__getitem__), np.int64)
