"""Detect free text: sentences, remarks, and long values that occur once."""

from sfumato.hierarchies.role_detection.key_columns import UNIQUE_SHARE
from sfumato.hierarchies.role_detection.profile import Profile

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
