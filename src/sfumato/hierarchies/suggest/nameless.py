"""Columns without names, told by how their values spread: ages, postcodes, heights, amounts, measures, statutes."""

import re

import numpy as np

from sfumato.hierarchies.suggest.contents import Content, ages_of, content_of, postcodes_of, spread_of
from sfumato.hierarchies.suggest.pointing import are_measures
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.ranges import Spread

# What columns are called that have no names.
_NAMELESS = re.compile(r"(?i:c|col|column|v|var|x|f|field|spalte|feld|coluna|kolumn|unnamed:?)[ _]?\d+|\d+")
# Heights of grown persons in centimeters: nearly all of them, and what the middle one is.
_HEIGHTS, _MIDDLE_HEIGHT, _HEIGHT_SPAN, _MIDDLE_HALF = (135, 215), (155, 185), 15, 18
# Sections of laws and codes of diagnoses, which have a point and are no measures since a few of them repeat.
_STATUTE = re.compile(r"(?:§+ ?|Art\.? ?|Sec\.? ?)\d+.*|[1-9]\d{2}\.\d{2,3}(?:\([0-9a-zA-Z]\))*")
_MOST, _SOME_NUMBERS, _FEW_STATUTES = 0.9, 30, 3
# Amounts: of several lengths, more small ones than large ones, and no small numbers.
_LEAST_AMOUNT, _SKEW = 100, 1.05


def is_nameless(profile: Profile) -> bool:
    """Whether a column has no name of its own."""
    return _NAMELESS.fullmatch(profile.name) is not None


def known_by_spread(profile: Profile) -> tuple[str, Content] | None:
    """What others may know that the values of a column without a name spread as: its concept and its content."""
    if ages := ages_of(profile):
        return "age", ages
    if postcodes := postcodes_of(profile):
        return "place", postcodes
    spread, whole = spread_of(profile)
    if spread is None or not whole or not _are_heights(spread):
        return None
    return "body", content_of(profile)


def private_by_spread(profile: Profile) -> str | None:
    """The concept of something private that the values of a column without a name spread as."""
    if profile.few and len(profile.counts) >= _FEW_STATUTES and profile.share_of(_STATUTE) >= _MOST:
        return "crime"
    spread, whole = spread_of(profile)
    if spread is None or len(spread.numbers) < _SOME_NUMBERS or not are_measures(profile):
        return None
    return "money" if _are_amounts(spread) else None if whole else "measure"


def _are_heights(spread: Spread) -> bool:
    low, middle, high = (spread.quantile(share) for share in (0.01, 0.5, 0.99))
    inside = _HEIGHTS[0] <= low and high <= _HEIGHTS[1] and _MIDDLE_HEIGHT[0] <= middle <= _MIDDLE_HEIGHT[1]
    half = spread.quantile(0.75) - spread.quantile(0.25)
    return inside and high - low >= _HEIGHT_SPAN and half <= _MIDDLE_HALF


def _are_amounts(spread: Spread) -> bool:
    middle = spread.quantile(0.5)
    mean = float(np.average(spread.numbers, weights=spread.rows))
    lengths = len({len(str(int(abs(number)))) for number in spread.numbers})
    return middle >= _LEAST_AMOUNT and mean >= _SKEW * middle and lengths > 1 and spread.numbers[0] >= 0
