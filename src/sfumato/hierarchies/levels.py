"""Build one level of a hierarchy: its labels and the label of each value, from texts, keys or the level below."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Level = tuple[tuple[str, ...], Codes]
ROOT = "*"


def level_of_labels(labels: Sequence[str]) -> Level:
    """Return the level with given labels of values; labels are in the order of their first value.

    >>> level_of_labels(["b", "a", "b"])
    (('b', 'a'), array([0, 1, 0], dtype=int32))
    """
    places: dict[str, int] = {}
    codes = np.fromiter((places.setdefault(label, len(places)) for label in labels), np.int32, len(labels))
    return tuple(places), codes


def level_of_keys(keys: npt.NDArray[np.int64], label: Callable[[int], str]) -> Level:
    """Return the level in which values with the same key share a label; only distinct keys are formatted.

    >>> level_of_keys(np.array([7, 5, 7]), str)
    (('7', '5'), array([0, 1, 0], dtype=int32))
    """
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return tuple(label(int(key)) for key in distinct[order]), place[inverse]


def present_codes(codes: npt.NDArray[np.integer[Any]]) -> list[int]:
    """Return the codes that occur, ascending; faster than NumPy's unique, which sorts.

    >>> present_codes(np.array([3, 1, 3]))
    [1, 3]
    """
    return [int(code) for code in np.flatnonzero(np.bincount(codes))]


def level_above(below: Level, label: Callable[[str], str]) -> Level:
    """Return the level above another; each of its labels gets one label, so merged values stay together.

    >>> level_above((("12", "13", "25"), np.arange(3)), lambda code: code[:1] + "*")
    (('1*', '2*'), array([0, 0, 1], dtype=int32))
    """
    labels, parents = level_of_labels([label(name) for name in below[0]])
    return labels, parents[below[1]]


def root_level(size: int, label: str = ROOT) -> Level:
    """Return the level with one label for all values."""
    return (label,), np.zeros(size, np.int32)


def with_root(levels: Sequence[Level]) -> list[Level]:
    """Return the levels, with a root added unless the last of them has one label of stars."""
    labels, codes = levels[-1]
    if len(levels) > 1 and len(labels) == 1 and set(labels[0]) == {ROOT}:
        return list(levels)
    if len(levels) > 1 and not labels:
        return [*levels[:-1], root_level(0)]
    return [*levels, root_level(len(codes))]
