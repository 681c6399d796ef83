"""Expand abbreviations in column names to the words they stand for.

Common ones are listed in `abbreviations.txt`. Others are the beginning of a word (`disab`) or its consonants (`rtg`); a
long word with another ending or one wrong letter matches the correct one. An abbreviation that may stand for words of
several roles is not expanded.
"""

from collections.abc import Collection
from functools import cache

from sfumato.hierarchies.role_detection.lexicon.concepts import (
    CONCEPTS,
    JOINT_WORDS,
    OFFICE_WORDS,
    WHOLE_WORDS,
    WORDS,
    read_sections,
)

# Three consonants are too ambiguous for an abbreviation; the common ones are in the list.
_BEGINNING, _CONSONANTS, _PART = 5, 4, 3
_DOTTED = 3
# Words of further languages share beginnings more often.
_LONG_BEGINNING = 6
_MISSING_LETTERS = 2
_LONG = 7
_STEM, _ENDING = 7, 3
# Lists of words for persons.
_PERSONS = ("persons", "staff")
# A longer remainder is mostly another word with the same beginning: minor is no minority.
_SHARE_OF_WORD = 0.6


@cache
def spelled_out(word: str, dotted: bool) -> str:
    """Return the word that an abbreviation stands for, or the word itself.

    Args:
        dotted: Whether a full stop follows it, as in `geschl.`: then it is the beginning of a word, unless it
            begins words of several roles.

    >>> spelled_out("geschl", dotted=True), spelled_out("rtg", dotted=False), spelled_out("zz", dotted=False)
    ('geschlecht', 'rating', 'zz')
    """
    common, everyday, _ = _lists()
    if word in common:
        return common[word]
    alike = _words_with(word[:1])
    if dotted and len(word) >= _DOTTED and word not in everyday:
        begun = [pair for pair in alike if pair[0].startswith(word)]
        return begun[0][0] if len({role for _, role in begun}) == 1 else word
    if parts := _run_together(word):
        return parts[0]
    for likens in () if word in everyday else (_abbreviates, _inflects, _misspells):
        candidates = [pair for pair in alike if likens(word, pair[0])]
        if len({role for _, role in candidates}) == 1:
            return candidates[0][0]
    return word if word in everyday else _beginning(word)


def _beginning(word: str) -> str:
    """Return the long word of a further language that begins like this, if all such words have one role."""
    if len(word) < _LONG_BEGINNING or f" {word}" not in _all_words():
        return word
    begun = [
        (full, concept.role)
        for concept in CONCEPTS
        for full in _begun(concept.words, word)
        if full in WHOLE_WORDS and full not in JOINT_WORDS
    ]
    short = [pair for pair in begun if len(word) <= _SHARE_OF_WORD * len(pair[0])]
    return short[0][0] if short and len({role for _, role in begun}) == 1 else word


def _begun(words: Collection[str], beginning: str) -> list[str]:
    """Return the words with a given beginning, in order; those with another first letter are skipped for speed."""
    first = beginning[:1]
    return sorted([word for word in words if word[:1] == first and word.startswith(beginning)])


@cache
def _all_words() -> str:
    """Return every word of a concept after a blank, for a fast prefix test."""
    return "".join(f" {word}" for concept in CONCEPTS for word in concept.words)


def _abbreviates(word: str, full: str) -> bool:
    if len(full) < len(word) + _MISSING_LETTERS or full[0] != word[0]:
        return False
    if len(word) >= _BEGINNING and full.startswith(word):
        return len(word) <= _SHARE_OF_WORD * len(full)
    letters = _consonants(full)
    if len(full) - len(letters) < _MISSING_LETTERS:
        return False
    close = len(word) >= _CONSONANTS and word == _consonants(word) and len(letters) - len(word) in (0, 1)
    return close and letters[-1] == word[-1] and _in_order(word, letters)


def _inflects(word: str, full: str) -> bool:
    """Return whether two long words differ in their endings alone: menopause and menopausal."""
    pairs = enumerate(zip(word, full, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), min(len(word), len(full)))
    return same >= _STEM and max(len(word), len(full)) - same <= _ENDING


def _misspells(word: str, full: str) -> bool:
    """Return whether a long word is another with one letter wrong, missing or extra."""
    short, long = sorted((word, full), key=len)
    if len(short) < _LONG or len(long) - len(short) > 1 or word[0] != full[0]:
        return False
    same = next((place for place, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    return short[same + (len(short) == len(long)) :] == long[same + 1 :]


def _run_together(word: str) -> tuple[str, str] | None:
    """Return the two abbreviations or words that are joined without a separator: `inctot`, `incwage`."""
    neutral, full = _lists()[2], _full_words()
    for end in range(_PART, len(word) - _PART + 1):
        first, second = word[:end], word[end:]
        if first in full and (second in full or second in neutral):
            return full[first], full.get(second, second)
    return None


def _consonants(word: str) -> str:
    return "".join(letter for letter in word if letter not in "aeiou")


def _in_order(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)


@cache
def _words_with(letter: str) -> tuple[tuple[str, str], ...]:
    """Return every word of a concept or of persons with a first letter, with its role.

    Neither an abbreviation nor a misspelling begins with another one.
    """
    others = WHOLE_WORDS | OFFICE_WORDS
    concepts = [(full, concept.role) for concept in CONCEPTS for full in _begun(concept.words - others, letter)]
    persons = [(full, "person") for key in _PERSONS for full in _begun(WORDS[key] - WHOLE_WORDS, letter)]
    return (*concepts, *persons)


@cache
def _full_words() -> dict[str, str]:
    """Return the expansion of each word and each common abbreviation."""
    words = frozenset().union(*(concept.words for concept in CONCEPTS)) - OFFICE_WORDS
    words = words.union(*(WORDS[key] for key in _PERSONS)) - WHOLE_WORDS
    return {word: word for word in words} | _lists()[0]


@cache
def _lists() -> tuple[dict[str, str], frozenset[str], frozenset[str]]:
    """Return common abbreviations with their expansions, everyday words that are none, and meaningless endings."""
    (_, pairs), (_, everyday), (_, neutral) = read_sections("abbreviations.txt")
    return dict(pair.split("=") for pair in sorted(pairs)), everyday, neutral
