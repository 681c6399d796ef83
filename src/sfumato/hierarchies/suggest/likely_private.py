"""Columns of which nothing tells what they are, among others of their kind in the file that are private.

Answers, yes or no, and numbers that were measured are what most files about persons are for. Where several columns are
known to be private, and not more of these kinds to be known to others, one with a strange name is likely private, too:
it is published as those are, numbers rounded, under a promise of its own. Whole numbers may be ages, rooms or codes.
"""

import re
from collections.abc import Mapping
from typing import Literal

from sfumato.hierarchies.suggest import reasons
from sfumato.hierarchies.suggest.contents import content_of
from sfumato.hierarchies.suggest.profile import Profile
from sfumato.hierarchies.suggest.suggestion import UNKNOWN_RANK, Suggestion
from sfumato.hierarchies.suggest.words.concepts import WORDS
from sfumato.hierarchies.suggest.words.vocabulary import meanings_of, words_of

Kind = Literal["answers", "numbers"]
# So many columns must be known to be private.
_LEAST = 3
# Fewer rows are an example of something larger, whose numbers cannot be rounded.
_ENOUGH = 50
_MOST_ANSWERS = 5
# Numbers as places on a map have them.
_FINE, _SOME = re.compile(r"-?\d+[.,]\d{4,}"), 0.1
_ANSWERS = re.compile(
    r"[01289ynjstofvx]|yes|no|ja|nein|nej|nee|nei|s[ií]m?|n[aã]o|oui|non|vrai|faux|tak|nie|true|false|ano|ne|igen|nem|evet|"
    r"wahr|falsch|neg|pos|(?:nega|posi)tiv[eo]?|"
    r"unknown|don.?t know|dk|refused|unbekannt|inconnu|wei(?:ss|ß) nicht|ne sait pas|no sabe|non so|k\.?a\.?|nd|n/a"
)


def with_likely_private(
    suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]
) -> dict[str, Suggestion]:
    """The suggestions, columns of which nothing tells what they are as private where others of their kind are."""
    unknown = {name: kind for name, one in suggestions.items() if _is_unknown(one) and (kind := _kind(profiles[name]))}
    chosen = dict(suggestions)
    if not unknown:
        return chosen
    all_private = sum(one.role == "sensitive" for one in suggestions.values())
    known = {kind: _known(kind, suggestions, profiles) for kind in {*unknown.values()}}
    for name, kind in unknown.items():
        private, others = known[kind]
        if others <= private and all_private >= _LEAST and not _is_technical(name):
            reason = reasons.LIKELY_PRIVATE.format(what=reasons.KINDS[kind], count=all_private)
            chosen[name] = Suggestion("sensitive", reason)
    return chosen


def _is_unknown(suggestion: Suggestion) -> bool:
    """Whether nothing told what a column is, by its name or its values."""
    if suggestion.concept is not None:
        return False
    open_ = suggestion.role == "quasi-identifier" and suggestion.rank == UNKNOWN_RANK
    return open_ or suggestion.reason == reasons.UNDECIDED + reasons.OWN_NUMBER


def _kind(profile: Profile) -> Kind | None:
    """What a column without a known name holds; None where it is neither answers nor numbers, or has too few rows."""
    if profile.rows < _ENOUGH:
        return None
    texts = [value.strip().lower() for value in profile.values[: _MOST_ANSWERS + 1]]
    if len(texts) <= _MOST_ANSWERS and all(map(_ANSWERS.fullmatch, texts)):
        return "answers"
    return "numbers" if _are_quantities(profile) else None


def _are_quantities(profile: Profile) -> bool:
    """Whether numbers were measured: they have fractions, and not as many decimals as places on a map."""
    content = content_of(profile)
    return content.kind == "decimal" and not content.rejected and profile.share_of(_FINE) < _SOME


def _known(kind: Kind, suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> tuple[int, int]:
    """How many columns of a kind are known to be private, and how many to be known to others."""
    told = [one.role for name, one in suggestions.items() if one.concept is not None and _kind(profiles[name]) == kind]
    return told.count("sensitive"), told.count("quasi-identifier")


def _is_technical(name: str) -> bool:
    """Whether a name says how a row was made, not what it is about."""
    return bool({*words_of(name), *meanings_of(name)} & WORDS["technical"])
