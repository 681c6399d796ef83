"""The hierarchy `date`: day, half month, month, quarter, half year, year, decade, century, millennium, `*`."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.hierarchy import BoundHierarchy, Level, assemble, level_of_keys, root_level
from sfumato.hierarchies.lists import PathFree
from sfumato.localization.messages import Message
from sfumato.schema.composite import Choice
from sfumato.schema.dataclass_schema import KeyInfo
from sfumato.values import Value, fields

Integers = npt.NDArray[np.int64]

# Directives with a fixed number of digits, which are parsed by column.
_WIDTHS = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2, "f": 6, "y": 2}
_DIRECTIVE = re.compile(r"%(.)", re.DOTALL)
_HOURS_OF_ZONE = re.compile(r":\d\d(?:\.\d+)?[+-]\d\d\Z", re.ASCII)
_NUMERIC = set("YmdHMSfyjIUWGVu")
_UNIX_ORDINAL = 719163
_DAY_SECONDS = 86400
# POSIX: two-digit years below this are of this century.
_PIVOT = 69


class Datetimes(Value):
    """The dates and times of texts, and which texts are none.

    Attributes:
        valid: Whether a text is a date; the other arrays are meaningless if not.
        years: The year of each date.
        months: The month of each date.
        days: The day of each date.
        micros: Microseconds since 1970-01-01.
        ordinals: Days since 0001-01-01 (day 1), with the time of day as fraction.
    """

    valid: npt.NDArray[np.bool_]
    years: Integers
    months: Integers
    days: Integers
    micros: Integers
    ordinals: npt.NDArray[np.float64]

    def or_else(self, others: "Datetimes") -> "Datetimes":
        """Return these dates, replaced by those of another format where invalid."""
        parts = ((getattr(self, name), getattr(others, name)) for name in fields(self))
        return Datetimes(*(np.where(self.valid, mine, theirs) for mine, theirs in parts))


def read_moments(texts: Sequence[str], format_: str, latest_year: int | None = None) -> Datetimes:
    """Parse texts in a format.

    Args:
        latest_year: Two-digit years that would be later belong to the century before; without it, those from 69
            on are of the last century (POSIX).

    Texts must have all their digits (`1991102` is no `%Y%m%d`), unless separators distinguish the parts
    (`1/2/1991` is a `%d/%m/%Y`).

    >>> read_moments(["19910228", "19910229", "1991102"], "%Y%m%d").valid.tolist()
    [True, False, False]
    """
    layout = _layout(format_)
    if layout is None:
        return _moments(_of_century(_slowly(texts, format_), format_, latest_year))
    width = sum(_WIDTHS[part[1]] if part.startswith("%") else 1 for part in layout)
    whole = np.fromiter((len(text) == width for text in texts), np.bool_, len(texts))
    parts = np.zeros((8, len(texts)), np.int64)
    parts[:, whole] = _quickly([text for text, fits in zip(texts, whole, strict=True) if fits], layout, width)
    # A shorter text can only lack zeros, which requires separators between the parts.
    others = [place for place in np.flatnonzero(~whole).tolist() if len(texts[place]) < width and _apart(format_)]
    parts[:, others] = _slowly([texts[place] for place in others], format_)
    return _moments(_of_century(parts, format_, latest_year))


def _of_century(parts: Integers, format_: str, latest_year: int | None) -> Integers:
    """Return the parts with two-digit years moved to the hundred years up to the latest one."""
    if latest_year is not None and "y" in directives(format_):
        parts[1] = latest_year - (latest_year - parts[1]) % 100
    return parts


def directives(format_: str) -> set[str]:
    """Return the letters of a format's directives.

    >>> sorted(directives("%d.%m.%Y"))
    ['Y', 'd', 'm']
    """
    return set(_DIRECTIVE.findall(format_)) - {"%"}


def readable(format_: str) -> bool:
    """Return whether strptime supports a format.

    >>> readable("%d.%m.%Y"), readable("%-d.%Q")
    (True, False)
    """
    try:
        datetime.strptime(datetime(2001, 2, 3, 4, 5, 6, tzinfo=UTC).strftime(format_), format_)
    except (ValueError, re.error):
        return False
    return True


def _layout(format_: str) -> list[str] | None:
    """Return the format as directives and single characters, or None if it is not made of fixed numbers of digits."""
    letters = _DIRECTIVE.findall(format_)
    if any(letter not in _WIDTHS for letter in letters) or len(set(letters)) < len(letters):
        return None
    if not {"Y", "y"} & set(letters) or any(sign.isspace() for sign in format_ if sign != " "):
        return None
    return re.findall(r"%.|[^%]", format_)


def _quickly(texts: Sequence[str], layout: list[str], width: int) -> Integers:
    """Parse fixed-width texts. Rows: valid, year, month, day, hour, minute, second, microsecond; columns: texts."""
    signs = np.array(texts, f"U{width}").view(np.uint32).reshape(len(texts), width).astype(np.int64)
    numbers = {"m": np.ones(len(texts), np.int64), "d": np.ones(len(texts), np.int64)}
    valid = np.ones(len(texts), np.int64)
    place = 0
    for part in layout:
        step = _WIDTHS[part[1]] if part.startswith("%") else 1
        columns = signs[:, place : place + step]
        if part.startswith("%"):
            digits = columns - ord("0")
            valid &= ((digits >= 0) & (digits <= 9)).all(axis=1)
            numbers[part[1]] = digits @ (10 ** np.arange(step - 1, -1, -1, dtype=np.int64))
        else:
            valid &= columns[:, 0] == ord(part)
        place += step
    zero = np.zeros(len(texts), np.int64)
    year = numbers["Y"] if "Y" in numbers else numbers["y"] + np.where(numbers["y"] < _PIVOT, 2000, 1900)
    return np.stack([valid, year, numbers["m"], numbers["d"], *(numbers.get(letter, zero) for letter in "HMSf")])


def _slowly(texts: Sequence[str], format_: str) -> Integers:
    """Return the same rows for any format, with Python's own parser."""
    rows = [_one(text, format_) for text in texts]
    return np.array(rows, np.int64).reshape(len(texts), 8).T


def _one(text: str, format_: str) -> tuple[int, ...]:
    nothing = (0, 1, 1, 1, 0, 0, 0, 0)
    if any(sign.isdigit() and not sign.isascii() for sign in text) or text != text.strip():
        return nothing
    try:
        moment = datetime.strptime(_with_minutes(text) if format_.endswith("%z") else text, format_)
    except ValueError:
        return nothing
    if not _apart(format_) and moment.strftime(format_) != text:
        return nothing
    date = (1, moment.year, moment.month, moment.day)
    return (*date, moment.hour, moment.minute, moment.second, moment.microsecond)


def _with_minutes(text: str) -> str:
    """Complete a time zone given in hours only, as databases write it, by its minutes.

    >>> _with_minutes("2017-01-31 14:30:00+01"), _with_minutes("2017-01-31 14:30:00+05:30")
    ('2017-01-31 14:30:00+0100', '2017-01-31 14:30:00+05:30')
    """
    return f"{text}00" if _HOURS_OF_ZONE.search(text) else text


def _apart(format_: str) -> bool:
    """Return whether separators lie between all numbers of a format, so that a missing zero cannot shift them."""
    return not re.search(rf"%[{''.join(_NUMERIC)}]%[{''.join(_NUMERIC)}]", format_)


def _moments(parts: Integers) -> Datetimes:
    valid, year, month, day, hour, minute, second, micro = parts
    fine = valid.astype(bool) & (year >= 1) & (month >= 1) & (month <= 12) & (hour < 24) & (minute < 60) & (second < 60)
    index = np.where(fine, (year - 1970) * 12 + month - 1, 0)
    first, following = (moved.astype("M8[M]").astype("M8[D]").astype(np.int64) for moved in (index, index + 1))
    fine &= (day >= 1) & (day <= following - first)
    whole = hour * 3600 + minute * 60 + second
    since = first + day - 1
    ordinals = since + _UNIX_ORDINAL + (whole + micro / 1e6) / _DAY_SECONDS
    return Datetimes(fine, year, month, day, (since * _DAY_SECONDS + whole) * 1_000_000 + micro, ordinals)


LEVELS = ("day", "half-month", "month", "quarter", "half-year", "year", "decade", "century", "millennium", "any")
Rung = Annotated[str, Choice(LEVELS)]
_NOTHING = "****"


class _Step(Value):
    """How a level groups dates, and how it names groups; labels do not depend on the input's format."""

    key: Callable[[Integers, Integers, Integers], Integers]
    label: Callable[[int], str]


_STEPS: dict[str, _Step] = {
    "day": _Step(
        lambda year, month, day: (year * 12 + month - 1) * 31 + day - 1,
        lambda key: f"{key // 372:04d}{key // 31 % 12 + 1:02d}{key % 31 + 1:02d}",
    ),
    "half-month": _Step(
        lambda year, month, day: (year * 12 + month - 1) * 2 + (day > 15),
        lambda key: f"{key // 24:04d}{key // 2 % 12 + 1:02d}H{key % 2 + 1}",
    ),
    "month": _Step(
        lambda year, month, _: year * 12 + month - 1,
        lambda key: f"{key // 12:04d}{key % 12 + 1:02d}**",
    ),
    "quarter": _Step(lambda year, month, _: year * 4 + (month - 1) // 3, lambda key: f"{key // 4:04d}Q{key % 4 + 1}"),
    "half-year": _Step(lambda year, month, _: year * 2 + (month > 6), lambda key: f"{key // 2:04d}H{key % 2 + 1}"),
    "year": _Step(lambda year, _, __: year, lambda key: f"{key:04d}"),
    "decade": _Step(lambda year, _, __: year // 10, lambda key: f"{key:03d}*"),
    "century": _Step(lambda year, _, __: year // 100, lambda key: f"{key:02d}**"),
    "millennium": _Step(lambda year, _, __: year // 1000, lambda key: f"{key}***"),
}


class Dates(PathFree):
    """The levels of a date, from fine to coarse; level 0 is the original text, the last one is `****`.

    `day` is the original text itself, unless the format has a time of day: then it is a separate level above it.

    Attributes:
        format: How the dates are written (strptime).
        levels: The requested levels; `day` and `any` are always included. By default, all that the format supports.
        formats: Further formats of some dates; a text is parsed in the first format that fits.
        latest_year: The last year that two digits may mean: a birth date is not in the future.

    >>> Dates("%d.%m.%Y", ("quarter", "year")).fit(["10.01.2017"]).hierarchy.rows()
    [('10.01.2017', '2017Q1', '2017', '****')]
    """

    name: ClassVar[str] = "date"
    format: Annotated[str, KeyInfo("How the dates are written (strptime), %Y-%m-%d unless given.")] = "%Y-%m-%d"
    levels: Annotated[tuple[Rung, ...], KeyInfo("The rungs wanted, from fine to coarse.", at_least=1)] = ()
    formats: Annotated[
        tuple[str, ...], KeyInfo("Other ways in which some dates are written, tried in this order.")
    ] = ()
    latest_year: Annotated[
        int | None,
        KeyInfo("The last year that two digits may stand for; without it, 69 to 99 are 1969 to 1999.", minimum=1),
    ] = None

    def __post_init__(self) -> None:
        for format_ in (self.format, *self.formats):
            # The year first: Python 3.13 warns where a day is read without one.
            if not directives(format_) & set("YyGcx") or not readable(format_):
                raise ValueError(Message("error.value.no_format", name=format_))
        places = [LEVELS.index(level) for level in self.levels]
        if any(high <= low for low, high in pairwise(places)):
            raise ValueError(Message("error.value.fine_to_coarse", names=", ".join(LEVELS)))
        early = [level for level in self.levels if level != "day" and LEVELS.index(level) < self._first]
        if early:
            raise ValueError(Message("error.value.too_coarse", name=self.format, other=early[0]))

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the values that are dates, from the earliest to the latest."""
        moments = read_moments(values, self.format, self.latest_year)
        for format_ in self.formats:
            moments = moments.or_else(read_moments(values, format_, self.latest_year))
        kept = _chronological(values, moments.valid, moments.ordinals)
        parts = (moments.years[kept], moments.months[kept], moments.days[kept])
        levels: list[Level] = [level_of_keys(step.key(*parts), step.label) for step in self._steps()]
        texts = [values[place] for place in kept]
        rejected = tuple(values[place] for place in np.flatnonzero(~moments.valid).tolist())
        ladder = assemble(texts, [*levels, root_level(len(texts), _NOTHING)], moments.ordinals[kept])
        return BoundHierarchy(ladder, rejected)

    def _steps(self) -> list[_Step]:
        # An original year or month needs no level that repeats it.
        levels = self.levels or LEVELS[self._first + 1 if self._first else 0 :]
        # Original texts of several formats, or with a time, may mean the same day.
        days = bool(self.formats) or bool(directives(self.format) & set("HIMSfcX"))
        return [_STEPS[level] for level in levels if level != "any" and (level != "day" or days)]

    @property
    def finest(self) -> str:
        """Return the finest level that all formats support: day, month or year."""
        return LEVELS[self._first]

    @property
    def _first(self) -> int:
        return max(_finest(directives(format_)) for format_ in (self.format, *self.formats))


def _chronological(values: Sequence[str], valid: npt.NDArray[np.bool_], ordinals: npt.NDArray[np.float64]) -> list[int]:
    """Return the indices of the valid values by time, ties by text."""
    places = sorted(np.flatnonzero(valid).tolist(), key=values.__getitem__)
    order = np.argsort(ordinals[places], kind="stable")
    return [places[place] for place in order]


def _finest(letters: set[str]) -> int:
    """Return the index of the finest level that a format with these directives supports."""
    if letters & set("djcx") or (letters & set("uwaA") and letters & set("UWV")):
        return 0
    return LEVELS.index("month") if letters & set("mbB") else LEVELS.index("year")
