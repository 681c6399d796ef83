"""Sentences that list many names: complete, or shortened to the first names where space is limited."""

from collections.abc import Sequence

from sfumato.localization.messages import Messages
from sfumato.localization.plurals import filled

# If a list has more names than the first number, the short form shows as many names as the second.
MOST_NAMES, FIRST_NAMES = 8, 5


class ListMessage(str):
    """A sentence that contains a list of names.

    Attributes:
        first: The sentence up to the last of the first names.
        rest: The remaining names; empty if the list is short.
        more: The number of remaining names, in words.
        tail: The text after the list.
    """

    __slots__ = ("first", "more", "rest", "tail")
    first: str
    rest: str
    more: str
    tail: str

    @property
    def short(self) -> str:
        """The sentence with only the first names."""
        return f"{self.first} {self.more}{self.tail}" if self.rest else str(self)


def enumeration(words: Messages, text: str, names: Sequence[str], **values: object) -> ListMessage:
    """Return a sentence with names in place of `{columns}`.

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
    """Return a list of names without a sentence."""
    return enumeration(words, "{columns}", names)
