"""Safe Harbor identifiers that a column name indicates, by English and German terms."""

from collections.abc import Iterator
from itertools import pairwise

from sfumato.hierarchies.role_detection.lexicon.concepts import read_sections
from sfumato.hierarchies.role_detection.lexicon.name_terms import words_of

WORDS = {head[0]: words for head, words in read_sections("words.txt", __package__)}
# Sections that are no identifiers by themselves.
_OTHERS = ("things", "persons", "zip", "places", "states", "times", "birth", "age", "no_age", "relatives", "contacts")
_KINDS = {kind: words for kind, words in WORDS.items() if kind not in _OTHERS}


def kinds_of_name(name: str) -> Iterator[str]:
    """Yield the kinds of identifiers that a column's name indicates.

    >>> list(kinds_of_name("patient_name")), list(kinds_of_name("drug_name")), list(kinds_of_name("Home Phone"))
    (['names'], [], ['telephone-numbers'])
    """
    words = words_of(name)
    if "".join(words) in WORDS["relatives"]:  # names of employers and relatives are identifiers, too
        yield "names"
        return
    together = {*words, *("".join(words[at : at + size]) for size in (2, 3) for at in range(len(words)))}
    named_thing = bool(WORDS["things"] & {*words}) and not WORDS["persons"] & {*words}
    kinds = [kind for kind, known in _KINDS.items() if known & together]
    specific = [kind for kind in kinds if kind != "other-identifiers"]
    if {"names", "other-identifiers"} & {*kinds} and named_thing:
        specific = [kind for kind in specific if kind != "names"]
        kinds = specific
    yield from specific or kinds


def words_speak_of(name: str, words: frozenset[str]) -> bool:
    """Return whether a word of the name, or two together, is in a list."""
    parts = words_of(name)
    return bool(words & {*parts, *(first + second for first, second in pairwise(parts))})
