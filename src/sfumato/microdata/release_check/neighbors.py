"""Inference from sorted order: for columns whose values hardly repeat, neighbors in the order have the same label."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.types import numerals
from sfumato.microdata.recoding.recoding import STAR
from sfumato.patterns import regex

Ints = npt.NDArray[np.int64]
# Sort keys of dates: their years, and their parts from the last to the first.
_YEAR, _PARTS = regex(r"(?<!\d)\d{4}(?!\d)", re.ASCII), regex(r"\d+", re.ASCII)


def guessed_between(labels: Ints) -> tuple[float, float]:
    """Return how often a label equals that of both neighbors when these agree, and how often they agree.

    >>> guessed_between(np.array([1, 1, 1, 2, 1, 2, 2]))
    (1.0, 3.0)
    """
    agree = labels[:-2] == labels[2:]
    return float((agree & (labels[1:-1] == labels[2:])).sum()), float(agree.sum())


def between(ranks: Ints, labels: Ints, places: Ints) -> Ints:
    """Return the label on both sides of some positions; -1 if they differ, or one is missing.

    >>> between(np.array([1, 3, 5]), np.array([7, 7, 8]), np.array([0, 2, 4])).tolist()
    [-1, 7, -1]
    """
    above, below = np.searchsorted(ranks, places), np.searchsorted(ranks, places, side="right") - 1
    inside = (below >= 0) & (above < len(ranks))
    low, high = labels[np.maximum(below, 0)], labels[np.minimum(above, len(labels) - 1)]
    return np.where(inside & (low == high), low, -1).astype(np.int64)


def orders_of(texts: Sequence[str | None]) -> list[Ints]:
    """Return the ranks of texts in the orders that an attacker would try: as numbers or text, and by year.

    >>> [ranks.tolist() for ranks in orders_of(["10", "9", None])], orders_of(["02.01.2020", "01.03.2021"])[1].tolist()
    ([[1, 0, -1]], [0, 1])
    """
    shown = [place for place, text in enumerate(texts) if text is not None and text.strip(STAR)]
    words = [texts[place] or "" for place in shown]
    numbers = numerals(words)
    if np.isnan(numbers).any():
        keys: list[Sequence[Any]] = [words, [(_YEAR.findall(word), _PARTS.findall(word)[::-1]) for word in words]]
        orders = [np.array(sorted(range(len(shown)), key=key.__getitem__)) for key in keys]
    else:
        orders = [np.argsort(numbers, kind="stable")]
    ranks = np.full((len(orders), len(texts)), -1, np.int64)
    for row, order in zip(ranks, orders, strict=True):
        row[np.array(shown, np.int64)[order]] = np.arange(len(shown))
    return [*ranks]
