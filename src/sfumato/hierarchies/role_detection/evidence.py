"""What is known of a column before its role is decided: profile, content, the words of its name, and evidence."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Literal

from sfumato.hierarchies.role_detection.content_detection import Content, content_of
from sfumato.hierarchies.role_detection.lexicon.concepts import WORDS, Concept, Role, fold
from sfumato.hierarchies.role_detection.lexicon.name_terms import Term, meanings_of, terms_of, words_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.patterns import regex
from sfumato.values import Value, replace

Source = Literal["name", "format", "values", "spread", "neighbors"]
# A number at the end, with or without a separator; or at the beginning, as of a wave.
_NUMBERED = regex(r"(.*?[^\W\d])[ _.]?\d{1,4}[a-z]?|(?:w|wave|t|y)\d{1,2}[ _.](.+)")
# One letter at the end, where the others have numbers: kindergarten beside grades 1 to 3.
_LETTERED = regex(r"(.*[^\W\d]{2})[ _.]?[a-z]")
# With more distinct values than these, some show of what kind they are.
_MANY_VALUES = 20_000
# A stem of fewer letters says nothing: q1 and q2 ask for different things.
_STEM = 3
NUMERIC = ("ages", "years", "whole", "decimal")


class Evidence(Value):
    """What one detector saw in a column; no decision.

    Attributes:
        of: The key of the concept for which it speaks.
        by: Where it was seen.
        weight: How much it says, in log-odds.
        code: The code of the message that says why.
        values: The values of that message.
    """

    of: str
    by: Source
    weight: float
    code: str
    values: Mapping[str, Any]


class Column(Value, dict=True):
    """A column as detectors see it.

    Attributes:
        label: What a label or a codebook says of it, as another name.
        book: The codebook that says so.
    """

    profile: Profile
    label: str = ""
    book: str = ""

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """What the words of its label and its name mean; the label counts more."""
        told = terms_of(self.label) if self.label else ()
        heard = {term.concept.key for term in told}
        own = [term for term in terms_of(self.profile.name) if term.concept.key not in heard]
        return (*told, *(replace(term, weight=term.weight / 2) if told else term for term in own))

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of its names, as they are written and as they are meant."""
        names = (self.profile.name, self.label)
        return frozenset(word for name in names for words in (words_of(name), meanings_of(name)) for word in words)

    @cached_property
    def shape(self) -> Content:
        """The kind of its values, by some of them if they are very many: without a hierarchy for all of them."""
        values = self.profile.values[:: len(self.profile.counts) // _MANY_VALUES + 1]
        if len(values) == len(self.profile.counts):
            return self.content
        some = {value: self.profile.counts[value] for value in values}
        return content_of(Profile(self.profile.name, some, sum(some.values())), self._keys)

    @cached_property
    def content(self) -> Content:
        """The kind of all its values, with a hierarchy and the values that this rejects."""
        return content_of(self.profile, self._keys)

    @property
    def _keys(self) -> list[str]:
        return list(dict.fromkeys(term.concept.key for term in self.terms))

    @property
    def concepts(self) -> tuple[tuple[Concept, str], ...]:
        """The concepts of its name with their words, the likeliest first."""
        return tuple((term.concept, term.word) for term in self.terms)

    def has(self, kind: str) -> bool:
        """Return whether a word of its name is in a list."""
        return not WORDS[kind].isdisjoint(self.words)

    def named(self, *roles: Role) -> Term | None:
        """Return the strongest meaning of its name with one of these roles, if there is one."""
        return next((term for term in self.terms if term.concept.role in roles), None)


class Table(Value, dict=True):
    """The columns of a file."""

    columns: Mapping[str, Column]

    @cached_property
    def families(self) -> dict[str, tuple[str, ...]]:
        """For each column the columns that repeat it: waves, items of a battery, numbered ones."""
        return waves_of(self.columns)


def waves_of(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return for each name that differs from others in a number or letter at its end these others, itself included.

    >>> waves_of(("math1", "math2", "mathk", "age"))["mathk"]
    ('math1', 'math2', 'mathk')
    """
    members: dict[str, list[str]] = {}
    lettered: dict[str, str] = {}
    for name in names:
        if match := _NUMBERED.fullmatch(fold(name.strip())):
            members.setdefault(match[1] or match[2], []).append(name)
        elif match := _LETTERED.fullmatch(fold(name.strip())):
            lettered[name] = match[1]
    for name, stem in lettered.items():
        if len(members.get(stem, ())) > 1:
            members[stem].append(name)
    named = (some for stem, some in members.items() if len(some) > 1 and len(stem.strip("_ ")) >= _STEM)
    return {name: tuple(some) for some in named for name in some}


def evidence_of(profile: Profile) -> Column:
    """Return a column by itself."""
    return Column(profile)
