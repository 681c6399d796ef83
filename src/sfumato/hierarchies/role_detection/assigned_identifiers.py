"""Detect assigned identifiers such as loan, claim or tax numbers: they identify a person and measure nothing."""

from sfumato.hierarchies.role_detection.key_columns import UNIQUE_SHARE
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS, fold
from sfumato.hierarchies.role_detection.lexicon.name_terms import meanings_of, words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.role_evidence import RoleEvidence
from sfumato.patterns import regex

# How a spreadsheet writes an integer if some rows have none.
_POINT_ZERO = regex(r"\.0+$")
# A number, or one after the letters of a country or an authority; separators between its groups of digits.
_NUMBER = regex(r"[A-Za-z]{0,4}[ ./-]?\d(?:[ ./-]?\d){4,}[A-Za-z]?")
# Fewer digits may be an amount or a code of a list; this many in every value are no amount, whatever the name.
_NUMBERED, _CODED, _NO_AMOUNT, _NEVER = 5, 7, 9, 1000
_SOME = 5
# Amounts with this many digits are round.
_ROUND, _MOST_ROUND = "00", 0.1
_COMPOUND = regex(r"(.{3,}?)_?(?:nr|nro|num|nummer|number|numero|no|id)")
# Codes of a list are not evenly distributed: the most frequent one is much more frequent than others.
_EVENLY = 4


def is_given_number(evidence: RoleEvidence) -> bool:
    """Return whether a column holds numbers of loans, taxes, policies, …, though a word in its name means money.

    Codes of diagnoses or offenses are chosen from a list, so that some are much more frequent than others: they stay
    codes. An unknown name needs a word for numbers as well.
    """
    profile, content = evidence.profile, evidence.content
    if content.kind in ("dates", "times", "years", "ages", "scale") or content.type == "amount":
        return False
    digits = _digits(profile)
    key = evidence.concepts[0][0].key if evidence.concepts else None
    if key == "money":
        return digits >= _NO_AMOUNT or digits >= _numbering(profile.name)
    private = key is None or BY_KEY[key].role == "sensitive"
    return private and digits >= max(_numbering(profile.name), _CODED) and _is_even(profile)


def are_given_numbers(profile: Profile) -> bool:
    """Return whether numbers are so long, all of one length, that they are no amounts."""
    return _digits(profile) >= _NO_AMOUNT


def _digits(profile: Profile) -> int:
    """Return the common number of digits of all numbers if these are no amounts; else 0."""
    values = [_POINT_ZERO.sub("", value.strip()) for value in profile.sample]
    numbers = [value for value in values if _NUMBER.fullmatch(value)]
    if len(numbers) < max(_SOME, UNIQUE_SHARE * len(values)):
        return 0
    lengths = [sum(map(str.isdigit, value)) for value in numbers]
    usual = max({*lengths}, key=lengths.count)
    alike = lengths.count(usual) >= UNIQUE_SHARE * len(values)
    rounded = sum(value.endswith(_ROUND) for value in numbers) > _MOST_ROUND * len(numbers)
    return usual if alike and not rounded else 0


def _numbering(name: str) -> int:
    """Return how many digits suffice to believe a name that means a number of something."""
    words = {*words_of(name), *meanings_of(name)}
    if words & WORDS["numbering"] or _is_compound(name):
        return _NUMBERED
    return _CODED if words & WORDS["codes"] else _NEVER


def _is_compound(name: str) -> bool:
    """Return whether a word for money, or any other, and one for numbers form one compound."""
    plain = fold(name).replace(" ", "")
    if plain.endswith(("nr", "nummer", "number")):
        return True
    match = _COMPOUND.fullmatch(plain)
    return match is not None and any(match[1].endswith(word) for word in BY_KEY["money"].words if len(word) > 2)


def _is_even(profile: Profile) -> bool:
    rows = profile.present / len(profile.counts)
    return profile.top_share * profile.present <= _EVENLY * rows + _EVENLY
