"""Concepts: what columns about persons are about, and the words in their names that say so, in English and German.

The words stand in `concepts.txt`, in the order in which they are tried.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

Role = Literal["identifier", "person", "quasi-identifier", "sensitive", "insensitive", "weight", "household"]
# What the values must be for a name to be believed: many, keys of rows or persons, numbers, or many texts.
Demand = Literal["anything", "many", "key", "number", "text"]
_SHORT = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "ß": "ss"})
_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})


@dataclass(frozen=True, slots=True)
class Concept:
    """Something that a column may be about.

    Attributes:
        key: What it is called here; `reasons.PHRASES` says it in words.
        role: The role of a column about it.
        words: Words in names of columns that speak of it.
        demand: What the values must be for the name to be believed.
        rank: Among quasi-identifiers, the lower are chosen first.
    """

    key: str
    role: Role
    words: frozenset[str]
    demand: Demand = "anything"
    rank: int = 0


def read_sections(file: str, package: str = __package__) -> Iterator[tuple[list[str], frozenset[str]]]:
    """The sections of a word list of a package: what stands in the brackets of each, and its words."""
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for section in lines.split("[")[1:]:
        head, _, words = section.partition("]")
        yield head.split(), frozenset(words.translate(_SHORT).split()) | frozenset(words.translate(_SPELLED).split())


def _concept(head: list[Any], words: frozenset[str]) -> Concept:
    key, role, demand, rank = head
    return Concept(key, role, words, demand, int(rank))


_SECTIONS = list(read_sections("concepts.txt"))
CONCEPTS = tuple(_concept(head, words) for head, words in _SECTIONS if len(head) > 1)
BY_KEY = {concept.key: concept for concept in CONCEPTS}
# Words that are no concept by themselves: of counts, of postcodes, of codes whose prefix groups them, of persons (what
# numbers these is a key, even where it repeats a lot), of events (what numbers these names no person), and how words
# may stand in compounds.
WORDS = {head[0]: words for head, words in _SECTIONS if len(head) == 1}
