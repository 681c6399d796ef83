"""Detect the kind of a column's values (date, scale, code, age, year, number, category) and choose its hierarchy."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from sfumato.delimited.dialect import CURRENCY_SIGN
from sfumato.errors import PlanError
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.lists import MAX_LENGTH
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.role_detection import robust_intervals
from sfumato.hierarchies.role_detection.coded_numbers import are_codes, without_no_answers
from sfumato.hierarchies.role_detection.date_formats import date_hierarchy
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import scale_of, words_of
from sfumato.hierarchies.role_detection.profile import FEET, Profile, inches
from sfumato.hierarchies.types import ColumnType, canonical, numerals
from sfumato.patterns import regex
from sfumato.schema.composite import read
from sfumato.values import Value, replace

# A column holds numbers or codes if nearly all rows do; the few others are typing errors.
_SHARE = 0.95
_CODE = regex(r"[A-Za-z0-9]*[0-9][A-Za-z0-9]*", re.ASCII)
_POSTCODE = regex(r"(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9 -]{1,9}", re.ASCII)
# Formats of postcodes, which define the meaning of a short word such as CP or PC; those with letters.
_LETTERED_POSTCODE = r"\d{4} ?[A-Z]{2}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"
_SHORT_POSTCODE = regex(rf"\d{{4,5}}|\d{{2}}-\d{{3}}|\d{{3}} \d{{2}}|{_LETTERED_POSTCODE}", re.ASCII)
# Postcodes with a separator between their digits, or with letters, which no other place attribute has.
_WRITTEN_POSTCODE = regex(
    rf"\d{{2}}-\d{{3}}|\d{{3}} \d{{2}}|\d{{4,5}}-\d{{3}}|[A-Z]\d[A-Z] ?\d[A-Z]\d|{_LETTERED_POSTCODE}"
)
_LIMITS, _HUNDREDS = frozenset(("cap",)), regex(r"\d+00", re.ASCII)
_LETTERED = regex(_LETTERED_POSTCODE, re.ASCII)
_DIGITS_FIRST = regex(r"[0-9]+", re.ASCII)
# What may follow the digits of a postcode: more digits after a hyphen, or letters.
_ADDED = regex(r"|[- ][0-9]{1,6}|[- ]?[A-Za-z]{1,3}", re.ASCII)
_PREFIXED = regex(r"([A-Za-zÄÖÜäöü]+)[-_ /.]?[0-9]+")
# What precedes and follows a number: symbols, words after a space, or a common unit; other adjacent letters belong to a
# code.
_UNIT = regex(
    rf"({CURRENCY_SIGN}|[A-Z]{{3}}[ \u00a0]|Fr\. ?)?"
    r"[ \u00a0]?[+-]?[0-9][0-9.,' \u00a0\u202f]*?"
    r"((?:[ \u00a0\u202f]?[%‰€$£°₺₽₹₴₪]|[ \u00a0\u202f][^\W\d_]\S{0,9}"
    r"|m²|km/h|h|hrs?|min|kg|cm|km|mg|lbs?|std\.?|yrs?)?)"
)
_PADDED = regex(r"0[0-9]+")
_TIME_OF_DAY, _WITH_SECONDS = (
    regex(r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?(?:[+-][01][0-9](?::?[0-5][0-9])?|Z)?", re.ASCII),
    regex(r".{5}:.*"),
)
_PLAIN_TIME, _SOME_HOURS = regex(r"(?:[01][0-9]|2[0-3])[0-5][0-9]", re.ASCII), 6
_MAX_TREE = 300
_SOME_HEIGHTS = 3
_POSTAL_LENGTH, _REPEATED_PLACES, _MOST_POSTCODES = 5, 0.5, 0.8
_FIVE_DIGITS, _ROUND = regex(r"\d{5}", re.ASCII), regex(r"\d+0")
_SOME_PLACES, _REPEATING, _MOST_ROUND = 8, 0.3, 0.4
# A few postcodes belong to one town: they have a common prefix.
_FEW_PREFIXES = 2
# Ages of persons: within a lifetime, over several decades around its middle, nearly every year, none in too many rows.
_LIVES, _MIDDLE, _LIVING = (0, 112), (14, 72), 0.97
_SPAN, _DENSE, _CROWDED_AGE = 30, 0.8, 0.12
# Keys of a hierarchy whose entries are its levels.
_LEVEL_KEYS = ("levels", "widths", "bounds", "shown")


class Content(Value):
    """The kind of a column's values, with a suitable type and hierarchy.

    Attributes:
        kind: The kind of values: dates, times, scale, heights, codes, ages, years, whole, decimal or categories.
        words: The same in words.
        rejected: The values that are not of this kind.
    """

    kind: str
    words: str
    hierarchy: dict[str, Any]
    type: ColumnType = "text"
    rejected: tuple[str, ...] = ()


def content_of(profile: Profile, concepts: Collection[str] = ()) -> Content:
    """Return the first kind of content that fits a column's values.

    Args:
        concepts: The keys of the concepts in the column's name.
    """
    for kind in _KINDS:
        content = kind(profile, concepts)
        fitted = _fit(profile, content) if content else None
        if fitted:
            return fitted
    return Content("categories", f"{len(profile.counts)} categories", {"type": "any"})


def _fit(profile: Profile, content: Content) -> Content | None:
    """Return a content without useless levels, with the values it rejects; None if it does not fit."""
    texts, wrong = _forms(profile, content.type)
    domain = list(dict.fromkeys(text for text in texts if text is not None))
    try:
        hierarchy = read(HIERARCHY, content.hierarchy)
        binding = hierarchy.bind_alone(domain) if isinstance(hierarchy, Intervals) else hierarchy.fit(domain)
    except PlanError:
        return None
    rejected = (*(profile.values[place] for place in wrong), *binding.rejected)
    if len(rejected) > len(profile.values) / 2:
        return None
    labels = _labels(binding.hierarchy, domain, len(domain) - len(binding.rejected))
    return replace(content, hierarchy=_lean(content.hierarchy, labels), rejected=rejected)


def _labels(ladder: Hierarchy, domain: Sequence[str], accepted: int) -> list[int]:
    """Return how many labels of each level the values of a column have, original values first.

    Args:
        accepted: How many of the values the hierarchy accepts.
    """
    if ladder.size == accepted:  # there are no others
        return [len(labels) for labels in ladder.labels]
    places = [place for text in domain if (place := ladder.places.get(text)) is not None]
    return [len(places), *(int(np.count_nonzero(np.bincount(codes[places]))) for codes in ladder.codes[1:])]


def _forms(profile: Profile, type_: ColumnType) -> tuple[list[str | None], list[int]]:
    """Return the canonical texts of a column's values."""
    return profile.decimals if type_ == "decimal" else canonical(profile.values, type_)


def _lean(hierarchy: dict[str, Any], labels: Sequence[int]) -> dict[str, Any]:
    """Return a hierarchy without levels that merge nothing or everything; `labels` counts those of each level."""
    key = next((key for key in _LEVEL_KEYS if key in hierarchy), None)
    if key is None:
        return hierarchy
    steps = hierarchy[key]
    first = len(labels) - 1 - len(steps)
    useful = [step for place, step in enumerate(steps) if 1 < labels[first + place] < labels[first + place - 1]]
    return hierarchy | {key: useful} if useful else {"type": "any"}


def _dates(profile: Profile, concepts: Collection[str]) -> Content | None:
    proposal = date_hierarchy(profile, named=bool({"age", "date"} & {*concepts}), birth="age" in concepts)
    return Content("dates", proposal[0], proposal[1]) if proposal else None


def _times(profile: Profile, concepts: Collection[str]) -> Content | None:
    """Detect times of day: their first characters are the hour."""
    plain = "date" in concepts and profile.share_of(_PLAIN_TIME) >= _SHARE
    # Years cover a few hours at most: 2015 is not a quarter past eight in the evening.
    if not (plain and len({value[:2] for value in profile.sample}) > _SOME_HOURS) and (
        profile.share_of(_TIME_OF_DAY) < _SHARE
    ):
        return None
    length = max(map(len, profile.sample))
    shown = [5, 2] if profile.share_of(_WITH_SECONDS) else [2]
    return Content("times", "times of a day", {"type": "digits", "length": length, "shown": shown})


def _scale(profile: Profile, _: Collection[str]) -> Content | None:
    ordered = scale_of(profile.values)
    return Content("scale", "steps of a scale", {"type": "order", "size": 2, "values": ordered}) if ordered else None


def _heights(profile: Profile, _: Collection[str]) -> Content | None:
    """Detect heights in feet and inches, sorted; typing errors are rejected."""
    if len(profile.counts) < _SOME_HEIGHTS or profile.share_of(FEET) < _SHARE:
        return None
    heights = sorted((value for value in profile.values if inches(value)), key=lambda value: (inches(value), value))
    return Content("heights", "heights in feet and inches", {"type": "order", "size": 2, "values": heights})


def _codes(profile: Profile, concepts: Collection[str]) -> Content | None:
    """Detect codes whose first characters are meaningful: by the column's name, or because they look like postcodes."""
    words = {*words_of(profile.name)}
    if not profile.counts or max(map(len, profile.values)) > MAX_LENGTH:
        return None
    placed = "place" in concepts and profile.share_of(_WRITTEN_POSTCODE) >= _SHARE
    if placed or short_postcodes(profile) or (words & WORDS["postal"] and profile.share_of(_POSTCODE) >= _SHARE):
        return _by_characters(profile)
    if profile.share_of(_CODE) < _SHARE:
        return None
    meaning = bool(words & WORDS["prefix_codes"]) or ("place" in concepts and _no_numbers(profile.values))
    return _by_characters(profile) if meaning or _like_postcodes(profile) else None


def short_postcodes(profile: Profile, lettered: bool = False) -> set[str]:
    """Return the short words of a column's name that mean postcodes, if its values are such, and no keys.

    Args:
        lettered: Whether these must have letters in the way that only postcodes have.

    >>> short_postcodes(Profile("PC", {"3551 BC": 5, "3552 AA": 4}, rows=9), lettered=True)
    {'pc'}
    """
    words = {*words_of(profile.name)} & WORDS["short_postal"]
    # "Cap" means a limit, too: of round amounts.
    words -= _LIMITS if profile.share_of(_HUNDREDS) >= _MOST_POSTCODES else set()
    written = _LETTERED if lettered else _SHORT_POSTCODE
    fits = words and profile.distinct_share < _REPEATED_PLACES and profile.share_of(written) >= _MOST_POSTCODES
    return words if fits else set()


def _by_characters(profile: Profile) -> Content:
    lengths: Counter[int] = Counter()
    for value, rows in profile.counts.items():
        lengths[len(value)] += rows
    if stem := _stem(profile):
        levels = list(range(stem, 0, -1))
        return Content("codes", f"codes that agree in {stem} characters", {"type": "digits", "shown": levels})
    length, rows = lengths.most_common(1)[0]
    if length > 1 and rows >= _SHARE * profile.present:
        levels = list(range(length - 1, 0, -1))
        return Content("codes", f"codes of {length} characters", {"type": "digits", "length": length, "shown": levels})
    return Content("codes", "codes of several lengths", {"type": "digits"})


def _stem(profile: Profile) -> int:
    """Return how many digits every code begins with if some are longer than others: 27511 and 27511-1234.

    0 if all codes have one form, or do not repeat by these digits.

    >>> _stem(Profile("zip", {"27511": 4, "27511-1234": 1, "27513": 4, "27513-0001": 1}, rows=10))
    5
    >>> _stem(Profile("code", {"E11": 4, "E119": 2}, rows=6)), _stem(Profile("zip", {"27511": 4, "27513": 4}, rows=8))
    (0, 0)
    """
    stems = {value: match[0] for value in profile.values if (match := _DIGITS_FIRST.match(value))}
    rows: Counter[int] = Counter()
    for value, stem in stems.items():
        rows[len(stem)] += profile.counts[value]
    length, most = rows.most_common(1)[0] if rows else (0, 0)
    rest = {value[length:] for value, stem in stems.items() if len(stem) == length}
    spellings = {_signs(text) for text in rest}
    several = most >= _SHARE * profile.present and len(spellings) > 1
    return length if length > 2 and several and all(map(_ADDED.fullmatch, rest)) else 0


def _signs(text: str) -> str:
    """Return the format of a text: 9 for digits, A for letters, other characters unchanged."""
    return "".join("9" if sign.isdigit() else "A" if sign.isalpha() else sign for sign in text)


def _like_postcodes(profile: Profile) -> bool:
    """Return whether values are digits of one length, some with a leading 0, and no row keys."""
    values = profile.values
    same = all(len(value) == _POSTAL_LENGTH and value.isdigit() for value in values)
    return same and any(value.startswith("0") for value in values) and profile.distinct_share < 0.5


def _no_numbers(values: Sequence[str]) -> bool:
    return any(value.startswith("0") or not value.isdigit() for value in values) and max(map(len, values)) > 1


def _prefixed(profile: Profile, _: Collection[str]) -> Content | None:
    """Detect codes of letters and a number, such as CARD-07: the letters group them."""
    matches = {value: _PREFIXED.fullmatch(value) for value in profile.values[: _MAX_TREE + 1]}
    parents = {value: match[1] for value, match in matches.items() if match}
    groups = len({*parents.values()})
    if len(profile.counts) > _MAX_TREE or len(parents) < len(profile.counts) or not 2 <= groups <= len(parents) / 2:
        return None
    return Content("codes", f"codes with {groups} prefixes", {"type": "tree", "parents": parents})


def _amounts(profile: Profile, _: Collection[str]) -> Content | None:
    """Detect numbers with a percent sign, a currency, a unit or thousands separators: one unit in nearly all rows.

    A number without a unit is assumed to have the unit of all others.
    """
    shares = _units(profile)
    alone = shares.pop("", 0.0)
    plain, _whole = distribution_of(profile)
    if max(shares.values(), default=0.0) + alone < _SHARE or plain is not None:
        return None
    spread, whole = distribution_of(profile, "amount")
    if spread is None or len(spread.numbers) <= 2:
        return None
    hierarchy = robust_intervals.whole_numbers(spread) if whole else robust_intervals.decimal_numbers(spread)
    return Content("whole" if whole else "decimal", "numbers with a unit", hierarchy, "amount")


def _units(profile: Profile) -> dict[str, float]:
    """Return the proportion of the rows with each unit; numbers without one under an empty text."""
    rows: Counter[str] = Counter()
    for value in profile.sample:
        if match := _UNIT.fullmatch(value.strip()):
            rows[" ".join(filter(None, ((match[1] or "").strip(), match[2].strip())))] += profile.counts[value]
    whole = sum(profile.counts[value] for value in profile.sample)
    return {unit: count / max(whole, 1) for unit, count in rows.most_common()}


def mixed_units(profile: Profile) -> tuple[str, ...]:
    """Return the units of a numeric column with several units, the most frequent first.

    >>> mixed_units(Profile("far", {"12 km": 5, "7 mi": 4, "9": 1}, rows=10))
    ('km', 'mi')
    >>> mixed_units(Profile("far", {"12 km": 9, "9": 1}, rows=10))
    ()
    """
    shares = _units(profile)
    units = tuple(unit for unit, share in shares.items() if unit and share > 1 - _SHARE)
    return units if len(units) > 1 and sum(shares.values()) >= _SHARE else ()


def _numbers(profile: Profile, concepts: Collection[str]) -> Content | None:
    spread, whole = distribution_of(profile)
    if spread is None or len(spread.numbers) <= 2:
        return None
    if not whole:
        return Content("decimal", "decimal numbers", robust_intervals.decimal_numbers(spread), "decimal")
    named = {"age", "date"} & {*concepts}
    if robust_intervals.are_years(spread, named=bool(named)):
        return Content("years", "years", robust_intervals.years(spread), "integer")
    if "age" in concepts and robust_intervals.are_ages(spread):
        return Content("ages", "ages", robust_intervals.ages(spread), "integer")
    if spread.numbers[-1] - spread.numbers[0] < 3 or are_codes(profile, spread, concepts):
        return None
    return Content(
        "whole", "whole numbers", robust_intervals.whole_numbers(spread, without_no_answers(spread)), "integer"
    )


def ages_of(profile: Profile) -> Content | None:
    """Return ages if numbers of an unnamed column look like them: nearly all years of a span, none dominant.

    >>> ages_of(Profile("c5", {str(age): 3 for age in range(18, 80)}, rows=186)).kind
    'ages'
    >>> ages_of(Profile("c5", {str(score): 3 for score in range(0, 101, 5)}, rows=63))
    """
    spread, whole = distribution_of(profile)
    if spread is None or not whole or profile.top_share > _CROWDED_AGE or spread.share_within(*_LIVES) < _LIVING:
        return None
    lives = (spread.numbers >= _LIVES[0]) & (spread.numbers <= _LIVES[1])
    some = robust_intervals.NumberDistribution(spread.numbers[lives], spread.rows[lives])
    low, high = some.quantile(0.02), some.quantile(0.98)
    inside = some.numbers[(some.numbers >= low) & (some.numbers <= high)]
    aged = high - low >= _SPAN and _MIDDLE[0] <= some.quantile(0.5) <= _MIDDLE[1]
    dense = len(inside) >= _DENSE * (high - low + 1)
    return _fit(profile, Content("ages", "ages", robust_intervals.ages(spread), "integer")) if aged and dense else None


def postcodes_of(profile: Profile) -> Content | None:
    """Return postcodes if numbers of an unnamed column look like them: five digits, many, each in several rows.

    >>> codes = {str(10115 + 97 * place): 5 for place in range(40)}
    >>> postcodes_of(Profile("c4", codes, rows=200)).kind
    'codes'
    >>> postcodes_of(Profile("c4", {str(1000 * place): 5 for place in range(10, 50)}, rows=200))
    """
    # Amounts of money have several lengths, or are round.
    near = len({value[:2] for value in profile.values}) <= _FEW_PREFIXES < len(profile.counts)
    digits = profile.share_of(_FIVE_DIGITS) >= _SHARE and (near or len(profile.counts) >= _SOME_PLACES)
    if not digits or profile.distinct_share >= _REPEATING or profile.share_of(_ROUND) > _MOST_ROUND:
        return None
    return _fit(profile, _by_characters(profile))


def distribution_of(
    profile: Profile, type_: ColumnType = "decimal"
) -> tuple[robust_intervals.NumberDistribution | None, bool]:
    """Return the numbers of a column, and whether they are integers; None if it is not numeric."""
    texts, _ = _forms(profile, type_)
    fine = np.array([text is not None for text in texts], bool)
    rows = np.array(list(profile.counts.values()), float)
    # A leading zero marks a code: 007 is not the number 7.
    padded = profile.share_of(_PADDED)
    if not fine.any() or rows[fine].sum() < _SHARE * rows.sum() or padded > 1 - _SHARE:
        return None, False
    numbers = numerals([text for text in texts if text is not None])
    distinct, place = np.unique(numbers, return_inverse=True)
    spread = robust_intervals.NumberDistribution(distinct, np.bincount(place, weights=rows[fine]).astype(np.float64))
    whole = float(rows[fine][numbers == np.floor(numbers)].sum()) >= (1 - (1 - _SHARE) / 5) * rows[fine].sum()
    return spread, whole


_KINDS: Sequence[Callable[[Profile, Collection[str]], Content | None]] = (
    _dates,
    _times,
    _scale,
    _heights,
    _codes,
    _prefixed,
    _numbers,
    _amounts,
)
