"""Detect free text that names persons or contains contact details in columns that are not for names or addresses."""

from sfumato.hierarchies.role_detection.lexicon.person_names import is_given_name
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.types import canonical
from sfumato.patterns import regex

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
