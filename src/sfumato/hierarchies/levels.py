"""Build one level of a hierarchy: its labels and the label of each value, from texts, keys or the level below."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Level = tuple[tuple[str, ...], Codes]
ROOT = "*"


def level_of_labels(labels: Sequence[str]) -> Level:
    """The level in which each value has the label given, labels in the order of their first value.

    >>> level_of_labels(["b", "a", "b"])
    (('b', 'a'), array([0, 1, 0], dtype=int32))
    """
    places: dict[str, int] = {}
    codes = np.fromiter((places.setdefault(label, len(places)) for label in labels), np.int32, len(labels))
    return tuple(places), codes


def level_of_keys(keys: npt.NDArray[np.int64], label: Callable[[int], str]) -> Level:
    """The level in which values of the same key share a label; only the distinct keys are put into words.

    >>> level_of_keys(np.array([7, 5, 7]), str)
    (('7', '5'), array([0, 1, 0], dtype=int32))
    """
    distinct, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return tuple(label(int(key)) for key in distinct[order]), place[inverse]


def present_codes(codes: npt.NDArray[np.integer[Any]]) -> list[int]:
    """The codes that occur, ascending; to sort them, as NumPy does, would take longer, and load more.

    >>> present_codes(np.array([3, 1, 3]))
    [1, 3]
    """
    return [int(code) for code in np.flatnonzero(np.bincount(codes))]


def level_above(below: Level, label: Callable[[str], str]) -> Level:
    """The level above another: each of its labels goes to one, so nothing that was merged can be parted.

    >>> level_above((("12", "13", "25"), np.arange(3)), lambda code: code[:1] + "*")
    (('1*', '2*'), array([0, 0, 1], dtype=int32))
    """
    labels, parents = level_of_labels([label(name) for name in below[0]])
    return labels, parents[below[1]]


def root_level(size: int, label: str = ROOT) -> Level:
    """The level with one label for all values."""
    return (label,), np.zeros(size, np.int32)


def with_root(levels: Sequence[Level]) -> list[Level]:
    """The levels, with a root added when the last of them is not one label of stars."""
    labels, codes = levels[-1]
    if len(levels) > 1 and len(labels) == 1 and set(labels[0]) == {ROOT}:
        return list(levels)
    if len(levels) > 1 and not labels:
        return [*levels[:-1], root_level(0)]
    return [*levels, root_level(len(codes))]
