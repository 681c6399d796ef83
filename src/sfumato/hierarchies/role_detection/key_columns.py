"""Detect key columns: numbers of rows, persons or related records, from the values and from terms in the name."""

import re
from itertools import pairwise

from sfumato.hierarchies.role_detection.coded_numbers import without_no_answers
from sfumato.hierarchies.role_detection.content_detection import distribution_of
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import meanings_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.hierarchies.role_detection.unexplained_numbers import are_bell_shaped
from sfumato.hierarchies.types import numerals
from sfumato.patterns import regex

# Keys of rows, and unique texts; typing errors and duplicate rows leave a few that repeat.
UNIQUE_SHARE = 0.8
KEY_SHARE = 0.1
# If a value occurs in this many rows on average, it belongs to a person with several rows, not to duplicates. A value
# in more than this proportion of all rows means that no one is named.
REPEATED, MOST_OF_ONE = 1.2, 0.1
# For a key named after persons fewer must repeat; duplicate rows are fewer still.
_REPEATED_PERSONS = 1.1
KEYS_OF_PERSONS = frozenset(("key", "office_number", "account", "email", "phone", "login", "plate"))
# Numbers and addresses of one person, in any number of rows: calls of a telephone, bookings of an account. Shorter ones
# belong to a company, like its ledger accounts.
_OWNED, _OWNED_NUMBER = frozenset(("office_number", "account", "email", "phone")), regex(r"(?:\D*\d){9,}\D*|.+@.+")
_KEY_DIGITS, _LONG_WORD = 5, 5
_MANY_ROWS, _ALL_ROWS = 150, 0.99
# Numbers with this many digits are no counts.
_LONG_NUMBER = regex(r"\d{7,}")
LETTERS_AND_DIGITS = regex(r"(?=.*\d)(?=.*[A-Za-z])\S+")
_HASH, _SOME_HASHES = regex(r"[0-9a-f]{8,}", re.ASCII), 10
# Sampling weights: more than any body weight, about 1 on average, or with more decimals than a scale shows.
_HEAVIEST, _ABOUT_ONE = 400, (0.8, 1.25)
_FINE_NUMBER = regex(r"\d+[.,]\d{3,}")
# Household members: minimum number of rows, maximum number of members; a later one is hardly ever more frequent.
_SOME_MEMBERS, _MOST_MEMBERS, _RARER = 100, 30, 1.2
_HEAVIEST_BODY = 400
# How a spreadsheet writes an integer if some rows have none.
_POINT_ZERO = regex(r"\.0+$")
# A number, or one after the letters of a country or an authority; separators between its groups of digits.
_GIVEN_NUMBER = regex(r"[A-Za-z]{0,4}[ ./-]?\d(?:[ ./-]?\d){4,}[A-Za-z]?")
# This many digits in every value are no amount, whatever the name. Amounts with fewer are round.
_NO_AMOUNT, _SOME_NUMBERS, _ROUND, _MOST_ROUND = 9, 5, "00", 0.1
# Codes of a list are not evenly distributed: the most frequent one is much more frequent than others.
_EVENLY = 4
# An upper bound of the number of persons who ever lived.
_MOST_PERSONS = 10**12


def repeats_as_persons_do(profile: Profile, key: str, other: bool) -> bool:
    """Return whether the values of an identifying column repeat as persons do, and number nothing else.

    Args:
        key: The concept of the column.
        other: Whether the column may have another meaning, too.
    """
    words = {*meanings_of(profile.name)}
    needed = _REPEATED_PERSONS if words & WORDS["persons"] else REPEATED
    if key not in KEYS_OF_PERSONS or profile.present < needed * profile.distinct_keys or numbers_members(profile):
        return False
    if words & WORDS["staff"] or profile.share(has_digit) < UNIQUE_SHARE:
        return False
    owned = key in _OWNED and profile.share_of(_OWNED_NUMBER) >= UNIQUE_SHARE
    spread = profile.top_share <= MOST_OF_ONE and (owned or profile.distinct_share >= KEY_SHARE)
    return bool(words & WORDS["persons"]) or (spread and not other and not words & WORDS["events"])


def numbers_members(profile: Profile) -> bool:
    """Return whether numbers from 1 on decrease in frequency: numbers within households, not of all persons.

    >>> numbers_members(Profile("persno", {"1": 60, "2": 40, "3": 10}, rows=110))
    True
    >>> numbers_members(Profile("person", {"1": 40, "2": 38, "3": 39}, rows=117))
    False
    """
    if profile.present < _SOME_MEMBERS or not all(map(str.isdecimal, profile.values)):
        return False
    rows = [number for _, number in sorted((int(value), number) for value, number in profile.counts.items())]
    first, last = min(map(int, profile.values)), max(map(int, profile.values))
    running = first == 1 and last <= _MOST_MEMBERS and last - len(rows) <= 2
    rarer = all(later <= _RARER * earlier for earlier, later in pairwise(rows))
    return running and rarer and 2 * rows[-1] <= rows[0] and rows[0] > MOST_OF_ONE * profile.present


def speaks_of_persons(name: str) -> bool:
    """Return whether a column's name refers to persons, also in a compound.

    >>> speaks_of_persons("Kundennr."), speaks_of_persons("patient_id"), speaks_of_persons("order_no")
    (True, True, False)
    """
    words = {*meanings_of(name)}
    return bool(words & WORDS["persons"]) or any(
        word.startswith(person) for word in words for person in WORDS["persons"] if len(person) >= _LONG_WORD
    )


def rows_each(profile: Profile) -> str:
    """Return the mean number of rows per value, as text."""
    return f"{profile.present / profile.distinct_keys:.1f}"


def may_group_persons(profile: Profile, suggestion: Suggestion) -> bool:
    """Return whether a removed column has repeating keys (of contracts, cases, …) that may be those of persons."""
    if suggestion.role != "identifier" or suggestion.concept not in KEYS_OF_PERSONS or profile.missing:
        return False
    repeats = profile.present >= REPEATED * profile.distinct_keys and profile.top_share <= MOST_OF_ONE
    return repeats and not {*meanings_of(profile.name)} & WORDS["staff"]


def are_weights(profile: Profile) -> bool:
    """Return whether every row has a number of persons that it represents; 0 is outside of the population."""
    values = [text for text in profile.values if text.strip(" 0.,")]
    return bool(values) and not profile.missing and all(map(_is_number_of_persons, values))


def spread_as_weights(profile: Profile) -> bool:
    """Return whether weights are sampling weights: about 1 with many decimals, or more than any body weight.

    >>> spread_as_weights(Profile("weight", {f"{0.5 + place / 97:.4f}": 1 for place in range(97)}, rows=97))
    True
    >>> spread_as_weights(Profile("weight", {f"{50 + place / 2}": 1 for place in range(97)}, rows=97))
    False
    """
    numbers = numerals([text.replace(",", ".") for text in profile.sample])
    if profile.missing or not numbers.size or not (numbers > 0).all():
        return False
    mean = float(numbers.mean())
    fine = profile.share_of(_FINE_NUMBER) >= UNIQUE_SHARE
    return mean > _HEAVIEST or (profile.distinct_share > KEY_SHARE and (fine or _ABOUT_ONE[0] < mean < _ABOUT_ONE[1]))


def _is_number_of_persons(text: str) -> bool:
    try:
        return 1 <= float(text) < _MOST_PERSONS
    except ValueError:
        return False


def has_digit(value: str) -> bool:
    return "@" in value or any(map(str.isdigit, value))


def counts_rows(profile: Profile) -> bool:
    """Return whether the values are consecutive integers, nearly each once."""
    values = profile.values
    if profile.distinct_share < UNIQUE_SHARE or len(values) < 20 or not all(map(str.isdecimal, values)):
        return False
    numbers = sorted(int(value) for value in values)
    return numbers[-1] - numbers[0] <= 1.1 * len(numbers)


def numbers_all_rows(profile: Profile) -> bool:
    """Return whether so many rows have a number of their own that it cannot be chance.

    >>> numbers_all_rows(Profile("stay", {str(9000 + place): 1 for place in range(150)}, rows=150))
    True
    """
    return profile.present >= _MANY_ROWS and profile.distinct_share >= _ALL_ROWS


def are_keys(profile: Profile) -> bool:
    """Return whether nearly every row has a long integer of its own, all of about one length."""
    return profile.distinct_share >= UNIQUE_SHARE and are_long_numbers(profile)


def are_long_numbers(profile: Profile) -> bool:
    """Return whether many rows have one of many long numbers of about one length, like keys."""
    lengths = {len(value) for value in profile.sample}
    many = profile.present >= 50 and profile.distinct_share >= KEY_SHARE and not profile.few
    return many and min(lengths) >= _KEY_DIGITS and max(lengths) - min(lengths) <= 1


def are_hashes(profile: Profile) -> bool:
    """Return whether values are random or computed, like pseudonyms: hexadecimal letters and digits.

    >>> are_hashes(Profile("x", {f"{place * 2654435761 % 2**32:08x}": 40 for place in range(9, 40)}, rows=1240))
    True
    >>> are_hashes(Profile("x", {f"ad{place:08}": 40 for place in range(9, 40)}, rows=1240))
    False
    """
    values = [value.strip().casefold() for value in profile.sample]
    if len(values) < _SOME_HASHES or not all(map(_HASH.fullmatch, values)) or len({*map(len, values)}) > 1:
        return False
    # Letters of chosen codes are in the same positions.
    places = [{sign.isalpha() for sign in signs} for signs in zip(*values, strict=True)]
    return sum(len(kinds) > 1 for kinds in places) >= UNIQUE_SHARE * len(places)


def are_codes_of_persons(profile: Profile) -> bool:
    """Return whether a column named after persons holds codes of them, however many rows each has.

    >>> codes = {f"D-{place:04}": 40 for place in range(30)}
    >>> [are_codes_of_persons(Profile(name, codes, rows=1200)) for name in ("driver", "part")]
    [True, False]
    """
    if len(profile.counts) < _SOME_HASHES or not speaks_of_persons(profile.name):
        return False
    coded = profile.share_of(LETTERS_AND_DIGITS) + profile.share_of(_LONG_NUMBER) >= UNIQUE_SHARE
    return coded and profile.present >= _REPEATED_PERSONS * profile.distinct_keys


def are_keys_of_persons(profile: Profile) -> bool:
    """Return whether many codes of one length occur in a few rows each, none in far more than the others."""
    if len(profile.counts) < 100 or profile.distinct_share < 0.05:
        return False
    lengths = {len(value) for value in profile.sample}
    coded = profile.share_of(LETTERS_AND_DIGITS) + profile.share_of(_LONG_NUMBER)
    if coded <= 0.95 or min(lengths) < _KEY_DIGITS or max(lengths) - min(lengths) > 2:
        return False
    rows = profile.present / profile.distinct_keys
    return rows >= REPEATED and profile.top_share * profile.present <= 4 * rows + 4


def are_body_weights(profile: Profile) -> bool:
    """Return whether numbers are concentrated around a middle, as what bodies weigh is."""
    spread, whole = distribution_of(profile)
    spread = without_no_answers(spread) if spread is not None and whole else None
    return spread is not None and are_bell_shaped(spread) and spread.quantile(0.99) <= _HEAVIEST_BODY


def are_given_numbers(profile: Profile) -> bool:
    """Return whether numbers are so long, all of one length, that they are no amounts."""
    return digits_of_given_numbers(profile) >= _NO_AMOUNT


def digits_of_given_numbers(profile: Profile) -> int:
    """Return the common number of digits of all numbers if these are no amounts; else 0."""
    values = [_POINT_ZERO.sub("", value.strip()) for value in profile.sample]
    numbers = [value for value in values if _GIVEN_NUMBER.fullmatch(value)]
    if len(numbers) < max(_SOME_NUMBERS, UNIQUE_SHARE * len(values)):
        return 0
    lengths = [sum(map(str.isdigit, value)) for value in numbers]
    usual = max({*lengths}, key=lengths.count)
    alike = lengths.count(usual) >= UNIQUE_SHARE * len(values)
    rounded = sum(value.endswith(_ROUND) for value in numbers) > _MOST_ROUND * len(numbers)
    return usual if alike and not rounded else 0


def is_evenly_used(profile: Profile) -> bool:
    """Return whether no value is much more frequent than the others."""
    rows = profile.present / len(profile.counts)
    return profile.top_share * profile.present <= _EVENLY * rows + _EVENLY
