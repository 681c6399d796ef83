"""The hierarchy `date`: day, half month, month, quarter, half year, year, decade, century, millennium, `*`."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.hierarchies.datetimes import Integers, directives, read_moments, readable
from sfumato.hierarchies.explicit_domains import PathFree
from sfumato.hierarchies.hierarchy import BoundHierarchy, assemble
from sfumato.hierarchies.levels import Level, level_of_keys, root_level
from sfumato.localization.messages import Message
from sfumato.schema.composite import Choice
from sfumato.schema.dataclass_schema import KeyInfo

LEVELS = ("day", "half-month", "month", "quarter", "half-year", "year", "decade", "century", "millennium", "any")
Rung = Annotated[str, Choice(LEVELS)]
_NOTHING = "****"


@dataclass(frozen=True, slots=True)
class _Step:
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


@dataclass(frozen=True, slots=True)
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
            raise ValueError("levels must go from fine to coarse: " + ", ".join(LEVELS) + ".")
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
