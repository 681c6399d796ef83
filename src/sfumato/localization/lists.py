"""Sentences that list many names: whole as texts, and shorter where there is little room."""

from collections.abc import Sequence

from sfumato.localization.messages import Messages
from sfumato.localization.plurals import filled

# Of more names than these, only the first are told where there is little room.
MOST_NAMES, FIRST_NAMES = 8, 5


class ListMessage(str):
    """A sentence with a list of names in it.

    Attributes:
        first: The sentence up to the first few names.
        rest: The other names; empty where there are few.
        more: How many those are, in words.
        tail: What comes after the list.
    """

    __slots__ = ("first", "more", "rest", "tail")
    first: str
    rest: str
    more: str
    tail: str

    @property
    def short(self) -> str:
        """The sentence with the first few names alone."""
        return f"{self.first} {self.more}{self.tail}" if self.rest else str(self)


def enumeration(words: Messages, text: str, names: Sequence[str], **values: object) -> ListMessage:
    """A sentence whose place `{columns}` is filled with names.

    >>> from sfumato.localization.messages import words_in
    >>> told = enumeration(words_in(), "Lost: {columns}.", [f"v{place}" for place in range(9)])
    >>> print(told, told.short, sep="\\n")
    Lost: v0, v1, v2, v3, v4, v5, v6, v7, v8.
    Lost: v0, v1, v2, v3, v4 and 4 more.
    """
    before, _, behind = text.partition("{columns}")
    counted = {**values, "count": words.count(len(names))}
    head, tail = filled(before, counted), filled(behind, counted)
    few = len(names) if len(names) <= MOST_NAMES else FIRST_NAMES
    told = ListMessage(f"{head}{', '.join(names)}{tail}")
    told.first, told.rest, told.tail = f"{head}{', '.join(names[:few])}", ", ".join(names[few:]), tail
    told.more = words["names.more"].format(count=words.count(len(names) - few))
    return told


def names_told(words: Messages, names: Sequence[str]) -> ListMessage:
    """Names alone."""
    return enumeration(words, "{columns}", names)
