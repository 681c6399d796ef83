"""Relations of columns of a published table from which suppressed cells follow: linear, ordered, additive."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.tables.crosstabs.subtotals import APPROXIMATE_PROOF, bits_of, find_sums
from sfumato.values import Value

LINEAR = "It is a linear function of the published values."
RATIO = "It is a linear function of each value's share of a published total."
REST = "It is a linear function of what each value leaves of a published total."
ORDER = "It has the same order as the published values, so it bounds the suppressed ones."
REVERSED = "It has the reverse order of the published values, so it bounds the suppressed ones."
PART = "It follows from one part of each total, such as the women of each area, or from its share of the total."
# Relations by which numbers are computed from the values, exactly up to rounding.
COMPUTED = (LINEAR, RATIO, REST)
# Minimum evidence against chance, in bits, for a functional relation (PROOF) and for an order (ORDER_PROOF).
PROOF = 6.0
ORDER_PROOF = 5.0
# Maximum number of columns that are compared; further ones are ignored.
MOST_COLUMNS = 30


def derivable_columns(exact: Numbers, beside: Sequence[Numbers]) -> set[int]:
    """Return the positions of columns whose sums or differences disclose suppressed values.

    Args:
        exact: The values; NaN if suppressed.
        beside: The numbers of other columns; NaN if there is none.

    >>> women = np.array([np.nan, 24.0, 31.0, 52.0])
    >>> men, all_ = np.array([15.0, 21.0, 34.0, 40.0]), np.array([18.0, 45.0, 65.0, 92.0])
    >>> derivable_columns(women, [men, all_, np.array([1.0, 2.0, 3.0, 4.0])]) == {0, 1}
    True
    """
    used = [place for place, numbers in enumerate(beside[:MOST_COLUMNS]) if not np.isnan(numbers).all()]
    chosen = (*_pairs(exact, beside, used), *_sums(exact, beside, used))
    return {place for places in chosen for place in places if _shown(exact, [beside[at] for at in places])}


def _pairs(exact: Numbers, beside: Sequence[Numbers], used: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the pairs of columns whose sum or difference the values are."""
    tried = 3 * len(used) ** 2 / 2
    for one, other in combinations(used, 2):
        first, second = beside[one], beside[other]
        both = ~np.isnan(exact) & ~np.isnan(first) & ~np.isnan(second)
        # Adding a column of zeros changes nothing; equal columns are detected elsewhere.
        if not (first[both] != 0).any() or not (second[both] != 0).any():
            continue
        for told in (first + second, first - second, second - first):
            if _agrees(exact[both], told[both], tried):
                yield one, other


def _agrees(values: Numbers, told: Numbers, tried: float) -> bool:
    """Return whether two columns are equal, beyond chance."""
    if len(values) < 2 or not np.allclose(values, told, rtol=1e-9, atol=1e-9):
        return False
    return bool(bits_of(np.abs(values) / precision_of(values)).sum() > APPROXIMATE_PROOF + np.log2(tried))


def _sums(exact: Numbers, beside: Sequence[Numbers], used: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield sets of columns that form a sum with the values: one of them is the sum of all others."""
    lines = np.array([exact, *(beside[place] for place in used)])
    shown = lines[:, ~np.isnan(lines).any(axis=0)]
    if len(used) < 2 or not shown.size:
        return
    shown = np.round(shown / precision_of(shown.ravel()))
    for one in find_sums(shown, np.zeros(len(lines), bool), scattered=len(used) <= MOST_COLUMNS // 2).sums:
        places = [one.total, *one.parts]
        if 0 in places and _agrees(shown[one.total], shown[list(one.parts)].sum(axis=0), len(used) ** 2):
            yield tuple(used[place - 1] for place in places if place)


def _shown(exact: Numbers, beside: Sequence[Numbers]) -> bool:
    """Return whether some suppressed value has a number in all of these columns."""
    together: BoolArray = np.isnan(exact) & ~np.isnan(np.array(beside)).any(axis=0)
    return bool(together.any())


class PublishedCells(Value):
    """The published values of a file, with the rows of their totals.

    Attributes:
        values: The published values; NaN if suppressed.
        above: For each dimension, and for the grand total, the row of the total of each row; -1 if there is none.
        parts: For each category, the rows of the totals over its dimension, and their parts in this category.
        names: A description of each cell.
    """

    values: Numbers
    above: tuple[Places, ...]
    parts: tuple[tuple[Places, Places], ...]
    names: tuple[str, ...]

    def totals(self) -> Iterator[tuple[Places, Numbers]]:
        """Yield the rows of totals of each dimension, and their values."""
        for rows in self.above:
            yield rows, np.where(rows >= 0, self.values[rows], np.nan)


class Relation(Value):
    """A relation of a column to the values, in words, with the cells that can be computed or bounded by it."""

    text: str
    cells: BoolArray


def relation_to(published: PublishedCells, numbers: Numbers) -> Relation | None:
    """Return the first relation of numbers to the values that is unlikely by chance; None if there is none.

    >>> values = np.array([100.0, 40.0, 35.0, 25.0, np.nan])
    >>> published = PublishedCells(values, (np.array([-1, 0, 0, 0, 0]),), (), tuple("tabcd"))
    >>> relation_to(published, 7 * np.array([100.0, 40.0, 35.0, 25.0, 3.0])).cells.tolist()
    [False, False, False, False, True]
    """
    values, hidden, present = published.values, np.isnan(published.values), ~np.isnan(numbers)
    if is_linear(values, numbers):
        return Relation(LINEAR, hidden & present)
    for rows, totals in published.totals():
        shares = np.divide(values, totals, out=np.full(len(values), np.nan), where=totals > 0)
        if np.unique(totals[~np.isnan(shares) & present]).size and is_linear(shares, numbers):
            cells = hidden & present & ~np.isnan(totals)
            # A proportion and its value disclose the total.
            cells[rows[(rows >= 0) & present & ~hidden & np.isnan(totals)]] = True
            return Relation(RATIO, cells)
        if is_linear(totals - values, numbers):
            return Relation(REST, hidden & present & ~np.isnan(totals))
    order = _order(values, numbers)
    if order != 0:
        return Relation(ORDER if order > 0 else REVERSED, hidden & present)
    cells = _inferable_parts(published, numbers)
    return Relation(PART, cells) if cells.any() else None


def _inferable_parts(published: PublishedCells, numbers: Numbers) -> BoolArray:
    """Return the suppressed parts that can be computed from a number published in the row of their total.

    An example is the share of women in each area.
    """
    values, cells = published.values, np.zeros(len(published.values), bool)
    for totals, parts in published.parts:
        inferable = np.isnan(values[parts]) & ~np.isnan(numbers[totals])
        if inferable.any():
            whole, own, others = values[totals], values[parts], numbers[totals]
            shares = np.divide(own, whole, out=np.full(len(own), np.nan), where=whole > 0)
            rest = 2 * own - whole
            if _order(shares, others, len(published.parts)) or any(
                is_linear(one, others) for one in (own, shares, rest)
            ):
                cells[parts[inferable]] = True
    return cells


def is_linear(values: Numbers, numbers: Numbers) -> bool:
    """Return whether numbers are a linear function of values up to rounding, beyond chance."""
    both = ~np.isnan(values) & ~np.isnan(numbers)
    points = np.unique(np.stack([values[both], numbers[both]]), axis=1)
    own, others = points
    if np.unique(own).size < 3 or np.unique(others).size < 3:
        return False
    step = precision_of(others)
    slope, start = np.polyfit(own, others, 1)
    if np.abs(slope * own + start - others).max() > step * 0.75 + 1e-9 * np.abs(others).max():
        return False
    # Two numbers determine a line; one if it starts at zero or has slope 1.
    free = 2 - (abs(start) <= step) - (abs(abs(slope) - 1) * np.abs(own).max() <= step)
    bits = np.log2(max(1.0, float(np.ptp(others)) / (1.5 * step)))
    return bool((len(own) - free) * bits > PROOF)


def _order(values: Numbers, numbers: Numbers, tried: int = 1) -> int:
    """Return 1 if numbers strictly increase with the values, -1 if they decrease, 0 if neither or too few.

    Args:
        tried: Number of comparisons, each of which could agree by chance.
    """
    both = ~np.isnan(values) & ~np.isnan(numbers)
    points = np.unique(np.stack([values[both], numbers[both]]), axis=1)
    rises = np.diff(points[1])
    many = points.shape[1]
    # Of the n! orders of n numbers, one is increasing and one decreasing.
    bits = math.lgamma(many + 1) / math.log(2) - 1
    if bits <= ORDER_PROOF + math.log2(tried) or np.unique(points[0]).size < many:
        return 0
    return 1 if (rises > 0).all() else -1 if (rises < 0).all() else 0


def may_share_totals(published: PublishedCells, numbers: Numbers) -> bool:
    """Return whether numbers are proportional to the values below a suppressed total, as proportions are."""
    values = published.values
    for rows, totals in published.totals():
        used = (rows >= 0) & np.isnan(totals) & (values > 0) & (numbers > 0)
        for total in np.unique(rows[used]):
            own = used & (rows == total)
            if _is_proportional(values[own], numbers[own]):
                return True
    return False


def _is_proportional(values: Numbers, numbers: Numbers) -> bool:
    if np.unique(values).size < 2:
        return False
    half = precision_of(numbers) / 2
    return bool(((numbers - half) / values).max() <= ((numbers + half) / values).min())
