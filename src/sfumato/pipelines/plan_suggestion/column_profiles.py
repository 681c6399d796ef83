"""Profiles of counted columns: which texts mean missing, and the remaining values."""

from collections.abc import Collection, Mapping
from itertools import islice
from typing import cast

from sfumato.hierarchies.role_detection.missing_value_codes import known_words
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.types import canonical

# A column with at least _MANY_NUMBERS distinct texts may contain at most _FEW_WORDS words, in at most a proportion of
# _MOST_WORDS of its rows. Of the first _LOOKED_AT other texts, at most a proportion of _WRONG_NUMBERS may be invalid
# numbers.
_MANY_NUMBERS, _FEW_WORDS, _MOST_WORDS = 50, 5, 0.3
_LOOKED_AT, _WRONG_NUMBERS = 200, 0.05


def missing_words(texts: Mapping[str, Mapping[str | None, int]]) -> list[str]:
    """Return the words that mean "missing" in some column, including blanks, because frames contain empty texts."""
    blanks = {text for counts in texts.values() for text in counts if text is not None and (not text or text.isspace())}
    words = known_words(texts)
    return [*words, *sorted(blanks), *sorted(_words_among_numbers(texts, {*words, *blanks}))]


def _words_among_numbers(texts: Mapping[str, Mapping[str | None, int]], missing: Collection[str]) -> set[str]:
    """Return the few words in columns of many numbers that no other column contains, such as "refused"."""
    words = {name: _few_words(counts, missing) for name, counts in texts.items()}
    doubtful = set().union(*words.values())
    return {word for word in doubtful if all(word in words[name] for name, counts in texts.items() if word in counts)}


def _few_words(counts: Mapping[str | None, int], missing: Collection[str]) -> set[str]:
    """Return the few words of a column whose many other texts are numbers."""
    present = [text for text in counts if text is not None and text not in missing]
    numbers = [*islice(filter(_has_digit, present), _LOOKED_AT)] if len(present) >= _MANY_NUMBERS else []
    if not numbers or len(canonical(numbers, "amount")[1]) > _WRONG_NUMBERS * len(numbers):
        return set()
    words = {*islice((text for text in present if not _has_digit(text)), _FEW_WORDS + 1)}
    few = len(words) <= _FEW_WORDS and sum(counts[word] for word in words) <= _MOST_WORDS * sum(counts.values())
    return words if few else set()


def _has_digit(text: str) -> bool:
    return text[-1:].isdigit() or any(map(str.isdigit, text))


def profile_of(name: str, counts: Mapping[str | None, int], missing: Collection[str]) -> Profile:
    """Return the profile of a column; texts in `missing` count as missing values."""
    present = dict(counts)
    absent = sum(present.pop(text, 0) for text in (None, *missing))
    return Profile(name, cast("dict[str, int]", present), sum(counts.values()), missing=absent)
