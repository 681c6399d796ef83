"""Concepts: the topics of columns about persons, and the words in column names that indicate them.

English and German words are in `concepts.txt`, those of other languages in `languages.txt`: what others may know of a
person, what identifies one, and what is special.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from sfumato.values import Value

Role = Literal["identifier", "person", "quasi-identifier", "sensitive", "insensitive", "weight", "household"]
# Requirements on values before a name is believed: many, keys of rows or persons, numbers, marks, many texts, few
# categories, times, or titles of persons.
Demand = Literal["anything", "many", "key", "number", "marks", "text", "few", "time", "titles"]
# Letters that are not an accented form of another one.
_LETTERS = {"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe"}
_MARKS = re.compile("[\u0300-\u036f]+")
_SPELLED = {"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}


class Concept(Value):
    """A possible topic of a column.

    Attributes:
        key: Its name; `reasons.PHRASES` has the phrase for it.
        role: The role of a column about it.
        words: Words in column names that indicate it.
        demand: The requirement on values before the name is believed.
        rank: Order of selection among quasi-identifiers, lowest first.
    """

    key: str
    role: Role
    words: frozenset[str]
    demand: Demand = "anything"
    rank: int = 0


def fold(text: str) -> str:
    """Return a text without case, umlauts and accents.

    >>> fold("Größe"), fold("Prénom")
    ('grosse', 'prenom')
    """
    if text.isascii():
        return text.lower()
    # Most accents are in one Unicode block, and are removed together.
    parts = _MARKS.sub("", unicodedata.normalize("NFKD", _replaced(text.lower(), _LETTERS)))
    return parts if parts.isascii() else "".join(sign for sign in parts if not unicodedata.combining(sign))


def _replaced(text: str, letters: Mapping[str, str]) -> str:
    """Return a text with some letters replaced; one by one is faster than a scan of all."""
    for letter, others in letters.items():
        text = text.replace(letter, others)
    return text


def read_sections(file: str, package: str = __package__) -> Iterator[tuple[list[str], frozenset[str]]]:
    """Yield the sections of a word list of a package: the words in the brackets of each, and its words."""
    text = list_folder(package).joinpath(file).read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    heads, words = zip(*(section.partition("]")[::2] for section in lines.split("[")[1:]), strict=True)
    parts = [part.lower().split() for part in words]
    spellings = _spellings({word for part in parts for word in part if not word.isascii()})
    for head, part in zip(heads, parts, strict=True):
        yield head.split(), _folded(part, spellings)


def list_folder(package: str) -> Path:
    """Return the folder of a loaded package, which contains its lists."""
    return Path(sys.modules[package].__path__[0])


def _folded(words: list[str], spellings: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    """Return words in comparable form; few have any letter to fold."""
    plain = frozenset(words)
    marked = plain & spellings.keys()
    return (plain - marked).union(*(spellings[word] for word in marked)) if marked else plain


def _spellings(words: set[str]) -> dict[str, tuple[str, ...]]:
    """Return the comparable forms of words, both for umlauts; all at once, because folding single texts is slow."""
    text = "\n".join(words)
    ways = zip(fold(text).splitlines(), fold(_replaced(text, _SPELLED)).splitlines(), strict=True)
    return {word: (*plain.split(), *spelled.split()) for word, (plain, spelled) in zip(words, ways, strict=True)}


def _concept(head: list[Any], words: frozenset[str]) -> Concept:
    key, role, demand, rank = head
    return Concept(key, role, words | _FURTHER.get(key, frozenset()), demand, int(rank))


_SECTIONS = list(read_sections("concepts.txt"))
_FURTHER = {head[0]: words for head, words in read_sections("languages.txt")}
CONCEPTS = tuple(_concept(head, words) for head, words in _SECTIONS if len(head) > 1)
BY_KEY = {concept.key: concept for concept in CONCEPTS}
# Words that are no concept by themselves: of counts, of postcodes, of codes with a meaningful prefix, and of persons (a
# number of these is a key, even if it repeats). Further words are of events (a number of these identifies no person),
# of notations, and of classes of anything. Others are of units, categories, quantities and remarks.
WORDS = {head[0]: words for head, words in _SECTIONS if len(head) == 1}
# English and German words.
COMMON_WORDS = frozenset().union(*(words for _, words in _SECTIONS))
