"""Spellings: texts of one column that are likely one value, written in several ways.

`no`, `No ` and `NO` differ in case and space; `N`, `nein` and `no` are short or other words of the same answer where a
column has no other values than answers. Nothing is merged by this: it is said, since a promise about values counts them
as they are written.
"""

import unicodedata
from collections.abc import Iterable

_YES = frozenset(("yes", "y", "ja", "j", "true", "t", "wahr", "w", "1", "x"))
_NO = frozenset(("no", "n", "nein", "false", "f", "falsch", "0"))


def meanings(texts: Iterable[str]) -> dict[str, str]:
    """What each text is likely to mean: equal for texts that are likely spellings of one value.

    >>> meanings(["no", "No ", "N", "ja"])
    {'no': 'no', 'No ': 'no', 'N': 'no', 'ja': 'yes'}
    >>> meanings(["N", "S"])
    {'N': 'n', 'S': 's'}
    """
    plain = {text: _plain(text) for text in texts}
    words = {*plain.values()}
    if words <= _YES | _NO and words & _YES and words & _NO and len(words) > 2:
        return {text: "yes" if word in _YES else "no" for text, word in plain.items()}
    return plain


def surplus(texts: Iterable[str]) -> int:
    """How many more texts there are than values that they likely mean.

    >>> surplus(["no", "No ", "N", "ja"]), surplus(["a", "b"])
    (2, 0)
    """
    meaning = meanings(texts)
    return len(meaning) - len({*meaning.values()})


def _plain(text: str) -> str:
    """A text without case, and without what nobody sees or means."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".") or text
