"""Values that identify one person by their format: addresses, official and bank numbers, keys, and free text."""

import re
from collections.abc import Callable
from functools import cache

from sfumato.hierarchies.role_detection.key_columns import UNIQUE_SHARE
from sfumato.hierarchies.role_detection.lexicon.value_terms import is_given_name
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.types import canonical
from sfumato.patterns import regex
from sfumato.values import Value

Check = Callable[[str], bool]

EMAIL = regex(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_LINK = regex(r"(?:https?://|www\.)\S+")
_STREETS = (
    r"straße|strasse|str\.|weg|platz|allee|gasse|ring|damm|ufer|chaussee|stieg|pfad|hof|markt|wall|"
    r"street|st\.?|avenue|ave\.?|road|rd\.?|lane|ln\.?|drive|dr\.?|boulevard|blvd\.?|court|ct\.?|way|square|place|terrace"
)


class Format(Value):
    """The format of a kind of values, and the proportion of a column's rows that must have it."""

    key: str
    pattern: re.Pattern[str]
    share: float = 0.6


FORMATS = (
    Format(
        "internet",
        regex(r"(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}|(?:[0-9A-F]{2}:){5}[0-9A-F]{2}"),
    ),
    Format("key", regex(r"(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})")),
    Format("office_number", regex(r"\d{3}-\d{2}-\d{4}|756\.\d{4}\.\d{4}\.\d{2}")),
    Format(
        "phone",
        regex(
            r"(?:\+\d{1,3}|00[1-9]\d)[\s./()-]*\d[\d\s./()-]{5,16}|0\d{1,5}[\s/()-]+\d[\d\s/-]{3,12}|"
            r"\(\d{3}\)\s?\d{3}[\s-]\d{4}|\d{3}[-.]\d{3}[-.]\d{4}(?:\s?x\d+)?"
        ),
    ),
    Format(
        "plate",
        regex(r"[A-ZÄÖÜ]{1,3}-[A-Z]{1,2}\s?\d{1,4}[EH]?|[A-ZÄÖÜ]{1,3} [A-Z]{1,2} \d{1,4}[EH]?|[A-Z]{2}\d{2} [A-Z]{3}"),
    ),
    Format(
        "case",
        regex(r"(?:[IVX]+ |\d+ )?[A-Z][A-Za-z]{0,3} \d+/\d{2,4}|\d:\d\d-[a-z]{2}-\d+|\d{2,4} ?Js ?\d+/\d{2}"),
    ),
    Format(
        "address",
        regex(rf"(?i:.*(?:{_STREETS})\s*\d+\s?[a-z]?(?:[,\s].*)?|\d+\s?[a-z]?,?\s.*\b(?:{_STREETS})(?:[,\s].*)?)"),
        share=0.4,
    ),
)
# The end of a card number, the rest masked, as on receipts: minimum proportion of rows, among words for other payments.
_MASKED_CARD, _SOME_CARDS = regex(r"(?:[*•]{2,}|(?i:x){4,})[ -]?\d{4}(?!\d)"), 0.05
_NUMBER = regex(r"(?=.*\d)[A-Za-z0-9][A-Za-z0-9 ./-]{7,40}")
_CARD = regex(r"(?:3[47]\d{13}|(?:4\d|5[1-5]|2[2-7]|6[05])\d{14})")
# A check digit is correct by chance once in ten times: minimum proportion of rows with a correct one.
_CHECKED_SHARE = 0.85
_SOME = 8
# Most columns of many values are decimal numbers, which identify no one, whatever their digits.
_DECIMAL = regex(r"[+-]?\d+\.\d+", re.ASCII)
_PENSION = regex(r"\d{8}[A-Z]\d{3}")
_HEALTH = regex(r"[A-Z]\d{9}")


def format_of(profile: Profile) -> tuple[str, float] | None:
    """Return the kind of identifying value, and the proportion of rows that have one; None if there are few.

    >>> format_of(Profile("x", {"+49 7071 29001": 1, "+49 7071 29002": 1}, rows=2))
    ('phone', 1.0)
    """
    if all(map(_DECIMAL.fullmatch, profile.sample)):
        return None
    for key, pattern in (("email", EMAIL), ("internet", _LINK)):
        # A single address among free texts is one too many.
        if (share := profile.share(pattern.search)) > 0:
            return key, share
    if (share := profile.share(_MASKED_CARD.search)) >= _SOME_CARDS:
        return "account", share
    for format_ in FORMATS:
        # A few values, each in many rows, may be other codes: then nearly all must have the format.
        needed = max(format_.share, _CHECKED_SHARE) if profile.few else format_.share
        if (share := profile.share_of(format_.pattern)) >= needed:
            return format_.key, share
    return _checked(profile)


def _checked(profile: Profile) -> tuple[str, float] | None:
    """Return the kind of number by its check digit."""
    if len(profile.counts) < _SOME or profile.share_of(_NUMBER) < _CHECKED_SHARE:
        return None
    # A few are tried first, because most columns have none of these formats.
    few = profile.sample[: 4 * _SOME : 2]
    likely = ((key, profile.share(check)) for key, check in _checks() if sum(map(check, few)) >= len(few) / 2)
    return next(((key, share) for key, share in likely if share >= _CHECKED_SHARE), None)


@cache
def _checks() -> tuple[tuple[str, Check], ...]:
    """Return checks of numbers of one account or one person, each with the kind of number."""
    from stdnum import iban
    from stdnum.at import vnr
    from stdnum.be import nn
    from stdnum.ch import ssn
    from stdnum.de import idnr
    from stdnum.dk import cpr
    from stdnum.es import dni
    from stdnum.fi import hetu
    from stdnum.fr import nir
    from stdnum.gb import nhs
    from stdnum.it import codicefiscale
    from stdnum.nl import bsn
    from stdnum.no import fodselsnummer
    from stdnum.pl import pesel
    from stdnum.se import personnummer

    persons = (vnr, nn, ssn, idnr, cpr, dni, hetu, nir, nhs, codicefiscale, bsn, fodselsnummer, pesel, personnummer)
    offices = (*(module.is_valid for module in persons), is_german_number)
    return ("account", iban.is_valid), ("account", is_card), *(("office_number", check) for check in offices)


# Numbers with check digits are validated by python-stdnum; two German formats that it lacks are validated here.
def is_card(value: str) -> bool:
    """Return whether a text is the number of a payment card.

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112")
    (True, False)
    """
    from stdnum import luhn

    digits = re.sub(r"[ -]", "", value)
    return bool(_CARD.fullmatch(digits)) and luhn.is_valid(digits)


def is_german_number(value: str) -> bool:
    """Return whether a text is a German pension or health insurance number.

    >>> is_german_number("65 170839 J 003"), is_german_number("A123456780"), is_german_number("A123456781")
    (True, True, False)
    """
    text = value.replace(" ", "")
    if _PENSION.fullmatch(text):
        return _check_digit(text[:-1], (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)) == int(text[-1])
    return bool(_HEALTH.fullmatch(text)) and _check_digit(text[:-1], (1, 2) * 5) == int(text[-1])


def _check_digit(text: str, weights: tuple[int, ...]) -> int:
    """Return the digit sum of all weighted digits; a letter counts as its two-digit position in the alphabet."""
    digits = "".join(sign if sign.isdigit() else f"{ord(sign) - ord('A') + 1:02d}" for sign in text)
    products = (int(digit) * weight for digit, weight in zip(digits, weights, strict=True))
    return sum(sum(map(int, str(product))) for product in products) % 10


_LONG_TEXT, _WORDS_OF_TEXT = 40, 4
# Individually written text: many texts, of several words, a good part of which occurs once.
_WRITTEN_TEXTS, _WRITTEN_ONCE, SEVERAL_WORDS = 25, 0.3, 1.5


def is_free_text(profile: Profile) -> bool:
    """Return whether values are many long texts or sentences."""
    if profile.few:
        return False
    return length(profile) > _LONG_TEXT or (has_sentences(profile) and profile.distinct_share > 0.2)


def has_sentences(profile: Profile) -> bool:
    """Return whether values have several words each, on average."""
    return profile.words_each >= _WORDS_OF_TEXT and length(profile) > _LONG_TEXT / 2


def are_written_by_hand(profile: Profile) -> bool:
    """Return whether many values of several words occur once, like individually written text."""
    once = sum(rows == 1 for rows in profile.counts.values()) / len(profile.counts)
    letters = profile.share(lambda value: not any(map(str.isdigit, value)))
    many = len(profile.counts) >= _WRITTEN_TEXTS and once >= _WRITTEN_ONCE
    return many and profile.words_each >= SEVERAL_WORDS and letters >= UNIQUE_SHARE


def length(profile: Profile) -> float:
    """Return the mean length of a value."""
    return sum(map(len, profile.sample)) / len(profile.sample)


_EMAIL = regex(r"[\w.+-]+@[\w-]+\.\w{2,}")
_PHONE = regex(
    r"(?<![\w.])(?:(?:\+|00)[1-9]\d{0,2}[\s./()-]*\d[\d\s./()-]{5,}\d|0\d{1,5}[\s/()-]+\d[\d\s/-]{3,}\d|"
    r"\(\d{3}\)\s?\d{3}[\s-]\d{4}|\d{3}[-.]\d{3}[-.]\d{4})(?!\w)"
)
_TITLED = regex(r"\b(?:Dr|Prof|Herrn?|Frau|Mr|Mrs|Ms|Miss)\.?\s+[A-ZÄÖÜ][a-zäöüß]+")
_FULL_NAME = regex(r"\b([A-ZÄÖÜ][a-zäöüßéèáíóú]+)[ -](?:[A-Z]\. )?([A-ZÄÖÜ][a-zäöüßéèáíóú]+)")


def mentions(profile: Profile, k: int) -> int:
    """Return how many of the texts examined name a person or contain contact details.

    A name without a title is searched only in texts of fewer than k rows: a disease may be named after its
    discoverer.

    >>> mentions(Profile("note", {"asthma": 9, "asthma, call Anna Becker": 1, "flu (anna@mail.org)": 1}, rows=11), 5)
    2
    """
    numbers = {*profile.sample} - {profile.sample[place] for place in canonical(profile.sample, "amount")[1]}
    return sum(
        _reaches(text) or _TITLED.search(text) is not None or (profile.counts[text] < k and _has_name(text))
        for text in profile.sample
        if text not in numbers
    )


def _reaches(text: str) -> bool:
    return _EMAIL.search(text) is not None or _PHONE.search(text) is not None


def _has_name(text: str) -> bool:
    return any(is_given_name(match[1]) for match in _FULL_NAME.finditer(text))
