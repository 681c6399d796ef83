"""Relations of a further column to the published values: linear, shares of totals, the same order, parts of totals."""

import math
from collections.abc import Iterator

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import BoolArray, Numbers, Places
from sfumato.tables.cells.precision import precision_of

LINEAR = "It is a linear function of the published values."
RATIO = "It is a linear function of each value's share of a published total."
REST = "It is a linear function of what each value leaves of a published total."
ORDER = "It has the same order as the published values, so it bounds the suppressed ones."
REVERSED = "It has the reverse order of the published values, so it bounds the suppressed ones."
PART = "It follows from one part of each total, such as the women of each area, or from its share of the total."
# Relations by which numbers are computed from the values, exactly up to rounding.
COMPUTED = (LINEAR, RATIO, REST)
# Bits by which a column must agree with a function beyond chance, and with an order.
PROOF = 6.0
ORDER_PROOF = 5.0


@dataclass(frozen=True, slots=True)
class Shown:
    """What a file shows of its cells.

    Attributes:
        values: The published values; NaN if suppressed.
        above: For each dimension, and for the grand total, the row of the total of each row; -1 if there is none.
        parts: For each category, the rows of the totals over its dimension, and their parts in this category.
        names: The names of the cells.
    """

    values: Numbers
    above: tuple[Places, ...]
    parts: tuple[tuple[Places, Places], ...]
    names: tuple[str, ...]

    def totals(self) -> Iterator[tuple[Places, Numbers]]:
        """Yield the rows of totals of each dimension, and their values."""
        for rows in self.above:
            yield rows, np.where(rows >= 0, self.values[rows], np.nan)


@dataclass(frozen=True, slots=True)
class Relation:
    """How a column relates to the values, in words, and the suppressed cells that follow from it."""

    text: str
    cells: BoolArray


def relation_to(shown: Shown, numbers: Numbers) -> Relation | None:
    """Return the first relation of numbers to the values that is unlikely by chance; None if there is none.

    >>> values = np.array([100.0, 40.0, 35.0, 25.0, np.nan])
    >>> shown = Shown(values, (np.array([-1, 0, 0, 0, 0]),), (), tuple("tabcd"))
    >>> relation_to(shown, 7 * np.array([100.0, 40.0, 35.0, 25.0, 3.0])).cells.tolist()
    [False, False, False, False, True]
    """
    values, hidden, said = shown.values, np.isnan(shown.values), ~np.isnan(numbers)
    if is_linear(values, numbers):
        return Relation(LINEAR, hidden & said)
    for rows, totals in shown.totals():
        shares = np.divide(values, totals, out=np.full(len(values), np.nan), where=totals > 0)
        if np.unique(totals[~np.isnan(shares) & said]).size and is_linear(shares, numbers):
            cells = hidden & said & ~np.isnan(totals)
            # A proportion and its value disclose the total.
            cells[rows[(rows >= 0) & said & ~hidden & np.isnan(totals)]] = True
            return Relation(RATIO, cells)
        if is_linear(totals - values, numbers):
            return Relation(REST, hidden & said & ~np.isnan(totals))
    order = _order(values, numbers)
    if order != 0:
        return Relation(ORDER if order > 0 else REVERSED, hidden & said)
    cells = _told_parts(shown, numbers)
    return Relation(PART, cells) if cells.any() else None


def _told_parts(shown: Shown, numbers: Numbers) -> BoolArray:
    """Return the suppressed parts of totals that follow from numbers next to the totals."""
    values, cells = shown.values, np.zeros(len(shown.values), bool)
    for totals, parts in shown.parts:
        told = np.isnan(values[parts]) & ~np.isnan(numbers[totals])
        if told.any():
            whole, own, others = values[totals], values[parts], numbers[totals]
            shares = np.divide(own, whole, out=np.full(len(own), np.nan), where=whole > 0)
            rest = 2 * own - whole
            if _order(shares, others, len(shown.parts)) or any(is_linear(one, others) for one in (own, shares, rest)):
                cells[parts[told]] = True
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
        values: The values.
        numbers: The numbers.
        tried: How many such values are compared with the numbers.
    """
    both = ~np.isnan(values) & ~np.isnan(numbers)
    points = np.unique(np.stack([values[both], numbers[both]]), axis=1)
    rises = np.diff(points[1])
    many = points.shape[1]
    # One of all orders of so many numbers rises, and one falls.
    bits = math.lgamma(many + 1) / math.log(2) - 1
    if bits <= ORDER_PROOF + math.log2(tried) or np.unique(points[0]).size < many:
        return 0
    return 1 if (rises > 0).all() else -1 if (rises < 0).all() else 0


def may_share_totals(shown: Shown, numbers: Numbers) -> bool:
    """Return whether numbers are proportional to the values below a suppressed total, as proportions are."""
    values = shown.values
    for rows, totals in shown.totals():
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
