"""Evidence that an attacker can infer finer labels of a quasi-identifier from another column (see read_back.py).

It consists of hits and guesses, and of a test against chance.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.types import numerals
from sfumato.microdata.measures import kernels as guess_kernels
from sfumato.microdata.recoding.mapping import STAR
from sfumato.patterns import regex
from sfumato.values import Value

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
# Minimum accuracy of a rule; maximum probability that chance produces any of all rules tried.
RIGHT, CHANCE = 0.95, 0.001
# Maximum share of a label among all finer labels. Predicting a more frequent label is not an inference, because rows
# with coarse labels are likely to have another value.
USUAL = 0.75
# Minimum share of wrong guesses that a column must remove to predict a label as a whole.
LESS_WRONG = 0.6
# Number of table cells that are processed together.
CELLS_AT_ONCE = 1 << 18


class SourceValues(Value):
    """The values of a source in each combination: the values of one column, or the pairs of values of two columns.

    Attributes:
        first: The code of the first column in each combination.
        first_size: The number of different codes of the first column.
        second: The code of the second column in each combination; 0 if the source is one column.
        second_size: The number of different codes of the second column; 1 if the source is one column.
    """

    first: Ints
    first_size: int
    second: Ints
    second_size: int

    @property
    def size(self) -> int:
        """The maximum number of different values of the source."""
        return self.first_size * self.second_size

    @property
    def numbers(self) -> Ints:
        """The code of the value in each combination, below `size`."""
        return self.first * self.second_size + self.second


class CoarseLabels(Value):
    """Labels of a quasi-identifier that contain finer ones.

    Attributes:
        labels: The coarse labels.
        inner: The finer labels of all coarse labels, one after the other.
        ends: For each coarse label, the position in `inner` after its last finer label.
        usual: For each coarse label, the share of its most frequent finer label.
    """

    labels: Ints
    inner: Ints
    ends: Ints
    usual: Floats

    def of(self, at: int) -> Ints:
        """Return the finer labels of one coarse label."""
        return self.inner[self.ends[at - 1] if at else 0 : self.ends[at]]

    def parts(self, size: int) -> Iterator["CoarseLabels"]:
        """Yield parts with as many labels as the work limit on tables allows."""
        if size * len(self.inner) <= CELLS_AT_ONCE:
            yield self
            return
        for at in range(len(self.labels)):
            inner = self.of(at)
            yield CoarseLabels(self.labels[at : at + 1], inner, np.array([len(inner)]), self.usual[at : at + 1])


def coarse_labels(mask: BoolArray, rows: Floats) -> CoarseLabels:
    """Return the labels that contain finer ones.

    Args:
        mask: For each label (row), which labels (columns) are finer.
        rows: The number of rows of each label.
    """
    labels = np.flatnonzero(mask.any(axis=1))
    found = mask[labels] * rows
    usual = found.max(axis=1, initial=0) / np.maximum(found.sum(axis=1), 1)
    return CoarseLabels(
        labels, np.ascontiguousarray(np.nonzero(mask[labels])[1]), np.cumsum(mask[labels].sum(axis=1)), usual
    )


class Evidence:
    """Evidence for rules "rows with this value of a source column have that finer label".

    All rows of a class share their label, so the agreement by chance is counted in classes.

    Attributes:
        total: For each coarse label (row) and value of the source (column), the number of rows with finer labels.
        hidden: For each coarse label and value, the number of rows with the coarse label.
        right: For each coarse label and value, whether one finer label is correct for nearly all rows in `total`.
        hits: For each coarse label, the number of correct leave-one-out guesses of finer labels.
        guesses: For each coarse label, the number of all these guesses.
        candidates: The indices of coarse labels for which there may be rules, before classes are considered.
    """

    def __init__(self, rows: Floats, coarse: CoarseLabels, k: int, trials: int, columns: int) -> None:
        self.rows, self.coarse, self.k, self.trials, self.columns = rows, coarse, k, trials, columns
        self.total, most, second = np.zeros((3, len(coarse.labels), rows.shape[1]))
        self.hits, self.guesses = np.zeros((2, len(coarse.labels)))
        guess_kernels.most_frequent(rows, coarse.inner, coarse.ends, self.total, most, second, self.hits, self.guesses)
        asked = (self.guesses >= k) & is_better(self.hits, self.guesses, coarse.usual)
        self.candidates: list[int] = []
        if columns > 1 and not asked.any():
            return
        self.hidden = rows[coarse.labels]
        self.right: BoolArray = (self.total > 0) & (most >= RIGHT * self.total)
        if columns == 1:
            asked |= (self.right & (self.total >= k)).any(axis=1)
        self.candidates = np.flatnonzero(asked & (self.right & (self.hidden > 0)).any(axis=1)).tolist()

    def rules(self, at: int, classes: Callable[[], Floats], by_parts: Callable[[], float]) -> Ints:
        """Return for each value of the source the finer label that is inferred for a coarse one, or -1.

        Args:
            at: The index of the coarse label.
            classes: Returns the number of classes that show each label (row) with each value (column).
            by_parts: Returns the share of labels that one of two columns predicts without the other.
        """
        inner = self.coarse.of(at)
        rows, asked = self.rows[inner], self.right[at] & (self.hidden[at] > 0)
        place = rows.argmax(axis=0)
        if not self._predicts(at, lambda: classes()[inner], by_parts):
            asked &= self.columns == 1
            usual, tried = (rows.sum(axis=1) / rows.sum())[place], self.total[at] >= self.k
            asked &= tried & (usual <= USUAL)
            if asked.any():
                of_values = classes()[inner]
                hits = of_values[place, np.arange(len(place))]
                asked &= surpasses(hits, of_values.sum(axis=0), usual, max(int(tried.sum()), 1) * self.trials)
        rules: Ints = np.where(asked, inner[place], -1)
        return rules

    def _predicts(self, at: int, classes: Callable[[], Floats], by_parts: Callable[[], float]) -> bool:
        """Return whether the source as a whole predicts labels, counted in rows and in classes, beyond chance."""
        alone = float(self.coarse.usual[at])
        if self.guesses[at] < self.k or not is_better(self.hits[at], self.guesses[at], alone):
            return False
        usual = max(alone, by_parts())
        hits, guesses = hits_of(classes())
        if not (is_better(self.hits[at], self.guesses[at], usual) and is_better(hits, guesses, usual)):
            return False
        return is_beyond_chance(hits, guesses, usual, self.trials)


def is_better(hits: Any, guesses: Any, usual: Any) -> Any:
    """Return whether nearly all guesses are correct, and far fewer are wrong than by the usual value."""
    return (hits >= RIGHT * guesses) & (hits - usual * guesses >= LESS_WRONG * (1 - usual) * guesses)


def hits_of(counts: Floats) -> tuple[float, float]:
    """Return the number of correct leave-one-out guesses of a column, and of all guesses.

    >>> hits_of(np.array([[3.0, 1.0, 1.0], [0.0, 0.0, 1.0]]))
    (3.0, 5.0)
    """
    inner, ends = np.arange(len(counts)), np.array([len(counts)])
    (total, most, second), (hits, guesses) = np.zeros((3, 1, counts.shape[1])), np.zeros((2, 1))
    guess_kernels.most_frequent(counts, inner, ends, total, most, second, hits, guesses)
    return float(hits[0]), float(guesses[0])


def is_beyond_chance(hits: float, guesses: float, usual: float, trials: int) -> bool:
    """Return whether chance cannot explain the number of correct guesses in one of several trials."""
    return bool(surpasses(np.array([hits]), np.array([guesses]), np.array([usual]), trials)[0])


def surpasses(hits: Floats, guesses: Floats, usual: Floats, trials: int) -> BoolArray:
    """Return which numbers of correct guesses chance cannot explain, given the number of trials."""
    beyond: BoolArray = _surprise(hits, guesses, usual) >= np.log(trials / CHANCE)
    return beyond


def _surprise(right: Floats, total: Floats, chance: Floats) -> Floats:
    """Return the negative log probability of the correct guesses by chance (Chernoff's bound); 0 for fewer than
    expected.

    >>> float(_surprise(np.array([10.0]), np.array([10.0]), np.array([0.5]))[0].round(2))
    6.93
    """
    share = right / np.maximum(total, 1)
    chance = np.clip(chance, 1e-12, 1 - 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(share > 0, share * np.log(share / chance), 0.0)
        miss = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - chance)), 0.0)
    return np.where(share > chance, total * (hit + miss), 0.0)


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
