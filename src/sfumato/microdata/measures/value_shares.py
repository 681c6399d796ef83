"""Distribution of the values of a column that is no quasi-identifier, original and as published.

Rounded, top- or bottom-coded and binned numbers are estimated as a data user would: evenly between the smallest and the
largest number with the same published label. A lost shape of the distribution therefore becomes visible.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.microdata.column_transforms.number_parsing import read_numbers
from sfumato.microdata.column_transforms.transform_plan import PublishPlan
from sfumato.microdata.models.equivalence_classes import Floats

# Number of bins, number of category values shown, and the maximum length of a two-ended bin name.
BINS, MOST_VALUES, LONGEST_END = 12, 8, 6
Counts = Mapping[str | None, int]
# A value, or None for a missing one, with its share before and after.
Share = list[Any]


def coded_shares(publish: PublishPlan, rows: Counts) -> list[Share]:
    """Return the shares of bins of a column's original numbers, before, and after as estimated from the coded ones.

    >>> shares = coded_shares(PublishPlan(top=40.0), {"0": 6, "50": 1, "60": 4, "110": 1})
    >>> [(name, round(before, 2), round(after, 2)) for name, before, after in shares][:4]
    [('0', 0.5, 0.5), ('50', 0.08, 0.04), ('60', 0.33, 0.08), ('', 0.0, 0.08)]
    """
    texts, numbers = _numbers(rows)
    if len(set(numbers)) < 2:
        return []
    order = np.argsort(numbers, kind="stable")
    texts, raw = [texts[place] for place in order.tolist()], np.array(numbers)[order]
    counts = np.array([rows[text] for text in texts], dtype=np.float64)
    places = bin_places(raw)
    before = _in_bins(places, counts)
    after = _guessed(raw, counts, publish.publish([text for text in texts if text is not None]))
    return _named(texts, places, before, after)


def counted_shares(before: Counts, after: Counts, numeric: bool = False) -> tuple[list[Share], int]:
    """Return the shares of the values of a column, the most frequent first, and how many others there are.

    Args:
        numeric: Whether its values are numbers and not codes: many distinct ones are binned.

    >>> counted_shares({"flu": 3, "gout": 1}, {"flu": 3})
    ([['flu', 0.75, 1.0], ['gout', 0.25, 0.0]], 0)
    """
    texts, numbers = _numbers({**before, **after})
    if numeric and len(set(numbers)) > BINS:
        order = np.argsort(numbers, kind="stable").tolist()
        texts, places = [texts[place] for place in order], bin_places(np.array(numbers)[order])
        sides = [_in_bins(places, np.array([float(side.get(text, 0)) for text in texts])) for side in (before, after)]
        return _named(texts, places, *sides), 0
    totals = [max(sum(side.values()), 1) for side in (before, after)]
    values = sorted({**before, **after}, key=lambda text: -before.get(text, 0))
    shown = values if len(values) <= MOST_VALUES + 1 else values[:MOST_VALUES]
    shares = [[text, before.get(text, 0) / totals[0], after.get(text, 0) / totals[1]] for text in shown]
    return shares, len(values) - len(shown)


def bin_places(numbers: Floats) -> npt.NDArray[np.int64]:
    """Return the index of the equal-width bin of each number; the numbers are sorted."""
    low, high = float(numbers[0]), float(numbers[-1])
    return np.minimum(((numbers - low) / max(high - low, 1e-9) * BINS).astype(np.int64), BINS - 1)


def _in_bins(places: npt.NDArray[np.int64], rows: Floats) -> Floats:
    return np.bincount(places, weights=rows, minlength=BINS).astype(np.float64)


def bin_name(first: str, last: str) -> str:
    """Name a bin by its ends.

    >>> bin_name("20", "24"), bin_name("1950-01-02", "1955-12-30"), bin_name("7", "7")
    ('20–24', '1950-01-02', '7')
    """
    return first if first == last or len(first) > LONGEST_END else f"{first}–{last}"


def _numbers(rows: Counts) -> tuple[list[str | None], list[float]]:
    """Return the texts that are numbers, and these numbers."""
    texts = [text for text in rows if text is not None]
    read = [(text, number) for text, number in zip(texts, read_numbers(texts), strict=True) if number is not None]
    return [text for text, _ in read], [float(number) for _, number in read]


def _guessed(raw: Floats, counts: Floats, published: Sequence[str | None]) -> Floats:
    """Return rows in each bin, with each published label distributed evenly from its smallest to its largest number."""
    _, groups = np.unique([text or "" for text in published], return_inverse=True)
    rows = np.bincount(groups, weights=counts)
    low, high = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
    np.minimum.at(low, groups, raw)
    np.maximum.at(high, groups, raw)
    single = low == high
    spread = _in_bins(bin_places(np.array([raw[0], *low[single], raw[-1]]))[1:-1], rows[single])
    edges = np.linspace(raw[0], raw[-1], BINS + 1)
    low, high, rows = low[~single, None], high[~single, None], rows[~single, None]
    overlap = np.clip(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0, None)
    spread += (rows * overlap / (high - low)).sum(axis=0)
    return spread


def _named(texts: Sequence[str | None], places: npt.NDArray[np.int64], before: Floats, after: Floats) -> list[Share]:
    """Return bins with their shares, named by their first and last value; bins without original values have no name."""
    totals = [max(float(side.sum()), 1.0) for side in (before, after)]
    shares: list[Share] = []
    for place in np.flatnonzero((before > 0) | (after > 0)).tolist():
        inside = np.flatnonzero(places == place)
        name = bin_name(texts[int(inside[0])] or "", texts[int(inside[-1])] or "") if len(inside) else ""
        shares.append([name, float(before[place]) / totals[0], float(after[place]) / totals[1]])
    return shares
