"""Recognize names of persons by a list of common given names and surnames."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from string import ascii_uppercase

from sfumato.hierarchies.role_detection.lexicon.concepts import fold, read_sections
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.patterns import regex

# No list has all names: this proportion of rows suffices if a column has many values. Of a few values nearly all must
# be names, because towns, trades and months are names, too.
_SHARE_OF_MANY, _SHARE_OF_FEW = 0.25, 0.5
_MANY_VALUES = 40
# Titles of persons, whatever the name after them.
_CALLED = frozenset(("dr", "prof", "herr", "frau", "mr", "mrs", "ms", "miss", "mme", "sr", "sra", "dott", "dra"))
_CALLED |= {
    "herrn",
    "hr",
    "hrn",
    "fr",
    "mlle",
    "monsieur",
    "madame",
    "senor",
    "senora",
    "sig",
    "dhr",
    "mevr",
    "pan",
    "pani",
}
_TITLES = _CALLED | {"master", "ra", "von", "van", "de", "der"}
_MAX_WORDS, _DIVIDING = 6, str.maketrans(",-.", "   ")
# Initials before or after a surname: J. de Vries, Berg, K.
_PARTICLES = r"(?:(?:van|von|de|der|den|da|di|la|le|du) )*"
_SURNAME = rf"{_PARTICLES}[A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_]{{2,}}(?:[- '][A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_]+)*"
_INITIAL = r"(?:[A-ZÀ-ÖØ-ÞĀ-Ž]\. ?)"
_WITH_INITIALS = regex(rf"{_INITIAL}+{_SURNAME}|{_SURNAME},? {_INITIAL}+")
# Entries of a list: A. Beginners, B. Advanced, C. Masters.
_ENTRY, _SOME_ENTRIES = regex(r"([A-Z])\. ?\w.*"), 3


def share_of_names(profile: Profile) -> float:
    """Return the proportion of rows with a common name, if it is large enough for a column of names; else 0.

    >>> share_of_names(Profile("x", {"Anna Becker": 1, "Jürgen Meyer": 1, "Petra Ilmenau": 1}, rows=3))
    1.0
    >>> share_of_names(Profile("x", {"J. de Vries": 1, "K. Østby": 1, "dr. Ilmenau": 1, "Dr.ssa Ilmenau": 1}, rows=4))
    1.0
    >>> share_of_names(Profile("x", {"A. Anfänger": 9, "B. Geübte": 9, "C. Profi": 9, "D. Meister": 9}, rows=36))
    0.0
    """
    initialed = _with_initials(profile.sample)
    share = profile.share(lambda value: value in initialed or _is_name(value))
    return share if share >= (_SHARE_OF_MANY if len(profile.counts) >= _MANY_VALUES else _SHARE_OF_FEW) else 0.0


def _with_initials(values: Sequence[str]) -> set[str]:
    """Return the texts that are surnames with initials; empty if the letters number entries of a list.

    >>> len(_with_initials([f"{initial}. {name}" for initial in "ABDEFGHKMS" for name in ("Jones", "Ilmen", "Wrzos")]))
    30
    >>> len(_with_initials([f"{letter}. {name}" for letter in "ABCD" for name in ("Class", "Group", "Hall")]))
    0
    """
    initialed = {value for value in values if _WITH_INITIALS.fullmatch(value)}
    letters: dict[str, set[str]] = {}
    for value in initialed:
        letters.setdefault(re.sub(_INITIAL, "", value).strip(" ,"), set()).add(re.findall(_INITIAL, value)[0][0])
    known = sum(fold(name.split()[-1]) in _listed()[1] for name in letters)
    if 2 * known >= max(len(letters), 1):
        return initialed
    # A. Class, B. Class and C. Class are no names: names have any initials, not those of a list.
    numbered = sum(len(some) > 1 and some == {*ascii_uppercase[: len(some)]} for some in letters.values())
    alone = len(letters) == 1 and len(initialed) > 1
    return set() if alone or 2 * numbered >= len(letters) or _are_entries(values) else initialed


def _are_entries(values: Iterable[str]) -> bool:
    """Return whether values begin with the consecutive letters of a list, from A on without a gap."""
    letters = sorted(entry[1] for entry in map(_ENTRY.fullmatch, values) if entry)
    return len(letters) >= _SOME_ENTRIES and letters == [*ascii_uppercase[: len(letters)]]


def share_of_full_names(profile: Profile) -> float:
    """Return the proportion of rows with a given name among other words, if it is more than half; else 0.

    Only columns of persons have these, whatever their name.
    """
    share = profile.share(lambda value: len(value.replace(",", " ").split()) > 1 and _is_name(value))
    return share if share > 0.5 else 0.0


def _is_name(value: str) -> bool:
    """Return whether a text consists of words, one of which is a common name: in a longer text, a given name."""
    parts = value.translate(_DIVIDING).split()
    words = [fold(word).strip("()\"'") for word in parts]
    if not 1 <= len(words) <= _MAX_WORDS or not all(word.isalpha() for word in words if word):
        return False
    given, surnames = _listed()
    names = [word for word in words if word not in _TITLES]
    if names and words[0] in _CALLED and parts[-1][0].isupper():
        return True
    if not value[0].isupper():
        return False
    if len(names) == 1:
        return names[0] in given or names[0] in surnames
    return any(name in given for name in names)


def is_given_name(word: str) -> bool:
    """Return whether a word is a common given name.

    >>> is_given_name("Anna"), is_given_name("Asthma")
    (True, False)
    """
    return fold(word) in _listed()[0]


@cache
def _listed() -> tuple[frozenset[str], frozenset[str]]:
    """Return the given names and the surnames of the list."""
    (_, given), (_, surnames) = read_sections("names.txt")
    return given, surnames
