"""Classify columns without names by the distribution of their values: ages, postcodes, heights, amounts, measures."""

import numpy as np

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.content_detection import (
    Content,
    ages_of,
    content_of,
    distribution_of,
    postcodes_of,
)
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.robust_intervals import NumberDistribution
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.role_detection.unexplained_numbers import are_bell_shaped, are_counts, are_measures
from sfumato.hierarchies.types import ColumnType
from sfumato.patterns import regex

# Names of columns without a proper name.
_NAMELESS = regex(r"(?i:c|col|column|v|var|x|f|field|spalte|feld|coluna|kolumn|unnamed:?)[ _]?\d+|\d+")
# Heights of adults in centimeters: range of nearly all of them, and of the median.
_HEIGHTS, _MIDDLE_HEIGHT, _HEIGHT_SPAN, _MIDDLE_HALF = (135, 215), (155, 185), 15, 18
# Sections of laws and diagnosis codes, which have a point and are no measures because a few of them repeat.
_STATUTE = regex(r"(?:§+ ?|Art\.? ?|Sec\.? ?)\d+.*|[1-9]\d{2}\.\d{2,3}(?:\([0-9a-zA-Z]\))*")
_PERCENT = regex(r"-?\d+(?:[.,]\d+)? ?%")
_MOST, _SOME_NUMBERS, _FEW_STATUTES = 0.9, 30, 3
# Amounts: of several lengths, more small ones than large ones, and no small numbers.
_LEAST_AMOUNT, _SKEW = 100, 1.05
# A few round amounts: number, multiples of the smallest, minimum of the largest; and events that occur repeatedly.
_FEW_SUMS, _LEAST_FEW, _LARGE_SUM, _MANY_EVENTS = (3, 40), 50, 1000, 10
# The concepts of numbers whose meaning is unknown.
_OF_SPREAD = {"measure": "performance", "count": "performance"}


def is_nameless(profile: Profile) -> bool:
    """Return whether a column has no proper name."""
    return _NAMELESS.fullmatch(profile.name) is not None


def known_by_spread(profile: Profile) -> tuple[str, Content] | None:
    """Return the concept and content of a known attribute that matches the distribution of an unnamed column."""
    if ages := ages_of(profile):
        return "age", ages
    if postcodes := postcodes_of(profile):
        return "place", postcodes
    spread, whole = distribution_of(profile)
    if spread is None or not whole or not _are_heights(spread):
        return None
    return "body", content_of(profile)


def private_by_spread(profile: Profile) -> str | None:
    """Return the sensitive concept that matches the distribution of an unnamed column."""
    if profile.few and len(profile.counts) >= _FEW_STATUTES and profile.share_of(_STATUTE) >= _MOST:
        return "crime"
    spread, whole = distribution_of(profile)
    if spread is None:
        return "measure" if _are_shares(profile) else None
    if _are_few_sums(spread):
        return "money"
    if whole and are_bell_shaped(spread):
        return "measure"
    if not are_measures(profile):
        return None
    many = len(spread.numbers) >= _SOME_NUMBERS
    if many and _are_amounts(spread):
        return "money"
    if whole:
        return "count" if not profile.few and spread.numbers[-1] >= _MANY_EVENTS and are_counts(spread) else None
    return "measure" if many else None


def private_like(profile: Profile, type_: ColumnType = "text") -> Suggestion | None:
    """Return a column as sensitive if its numbers are distributed like sensitive ones; their meaning is a guess."""
    key = private_by_spread(profile)
    if key is None:
        return None
    return Suggestion(
        "sensitive", role_reasons.LIKE[key], type_, concept=_OF_SPREAD.get(key, key), guessed=key in _OF_SPREAD
    )


def _are_shares(profile: Profile) -> bool:
    """Return whether values are many percentages."""
    return len(profile.counts) >= _SOME_NUMBERS and profile.share_of(_PERCENT) >= _MOST


def _are_few_sums(spread: NumberDistribution) -> bool:
    """Return whether numbers are a few round amounts of several lengths: bonds, deductibles, fines, limits.

    >>> _are_few_sums(NumberDistribution(np.array([0.0, 250, 500, 1000, 2500]), np.ones(5)))
    True
    >>> _are_few_sums(NumberDistribution(np.array([100.0, 110, 300, 320, 430]), np.ones(5)))
    False
    """
    sums = spread.numbers[spread.numbers != 0]
    if not _FEW_SUMS[0] <= len(sums) <= _FEW_SUMS[1] or sums[0] < _LEAST_FEW or sums[-1] < _LARGE_SUM:
        return False
    rounded = float(spread.rows[spread.numbers % _LEAST_FEW == 0].sum()) >= _MOST * float(spread.rows.sum())
    return rounded and len({len(str(int(number))) for number in sums}) > 1


def _are_heights(spread: NumberDistribution) -> bool:
    low, middle, high = (spread.quantile(share) for share in (0.01, 0.5, 0.99))
    inside = _HEIGHTS[0] <= low and high <= _HEIGHTS[1] and _MIDDLE_HEIGHT[0] <= middle <= _MIDDLE_HEIGHT[1]
    half = spread.quantile(0.75) - spread.quantile(0.25)
    return inside and high - low >= _HEIGHT_SPAN and half <= _MIDDLE_HALF


def _are_amounts(spread: NumberDistribution) -> bool:
    middle = spread.quantile(0.5)
    mean = float(np.average(spread.numbers, weights=spread.rows))
    lengths = len({len(str(int(abs(number)))) for number in spread.numbers})
    return middle >= _LEAST_AMOUNT and mean >= _SKEW * middle and lengths > 1 and spread.numbers[0] >= 0
