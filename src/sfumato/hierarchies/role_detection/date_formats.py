"""Detect the date formats that a column is written in, one or several, and choose its hierarchy."""

import re
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.dates import read_moments
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.patterns import regex

BoolArray = npt.NDArray[np.bool_]

DATE_FORMATS = (
    ("%Y-%m-%d", "dates such as 2017-01-31"),
    ("%Y%m%d", "dates such as 20170131"),
    ("%d.%m.%Y", "dates such as 31.01.2017"),
    ("%d/%m/%Y", "dates such as 31/01/2017"),
    ("%m/%d/%Y", "dates such as 01/31/2017"),
    ("%Y/%m/%d", "dates such as 2017/01/31"),
    ("%d-%m-%Y", "dates such as 31-01-2017"),
    ("%d.%m.%y", "dates such as 31.01.17"),
    ("%m/%d/%y", "dates such as 01/31/17"),
    ("%d %b %Y", "dates such as 31 Jan 2017"),
    ("%b %d, %Y", "dates such as Jan 31, 2017"),
    ("%d %B %Y", "dates such as 31 January 2017"),
    ("%d-%b-%Y", "dates such as 31-Jan-2017"),
    ("%d-%b-%y", "dates such as 31-Jan-17"),
    ("%d%b%Y", "dates such as 31Jan2017"),
    ("%d/%b/%Y", "dates such as 31/Jan/2017"),
    ("%B %d, %Y", "dates such as January 31, 2017"),
    ("%d/%m/%y", "dates such as 31/01/17"),
    ("%d-%m-%y", "dates such as 31-01-17"),
    ("%m-%d-%Y", "dates such as 01-31-2017"),
    ("%Y.%m.%d", "dates such as 2017.01.31"),
    ("%y%m%d", "dates such as 170131"),
    ("%d%m%y", "dates such as 310117"),
    ("%Y-%m", "months such as 2017-01"),
    ("%b %Y", "months such as Jan 2017"),
    ("%b-%Y", "months such as Jan-2017"),
    ("%B %Y", "months such as January 2017"),
    ("%Y/%m", "months such as 2017/01"),
    ("%m/%Y", "months such as 01/2017"),
    ("%m.%Y", "months such as 01.2017"),
    ("%Y-%m-%d %H:%M:%S", "dates with time"),
    ("%Y-%m-%d %H:%M", "dates with time"),
    ("%Y-%m-%dT%H:%M:%S", "dates with time"),
    ("%Y-%m-%dT%H:%M:%SZ", "dates with time"),
    ("%Y-%m-%dT%H:%M", "dates with time"),
    ("%Y-%m-%dT%H:%M:%S.%f", "dates with time"),
    ("%Y-%m-%d %H:%M:%S.%f", "dates with time"),
    ("%d/%m/%Y %H:%M", "dates with time"),
    ("%d.%m.%Y %H:%M", "dates with time"),
    ("%d.%m.%Y %H:%M:%S", "dates with time"),
    ("%m/%d/%Y %H:%M", "dates with time"),
    ("%m/%d/%Y %H:%M:%S", "dates with time"),
    ("%m/%d/%Y %I:%M %p", "dates with time"),
    ("%m/%d/%Y %I:%M:%S %p", "dates with time"),
    ("%d/%m/%Y %H:%M:%S", "dates with time"),
    ("%d.%m.%Y, %H:%M", "dates with time"),
    ("%d.%m.%y %H:%M", "dates with time"),
    ("%d %b %Y %H:%M", "dates with time"),
    ("%d-%b-%Y %H:%M", "dates with time"),
    ("%d-%b-%Y %H:%M:%S", "dates with time"),
    ("%d/%m/%y %H:%M", "dates with time"),
    ("%m/%d/%y %H:%M", "dates with time"),
    ("%d-%m-%Y %H:%M", "dates with time"),
    ("%d-%m-%Y %H:%M:%S", "dates with time"),
    ("%Y/%m/%d %H:%M", "dates with time"),
    ("%Y%m%d%H%M%S", "dates with time"),
    ("%Y%m%d%H%M", "dates with time"),
    ("%Y%m%dT%H%M%S", "dates with time"),
    ("%m/%d/%y %H%M", "dates with time"),
    ("%d/%m/%y %H%M", "dates with time"),
    ("%m/%d/%Y %H%M", "dates with time"),
    ("%d/%m/%Y %H%M", "dates with time"),
    ("%d.%m.%y %H%M", "dates with time"),
    ("%d.%m.%Y %H%M", "dates with time"),
    ("%Y-%m-%d %H%M", "dates with time"),
    # Format of times with a time zone read from Parquet files, frames and databases.
    ("%Y-%m-%d %H:%M:%S+00", "dates with time"),
    ("%Y-%m-%d %H:%M:%S.%f+00", "dates with time"),
    ("%Y-%m-%dT%H:%M:%S%z", "dates with time"),
    ("%Y-%m-%d %H:%M:%S%z", "dates with time"),
    ("%Y-%m-%dT%H:%M:%S.%f%z", "dates with time"),
    ("%Y-%m-%d %H:%M:%S.%f%z", "dates with time"),
    ("%Y-%m-%dT%H:%M%z", "dates with time"),
    ("%Y-%m-%d %H:%M%z", "dates with time"),
)
# A column holds dates if nearly all rows do; the few others are bad input.
_SHARE_OF_DATES, _SHARE_IF_NAMED = 0.9, 0.75
# A further format is included in the plan if this proportion of rows has it.
_SHARE_OF_FORMAT = 0.02
_YEARS = (1850, 2100)
_LEVELS = ("month", "quarter", "year", "decade")
# No appointment, contract or card is dated later than this.
_YEARS_AHEAD = 20
_DIGITS = 4
_FEW = 40
# Six digits are dates if many are, on nearly all days of a month: 200903 is March 2009, and years are few. Consecutive
# numbers include 32 to 99, which dates do not.
_SIX_DIGITS, _MANY_DATES, _MOST_DAYS, _SHARE_OF_DAYS = ("%y%m%d", "%d%m%y"), 10, 20, 0.4
_SOME_MONTHS, _LAST_MONTH = 3, "12"


def date_hierarchy(profile: Profile, named: bool, birth: bool = False) -> tuple[str, dict[str, Any]] | None:
    """Return a description of a column's dates, and their hierarchy; None if it does not hold dates.

    Args:
        named: Whether the column's name indicates dates: then more of them may be wrong.
        birth: Whether it indicates birth: then none of them is in the future.
    """
    needed = _SHARE_IF_NAMED if named else _SHARE_OF_DATES
    if profile.share(_may_be_date) < needed:
        return None
    formats = _formats(profile, needed)
    if not formats:
        return None
    words = dict(DATE_FORMATS)[formats[0]]
    timed = ["day"] if any("%M" in format_ for format_ in formats) else []
    levels = [*timed, *(level for level in _LEVELS if level != "month" or "%d" in formats[0])]
    hierarchy = {"type": "date", "format": formats[0], "levels": levels} | _century(profile, formats, birth)
    if len(formats) == 1:
        return words, hierarchy
    others = "one other way" if len(formats) == 2 else f"{len(formats) - 1} other ways"
    return f"{words}, and in {others}", hierarchy | {"formats": formats[1:]}


def _century(profile: Profile, formats: list[str], birth: bool) -> dict[str, int]:
    """Return the last year that two digits may mean, if the default would be too late.

    If there are four-digit years as well, the hundred years are centered on these.
    """
    two_digits = [format_ for format_ in formats if "%y" in format_]
    latest = date.today().year + (0 if birth else _YEARS_AHEAD)
    others = [read_moments(profile.sample, format_) for format_ in formats if "%Y" in format_]
    years = np.concatenate([moments.years[moments.valid] for moments in others]) if others else np.zeros(0, int)
    if len(years):
        around = np.sort(years)[[len(years) // 100, len(years) - 1 - len(years) // 100]]
        latest = min(latest, int(around[1] + max(99 - (around[1] - around[0]), 0) // 2))
    late = any((read_moments(profile.sample, format_).years > latest).any() for format_ in two_digits)
    return {"latest_year": latest} if two_digits and (birth or late) else {}


def _formats(profile: Profile, needed: float) -> list[str]:
    """Return the formats of nearly all rows, the most frequent first; empty if there are none."""
    rows = np.array([profile.counts[value] for value in profile.sample], float)
    # Most formats fit none of a few values; parsing all values in each format would take long.
    few = profile.sample[:: max(len(profile.sample) // _FEW, 1)]
    signs = {_signs(value) for value in few}
    likely = [format_ for format_, _ in DATE_FORMATS if any(map(_SIGNS[format_].match, signs))]
    fits = {format_: _fits(profile.sample, format_) for format_ in likely if _are_dates(few, format_).any()}
    chosen: list[str] = []
    left = np.ones(len(rows), bool)
    while fits and rows[left].sum() > (1 - needed + 1e-9) * rows.sum():
        format_ = max(fits, key=lambda name: rows[left & fits[name]].sum())
        gain = rows[left & fits[format_]].sum() / rows.sum()
        if gain < max(_SHARE_OF_FORMAT, 0.0 if chosen else 0.2):
            return []
        chosen.append(format_)
        left &= ~fits[format_]
    return chosen + _rarer(rows, left, {name: fit for name, fit in fits.items() if not _swapped(name, chosen)})


def _swapped(format_: str, chosen: list[str]) -> bool:
    """Return whether a format is a chosen one with day and month swapped, which would be ambiguous."""
    other = format_.replace("%d", "%%").replace("%m", "%d").replace("%%", "%m")
    return other in chosen


def _rarer(
    rows: npt.NDArray[np.float64], left: npt.NDArray[np.bool_], fits: dict[str, npt.NDArray[np.bool_]]
) -> list[str]:
    """Return further formats of the remaining rows, each of some weight."""
    more: list[str] = []
    for format_, fit in fits.items():
        if rows[left & fit].sum() >= _SHARE_OF_FORMAT * rows.sum():
            more.append(format_)
            left = left & ~fit
    return more


def _fits(values: list[str], format_: str) -> BoolArray:
    fits = _are_dates(values, format_)
    return fits if format_ not in _SIX_DIGITS or _are_days(values, format_, fits) else np.zeros(len(values), bool)


def _are_dates(values: list[str], format_: str) -> BoolArray:
    moments = read_moments(values, format_)
    return moments.valid & (moments.years >= _YEARS[0]) & (moments.years <= _YEARS[1])


def _are_days(values: list[str], format_: str, fits: BoolArray) -> bool:
    """Return whether six digits that may be dates are dates, and neither months after years nor numbers."""
    start = 4 if format_.endswith("%d") else 0
    dates = [value for value, fit in zip(values, fits.tolist(), strict=True) if fit]
    days, months = {text[start : start + 2] for text in dates}, {text[:start] + text[start + 2 :] for text in dates}
    if len(dates) < _MANY_DATES or len(months) < _SOME_MONTHS:
        return False
    return len(days) >= min(_MOST_DAYS, _SHARE_OF_DAYS * len(dates)) and max(days) > _LAST_MONTH


def _signs(value: str) -> str:
    """Return the separators between the letters and digits of a text."""
    return "".join(sign for sign in value if not sign.isalnum())


# Separators of each format; a time zone has its own.
_SIGNS = {
    format_: regex(re.escape(_signs(re.sub("%[a-zA-Z]", "", format_))) + ("" if format_.endswith("%z") else "$"))
    for format_, _ in DATE_FORMATS
}


def _may_be_date(value: str) -> bool:
    return 5 < len(value) < 30 and sum(map(str.isdigit, value)) >= _DIGITS
