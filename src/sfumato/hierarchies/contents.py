"""What the values of a column look like: dates, codes, numbers, scales, categories; and a hierarchy for each."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.hierarchies.digits import MAX_LENGTH
from sfumato.hierarchies.moments import read_moments
from sfumato.hierarchies.types import ColumnType, canonical, numerals
from sfumato.hierarchies.vocabulary import POSTAL_WORDS, scale_of, words_of

DATE_FORMATS = (
    ("%Y-%m-%d", "dates such as 2017-01-31"),
    ("%Y%m%d", "dates such as 20170131"),
    ("%d.%m.%Y", "dates such as 31.01.2017"),
    ("%d/%m/%Y", "dates such as 31/01/2017"),
    ("%m/%d/%Y", "dates such as 01/31/2017"),
    ("%Y/%m/%d", "dates such as 2017/01/31"),
    ("%d.%m.%y", "dates such as 31.01.17"),
    ("%Y-%m-%d %H:%M:%S", "dates with time"),
    ("%Y-%m-%dT%H:%M:%S", "dates with time"),
)
# A column is one of dates if nearly all rows are; the few others are bad input, not another kind of column.
_SHARE_OF_DATES = 0.9
_SAMPLE = 1000
_YEARS = (1850, 2100)
_INTERVALS_WANTED = 20
_CODE = re.compile(r"[A-Za-z0-9]*[0-9][A-Za-z0-9]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Profile:
    """A column as it is found: its name, its distinct values with their counts, its rows, and how many are missing."""

    name: str
    counts: Mapping[str, int]
    rows: int
    missing: int = 0

    @property
    def values(self) -> list[str]:
        """The distinct values."""
        return list(self.counts)


@dataclass(frozen=True, slots=True)
class Content:
    """What a column's values are, in words, and the type and hierarchy that suit them."""

    words: str
    hierarchy: dict[str, Any]
    type: ColumnType = "text"


def content_of(profile: Profile) -> Content:
    """The first kind of content that a column's values are of."""
    kinds: Sequence[Callable[[Profile], Content | None]] = (_dates, _scale, _codes, _integers, _decimals)
    contents = (kind(profile) for kind in kinds)
    return next((content for content in contents if content), _categories(profile))


def _dates(profile: Profile) -> Content | None:
    values, counts = profile.values, np.array(list(profile.counts.values()), float)
    best: tuple[float, str, str] | None = None
    for format_, words in DATE_FORMATS:
        if not _likely(values, format_):
            continue
        moments = read_moments(values, format_)
        fine = moments.valid & (moments.years >= _YEARS[0]) & (moments.years <= _YEARS[1])
        share = float(counts[fine].sum() / counts.sum()) if len(values) else 0.0
        if share >= _SHARE_OF_DATES and (best is None or share > best[0]):
            best = share, format_, words
    return Content(best[2], {"type": "date", "format": best[1]}) if best else None


def _likely(values: Sequence[str], format_: str) -> bool:
    """Whether most of a sample are dates of a format: trying all of many texts would take long."""
    sample = values[:: max(len(values) // _SAMPLE, 1)]
    return bool(sample) and float(read_moments(sample, format_).valid.mean()) > 0.5


def _scale(profile: Profile) -> Content | None:
    ordered = scale_of(profile.values)
    return Content("steps of a scale", {"type": "order", "size": 2, "values": ordered}) if ordered else None


def _codes(profile: Profile) -> Content | None:
    """Codes are digits or letters with digits, told from numbers by a leading zero, a letter or the column's name."""
    values = profile.values
    lengths = {len(value) for value in values}
    postal = any(word in POSTAL_WORDS for word in words_of(profile.name))
    if not values or max(lengths) > MAX_LENGTH or not all(_CODE.fullmatch(value) for value in values):
        return None
    if len(lengths) == 1 and max(lengths) > 1 and (postal or _no_number(values)):
        length = max(lengths)
        return Content(f"codes of {length} characters", {"type": "digits", "length": length})
    return Content("codes of several lengths", {"type": "digits"}) if postal else None


def _no_number(values: Sequence[str]) -> bool:
    return any(value.startswith("0") or not value.isdigit() for value in values)


def _integers(profile: Profile) -> Content | None:
    numbers = _numbers(profile, "integer")
    if numbers is None or len(profile.counts) <= 2 or numbers.max() - numbers.min() < 3:
        return None
    low, high = int(numbers.min()), int(numbers.max())
    width = max(int(_nice((high - low) / _INTERVALS_WANTED)), 2)
    start = low // width * width
    end = start + 4 * width * math.ceil((high - start + 1) / (4 * width)) - 1
    hierarchy = {"type": "intervals", "start": start, "end": end, "widths": [width, 2 * width, 4 * width]}
    return Content("whole numbers", hierarchy, "integer")


def _decimals(profile: Profile) -> Content | None:
    numbers = _numbers(profile, "decimal")
    # A few whole numbers without more between them are codes of categories, not measurements.
    if numbers is None or len(profile.counts) <= 2 or _numbers(profile, "integer") is not None:
        return None
    width = _nice(float(numbers.max() - numbers.min()) / _INTERVALS_WANTED)
    start = _tidy(math.floor(float(numbers.min()) / width) * width)
    end = _tidy(start + 4 * width * math.ceil((float(numbers.max()) - start) / (4 * width) + 1e-9))
    widths = [_tidy(width * factor) for factor in (1, 2, 4)]
    hierarchy = {"type": "intervals", "start": start, "end": end, "widths": widths, "numbers": "decimal"}
    return Content("decimal numbers", hierarchy, "decimal")


def _numbers(profile: Profile, type_: ColumnType) -> Any:
    texts, wrong = canonical(profile.values, type_)
    return None if wrong or not texts else numerals([text or "" for text in texts])


def _nice(width: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, … that is no smaller.

    >>> _nice(3.7), _nice(0.06)
    (5.0, 0.1)
    """
    power = 10.0 ** math.floor(math.log10(width)) if width > 0 else 1.0
    return next(_tidy(power * step) for step in (1, 2, 5, 10) if power * step >= width * (1 - 1e-9))


def _tidy(number: float) -> float:
    return float(f"{number:.12g}")


def _categories(profile: Profile) -> Content:
    return Content(f"{len(profile.counts)} categories", {"type": "any"})
