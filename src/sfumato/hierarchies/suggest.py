"""Suggestions: from a column's name and values a role, a type and a hierarchy, with the reason in plain words.

When in doubt a column is a quasi-identifier: that can cost detail, but it cannot betray anyone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.errors import PlanError
from sfumato.hierarchies.contents import Content, Profile, content_of
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.types import ColumnType, canonical
from sfumato.hierarchies.vocabulary import Role, role_of_name
from sfumato.shapes.shapes import read

__all__ = ["Profile", "Suggestion", "suggest"]

_UNIQUE_SHARE = 0.9
_FEW = 20
_LONG_TEXT = 40
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+|(?:https?://|www\.)\S+")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a plan could say of a column, and why.

    Attributes:
        role: The role.
        reason: Why, in plain words without any value of the data.
        type: The type, text unless it is another.
        hierarchy: The hierarchy's parameters, for quasi-identifiers.
        rejected: Values that the hierarchy does not accept: with any, a plan needs `on_invalid: missing` or `drop`.
    """

    role: Role
    reason: str
    type: ColumnType = "text"
    hierarchy: dict[str, Any] | None = None
    rejected: tuple[str, ...] = ()

    def plan(self) -> dict[str, Any]:
        """The column as a plan has it.

        >>> suggest(Profile("zip", {"72021": 1, "72062": 1}, rows=2)).plan()
        {'role': 'quasi-identifier', 'hierarchy': {'type': 'digits', 'length': 5}}
        """
        typed = {} if self.type == "text" else {"type": self.type}
        return {"role": self.role} | typed | ({"hierarchy": self.hierarchy} if self.hierarchy else {})


def suggest(profile: Profile) -> Suggestion:
    """What a plan could say of a column."""
    named = role_of_name(profile.name)
    identifying = _identifying(profile, named[0] if named else None)
    if identifying:
        return Suggestion("identifier", identifying)
    content = content_of(profile)
    if named and named[0] == "sensitive":
        return Suggestion("sensitive", f'"{named[1]}" in its name speaks of something private.', content.type)
    if len(profile.counts) <= 1 and not (profile.counts and profile.missing):
        return Suggestion("insensitive", "It is the same for everybody.")
    return _quasi_identifier(profile, content, named[1] if named and named[0] == "quasi-identifier" else None)


def _identifying(profile: Profile, named: Role | None) -> str:
    """Why a column identifies persons by itself, or nothing."""
    values, present = profile.values, profile.rows - profile.missing
    few = len(values) <= _FEW and present >= 10 * len(values)
    if named == "identifier" and values and not few:
        return "Its name says that it identifies a person."
    if any(_ADDRESS.search(value) for value in values):
        return "It holds addresses of the internet."
    if named is None and _counts_rows(values, present):
        return "It numbers the rows."
    if values and content_of(profile).words.endswith("categories"):
        return _identifying_text(values, present)
    return ""


def _identifying_text(values: Sequence[str], present: int) -> str:
    if sum(map(len, values)) / len(values) > _LONG_TEXT:
        return "It is free text, which can name anyone."
    if present >= 10 and len(values) >= _UNIQUE_SHARE * present:
        return "Nearly every row has a text of its own."
    return ""


def _counts_rows(values: Sequence[str], present: int) -> bool:
    """Whether the values are consecutive whole numbers, each once."""
    if len(values) < max(present, _FEW) or not all(value.isascii() and value.isdigit() for value in values):
        return False
    numbers = sorted(int(value) for value in values)
    return numbers[-1] - numbers[0] == len(numbers) - 1


def _quasi_identifier(profile: Profile, content: Content, word: str | None) -> Suggestion:
    why = f'"{word}" in its name and {content.words}' if word else content.words[0].upper() + content.words[1:]
    reason = f"{why}: others may know it of a person."
    rejected = _rejected(profile.values, content)
    if rejected is None or len(rejected) > len(profile.values) / 2:
        return Suggestion("quasi-identifier", reason, "text", {"type": "any"})
    if rejected:
        reason += f" {len(rejected)} of its values are not of this kind."
    return Suggestion("quasi-identifier", reason, content.type, content.hierarchy, rejected)


def _rejected(values: Sequence[str], content: Content) -> tuple[str, ...] | None:
    """The values that the content's hierarchy does not accept; None when it is no hierarchy for them at all."""
    texts, wrong = canonical(values, content.type)
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    try:
        return (*(values[place] for place in wrong), *read(HIERARCHY, content.hierarchy).bind(distinct).rejected)
    except PlanError:
        return None
