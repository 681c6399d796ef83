"""Detect animal registers, in which a column named "race" holds the breed of a dog and not the origin of a person."""

from collections.abc import Mapping

from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.lexicon.concepts import BY_KEY, WORDS
from sfumato.hierarchies.role_detection.lexicon.name_terms import meanings_of, spoken_word, words_of
from sfumato.hierarchies.role_detection.lexicon.value_terms import holds_words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import quasi_identifier
from sfumato.hierarchies.role_detection.role_evidence import evidence_of
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.patterns import regex

# Breeds are words; letters and numbers may be codes of races.
_WORD, _MOST = regex(r".*[^\W\d_]{4}.*"), 0.8


def breeds(suggestions: Mapping[str, Suggestion], profiles: Mapping[str, Profile]) -> dict[str, Suggestion]:
    """Return columns called race as visible attributes if other columns are about animals and no value is an origin."""
    races = {name: word for name, one in suggestions.items() if one.concept == "origin" and (word := _race_in(name))}
    if not races or not any(_speak_of(name, "animals") for name in suggestions):
        return {}
    return {name: _breed(profiles[name], word) for name, word in races.items() if _holds_breeds(profiles[name])}


def _holds_breeds(profile: Profile) -> bool:
    """Return whether values are words, a frequent one is a breed, and none is an origin.

    Persons have dogs, too, and no list contains all words for the origin of persons.
    """
    words = profile.share_of(_WORD) >= _MOST and not holds_words_of(profile, "origin")
    return words and any({*words_of(value)} & WORDS["breeds"] for value in profile.sample)


def _race_in(name: str) -> str | None:
    return next((word for word in words_of(name) if word in WORDS["races"]), None)


def _speak_of(name: str, words: str) -> bool:
    return bool({*words_of(name), *meanings_of(name)} & WORDS[words])


def _breed(profile: Profile, word: str) -> Suggestion:
    content = evidence_of(profile).content
    known = role_reasons.known(role_reasons.by_name(spoken_word(profile.name, word), "belongings"), content.words)
    return quasi_identifier(content, known, BY_KEY["belongings"].rank, "belongings")
