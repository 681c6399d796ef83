"""Meaning of published labels to an attacker: the values each label covers, and distances between labels.

A label of the hierarchy, at any level, covers the values below it. Without a hierarchy, intervals, ranges, masked codes
and sets are parsed from their texts. `*` covers every value.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.dates import read_moments
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.label_bounds import bounds_of
from sfumato.microdata.recoding.range_grid import range_ends
from sfumato.values import Value

Floats = npt.NDArray[np.float64]
Text = str | None
# Larger tables of labels by values are not built: such columns are compared by equality, or as numbers.
MOST_PAIRS = 4_000_000
# Maximum number of ranges that are compared one by one.
MOST_RANGES = 5_000
_STARS = re.compile(r"\*+")
_PREFIX = re.compile(r"([^*]+)\*+")
_SUFFIX = re.compile(r"\*+([^*]+)")
# Common date formats at the ends of date ranges.
_DATES = ("%Y-%m-%d", "%d.%m.%Y", "%Y%m%d", "%m/%d/%Y")
# Number of dates that are tested to find a column's format.
_TRIED = 20
_CODE = re.compile(r"-?0\d+")
# A leading zero marks a code: 007 is not the number 7.
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")


class LabelSemantics(Value):
    """The meaning of a column's labels.

    Attributes:
        covers: Whether each label (row) covers each value (column).
        distance: From each label to each value: 0 if it covers the value, the gap as a share of the range between
            numbers, 1 otherwise.
    """

    covers: npt.NDArray[np.bool_]
    distance: npt.NDArray[np.float32]


def meaning_of(labels: Sequence[Text], values: Sequence[Text], ladder: Hierarchy | None = None) -> LabelSemantics:
    """Return the meaning of labels for some values.

    >>> meaning_of(["30-39", "72***", "*"], ["31", "72021"]).covers.tolist()
    [[True, False], [False, True], [True, True]]
    """
    covers = _equal(labels, values)
    if ladder is not None:
        covers |= _by_ladder(labels, values, ladder)
    numbers, low, high = _numbers(values), *_ends(labels)
    inside = (numbers >= low[:, None]) & (numbers <= high[:, None])
    bounded = (np.isfinite(low) | np.isfinite(high)) & np.array([not _is_code(label) for label in labels], bool)
    covers |= inside & bounded[:, None]
    covers |= _between_dates(labels, values)
    for place, label in enumerate(labels):
        covers[place] |= _by_text(label, values)
    return LabelSemantics(covers, _distances(covers, numbers, low, high, bounded))


def _equal(labels: Sequence[Text], values: Sequence[Text]) -> npt.NDArray[np.bool_]:
    places = {value: place for place, value in enumerate(values)}
    covers = np.zeros((len(labels), len(values)), bool)
    for row, label in enumerate(labels):
        if label in places:
            covers[row, places[label]] = True
    return covers


def _by_ladder(labels: Sequence[Text], values: Sequence[Text], ladder: Hierarchy) -> npt.NDArray[np.bool_]:
    rows = {label: row for row, label in enumerate(labels)}
    columns = {value: column for column, value in enumerate(values)}
    covers = np.zeros((len(labels), len(values)), bool)
    own = np.array([columns.get(value, -1) for value in ladder.values], np.int64)
    for texts, codes in zip(ladder.labels, ladder.codes, strict=True):
        known = np.array([rows.get(text, -1) for text in texts], np.int64)[codes]
        both = (known >= 0) & (own >= 0)
        covers[known[both], own[both]] = True
    return covers


def _numbers(values: Sequence[Text]) -> Floats:
    return np.array([float(value) if value is not None and _NUMBER.fullmatch(value) else np.nan for value in values])


def _ends(labels: Sequence[Text]) -> tuple[Floats, Floats]:
    """Return the smallest and the largest number that each label covers, infinite if unbounded."""
    pairs = [_bounds(label) for label in labels]
    return np.array([low for low, _ in pairs], float), np.array([high for _, high in pairs], float)


def _is_code(label: Text) -> bool:
    return label is not None and bool(_CODE.fullmatch(label))


def ranges_of(labels: Sequence[Text], values: Sequence[Text]) -> tuple[Floats, Floats, Floats] | None:
    """Return the bounds of each label, and the values as numbers; None if a label is unbounded."""
    numbers, (low, high) = numbers_in(values), _ends(labels)
    bounded = np.isfinite(low) | np.isfinite(high)
    told = np.array([label is not None and bool(label.strip("*")) for label in labels], bool)
    coded = any(map(_is_code, labels))
    if numbers is None or coded or not bounded[told].all() or len(labels) > MOST_RANGES:
        return None
    return np.where(bounded, low, np.nan), np.where(bounded, high, np.nan), numbers


def _bounds(label: Text) -> tuple[float, float]:
    low, high = bounds_of(label)
    tiny = 1e-9
    least = -np.inf if low is None else low + (tiny if label and label[0] == ">" else 0)
    open_end = label is not None and (label[0] == "<" or label.endswith(")"))
    return least, np.inf if high is None else high - (tiny if open_end else 0)


def _between_dates(labels: Sequence[Text], values: Sequence[Text]) -> npt.NDArray[np.bool_]:
    """Return the dates that a date range covers; its ends have the format of the values, or are ISO dates."""
    ends = [range_ends(label) or ("", "") for label in labels]
    covers = np.zeros((len(labels), len(values)), bool)
    if not any(low for low, _ in ends):
        return covers
    texts = [value or "" for value in values]
    for format_ in _DATES:
        days = _days(texts, (format_,))
        if np.isfinite(days).any():
            low, high = (_days([pair[side] for pair in ends], (format_, _DATES[0])) for side in (0, 1))
            covers |= (days >= low[:, None]) & (days < high[:, None] + 1)
    return covers


def _days(texts: Sequence[str], formats: Sequence[str]) -> Floats:
    """Dates as ordinals, read in the first format that fits; NaN for other texts."""
    moments = read_moments(texts, formats[0])
    for format_ in formats[1:]:
        moments = moments.or_else(read_moments(texts, format_))
    return np.where(moments.valid, moments.ordinals, np.nan)


def _by_text(label: Text, values: Sequence[Text]) -> npt.NDArray[np.bool_]:
    """Return the values that a masked code, a set or `*` covers."""
    if label is None:
        return np.zeros(len(values), bool)
    if _STARS.fullmatch(label):
        return np.ones(len(values), bool)
    if match := _PREFIX.fullmatch(label):
        return np.array([v is not None and len(v) == len(label) and v.startswith(match[1]) for v in values], bool)
    if match := _SUFFIX.fullmatch(label):
        return np.array([v is not None and len(v) == len(label) and v.endswith(match[1]) for v in values], bool)
    if label[0] == "{":
        members = {*label[1:-1].split(", ")}
        return np.array([value in members for value in values], bool)
    return np.zeros(len(values), bool)


def _distances(
    covers: npt.NDArray[np.bool_], numbers: Floats, low: Floats, high: Floats, bounded: npt.NDArray[np.bool_]
) -> npt.NDArray[np.float32]:
    spread = float(np.nanmax(numbers) - np.nanmin(numbers)) if np.isfinite(numbers).any() else 0.0
    far = np.ones(covers.shape)
    if spread > 0 and bounded.any():
        gap = np.maximum(np.maximum(low[:, None] - numbers, numbers - high[:, None]), 0) / spread
        far = np.where(bounded[:, None] & np.isfinite(gap), np.minimum(gap, 1.0), far)
    return np.where(covers, 0.0, far).astype(np.float32)


def days_in(texts: Sequence[Text]) -> Floats | None:
    """Return the dates of a column as ordinals; None unless all its values are dates in one format."""
    present = [text for text in dict.fromkeys(texts) if text is not None]
    for format_ in _DATES:
        if present and np.isfinite(_days(present[:_TRIED], (format_,))).all():
            days = dict(zip(present, _days(present, (format_,)).tolist(), strict=True))
            ordinals = np.array([np.nan if text is None else days[text] for text in texts])
            return ordinals if np.isfinite(list(days.values())).all() else None
    return None


def numbers_in(texts: Sequence[Text]) -> Floats | None:
    """Return the numbers of a column, NaN for missing values; None unless all its values are numbers."""
    numbers = _numbers(texts)
    present = np.array([text is not None for text in texts], bool)
    return numbers if present.any() and np.isfinite(numbers[present]).all() else None


def coded_numbers(labels: Sequence[Text], values: Floats) -> tuple[Floats, Floats] | None:
    """Return labels as numbers, with coded ends such as <1000 and >9200, and all values beyond an end as one.

    >>> [numbers.round(6).tolist() for numbers in coded_numbers(["200", ">300"], np.array([190.5, 300, 301, 999]))]
    [[200.0, 300.0], [190.5, 300.0, 300.0, 300.0]]
    """
    numbers = _numbers(labels)
    for place, label in enumerate(labels):
        low, high = bounds_of(label)
        if low is not None and high is None:
            numbers[place] = beyond = np.nextafter(low, np.inf)
            values = np.where(values > low, beyond, values)
        elif high is not None and low is None:
            numbers[place] = beyond = np.nextafter(high, -np.inf)
            values = np.where(values < high, beyond, values)
    told = np.array([label is not None for label in labels], bool)
    return (numbers, values) if told.any() and np.isfinite(numbers[told]).all() else None
