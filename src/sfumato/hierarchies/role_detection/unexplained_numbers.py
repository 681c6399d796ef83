"""Numbers that no name explains: ages, postcodes and measures by their distribution, or unknown and never published."""

import numpy as np
import numpy.typing as npt

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
from sfumato.hierarchies.types import ColumnType, numerals
from sfumato.patterns import regex

Numbers = npt.NDArray[np.float64]
# Proportion of unique integers; and of those of one length.
_OWN, _ONE_LENGTH, _LONG = 1 / 3, 0.95, 4
# Running numbers: minimum number, nearly all of them used, none far more frequent than the others.
_RUNNING, _GAPS, _OFTENER = 30, 1.25, 4
# Counts: proportion of the nonzero ones among the first few.
_FIRST_COUNTS, _SOON = 3, 0.4
# Counts with a hump: number of values, and the ratio of the largest to the median.
_HUMP, _TAIL = 12, 3
# Rounded amounts: minimum size, and proportion of round ones; of these a proportion must be rounder still, which
# numbers that all end in 0 are not.
_LEAST_SUM, _ROUND, _ROUNDER = 100, 0.5, 0.4
# Bell shape: number of values, proportion of used ones within its range, width of the middle half, and minimum length
# of each side.
_BELL_NUMBERS, _BELL_DENSE, _BELL_HALF, _BELL_SIDE = 15, 0.6, 0.38, 0.3
# Numbers with a middle and no larger than this may be ages.
_MAY_BE_AGES = 75
# Fractions: minimum proportion of rows; those of codes are small, those of measures are not.
_FRACTIONS, _LARGE_FRACTIONS = 0.2, 0.3
# Degrees of coordinates, and values too small for them; years with fractions.
_DEGREES, _SMALL, _YEARS = 180, 5, (1850, 2100)
_MANY_DECIMALS, _LONG_PLACE, _SAME_FEE = 3, 5, 0.3
# Numbers nearer to zero are logarithms, indices or distances rather than coordinates.
_NEAR = 20


# Customer numbers, house numbers, postcodes, telephone numbers, days and map coordinates look like measures to a test
# that only asks for numbers. A measure must therefore show that it is one: fractions that no coordinate and no code
# has, counts from 0 on that soon become rarer, or amounts that people round.
def are_measures(profile: Profile, named: bool = False) -> bool:
    """Return whether numbers measure or count something and cannot identify a person.

    Args:
        named: Whether the name says that something is counted.
    """
    spread, _ = distribution_of(profile)
    if spread is None or len(spread.numbers) <= 2:
        return False
    if float(spread.rows[spread.numbers != np.floor(spread.numbers)].sum()) >= _FRACTIONS * spread.rows.sum():
        return not profile.few and not _has_fractions_of_codes(profile, spread, named)
    if _are_numbers_of_something(profile, spread) or (not named and _are_running(spread)):
        return False
    return named or are_counts(spread) or _are_round_sums(profile, spread)


def may_number_units(profile: Profile) -> bool:
    """Return whether numbers may number units (customers, districts, days), or be their coordinates on a map.

    >>> may_number_units(Profile("x", {str(number): 9 for number in range(1, 80)}, rows=711))
    True
    >>> may_number_units(Profile("x", {str(number): 900 // (number + 1) for number in range(80)}, rows=4434))
    False
    """
    spread, _ = distribution_of(profile)
    if spread is None:
        return True
    if len(spread.numbers) <= 2:
        return False
    if float(spread.rows[spread.numbers != np.floor(spread.numbers)].sum()) >= _FRACTIONS * spread.rows.sum():
        decimals = [len(value.strip().replace(",", ".").partition(".")[2]) for value in profile.sample]
        low, high = spread.quantile(0.02), spread.quantile(0.98)
        far = max(abs(low), abs(high)) > _NEAR and low >= -_DEGREES and high <= _DEGREES
        return far and bool(np.median(decimals) > _MANY_DECIMALS)
    return _are_numbers_of_something(profile, spread) or _are_running(spread)


def are_counts(spread: NumberDistribution) -> bool:
    """Return whether numbers from 0 on soon decrease in frequency, like counts of events."""
    numbers, rows = spread.numbers, spread.rows
    if numbers[0] != 0 or numbers[-1] < _FIRST_COUNTS:
        return False
    if rows[0] != rows.max():
        return _are_humped(spread)
    some = rows[1:].sum()
    return float(rows[1:][numbers[1:] <= _FIRST_COUNTS].sum()) >= _SOON * float(some)


def _are_humped(spread: NumberDistribution) -> bool:
    """Return whether integers from 0 on have most rows early and then a long tail: events that many persons had."""
    numbers, rows = spread.numbers, spread.rows
    top = numbers[rows.argmax()]
    running = len(numbers) >= _HUMP and (np.diff(numbers[:_HUMP]) == 1).all()
    early = _TAIL * max(float(top), spread.quantile(0.5)) <= numbers[-1]
    rare = rows[numbers >= numbers[-1] / 2].max() <= rows.max() / 2
    return bool(running and early and rare and rows[0] >= rows.max() / _TAIL)


def are_bell_shaped(spread: NumberDistribution) -> bool:
    """Return whether integers are concentrated around a middle and decrease to both sides without gaps, like measures.

    Numbers of customers, houses, places and days have no middle; years and ages may have one, but are no measures.

    >>> bell = NumberDistribution(np.arange(90.0, 171), np.exp(-((np.arange(90.0, 171) - 130) ** 2) / 450))
    >>> are_bell_shaped(bell), are_bell_shaped(NumberDistribution(np.arange(90.0, 171), np.ones(81)))
    (True, False)
    """
    low, first, middle, third, high = (spread.quantile(share) for share in (0.01, 0.25, 0.5, 0.75, 0.99))
    inside = (spread.numbers >= low) & (spread.numbers <= high)
    if high <= _MAY_BE_AGES or spread.share_within(*_YEARS) >= _ONE_LENGTH:
        return False
    if inside.sum() < max(_BELL_NUMBERS, _BELL_DENSE * (high - low + 1)) or not low < first < third < high:
        return False
    narrow = third - first <= _BELL_HALF * (high - low)
    even = min(middle - low, high - middle) >= _BELL_SIDE * (high - low)
    return bool(narrow and even)


def _are_numbers_of_something(profile: Profile, spread: NumberDistribution) -> bool:
    """Return whether integers number customers, codes or days: nearly each unique, or of one length."""
    numbers = spread.numbers
    if len(numbers) > _OWN * profile.present:
        return True
    lengths = _digits(numbers)
    one_length = _commonest(lengths, spread.rows) >= _ONE_LENGTH and np.median(lengths) >= _LONG
    return bool(one_length)


def _are_running(spread: NumberDistribution) -> bool:
    """Return whether integers, or every second or tenth, are used consecutively with similar frequency."""
    numbers = spread.numbers
    step = float(np.diff(numbers).min())
    dense = numbers[-1] - numbers[0] <= _GAPS * step * len(numbers)
    even = spread.rows.max() <= _OFTENER * spread.rows.mean()
    return bool(len(numbers) >= _RUNNING and dense and even)


def _are_round_sums(profile: Profile, spread: NumberDistribution) -> bool:
    """Return whether most numbers are round, and of several lengths."""
    sums = spread.numbers >= _LEAST_SUM
    rounded = sums & (spread.numbers % 10 == 0)
    rows = float(spread.rows[rounded].sum())
    rounder = float(spread.rows[rounded & (spread.numbers % 50 == 0)].sum()) >= _ROUNDER * rows
    several = _commonest(_digits(spread.numbers), spread.rows) < _ONE_LENGTH
    return several and rounder and not profile.few and rows >= _ROUND * float(spread.rows.sum())


def _has_fractions_of_codes(profile: Profile, spread: NumberDistribution, named: bool) -> bool:
    """Return whether fractions may be coordinates, parts of years, points in large numbers, or codes."""
    written = [value.strip().replace(",", ".") for value in profile.sample]
    decimals = np.array([len(value.partition(".")[2].rstrip("0")) for value in written])
    if decimals.max() > _MANY_DECIMALS or np.mean(decimals == _MANY_DECIMALS) >= 1 / 2:
        return True
    large = np.mod(np.abs(numerals(written)), 1)
    if spread.share_within(*_YEARS) >= _ONE_LENGTH or np.nanmean(large >= 1 / 2) < _LARGE_FRACTIONS:
        return True
    lengths = _digits(spread.numbers)
    if np.median(lengths) >= _LONG_PLACE and _commonest(lengths, spread.rows) >= _ONE_LENGTH:
        return True
    fine = np.mean(decimals >= 2) >= 1 / 2
    return bool(not named and fine and _may_be_degrees(spread))


def _may_be_degrees(spread: NumberDistribution) -> bool:
    # A fee is the same for many rows, a coordinate is not.
    if spread.rows.max() >= _SAME_FEE * spread.rows.sum():
        return False
    low, high = spread.quantile(0.02), spread.quantile(0.98)
    return low >= -_DEGREES and high <= _DEGREES and not (low >= 0 and high <= _SMALL)


def _digits(numbers: Numbers) -> npt.NDArray[np.int64]:
    """Return how many digits numbers have before the decimal point."""
    return np.floor(np.log10(np.maximum(np.floor(np.abs(numbers)), 1))).astype(np.int64) + 1


def _commonest(lengths: npt.NDArray[np.int64], rows: Numbers) -> float:
    return float(np.bincount(lengths, weights=rows).max() / rows.sum())


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
