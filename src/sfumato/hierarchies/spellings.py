"""Spellings: texts of one column that are likely one value, written in several ways.

`no`, `No ` and `NO` differ in case and space; `N`, `nein` and `no` are short or other words of the same answer where a
column has no other values than answers. Nothing is merged by this: it is said, since a promise about values counts them
as they are written.
"""

import unicodedata
from collections.abc import Iterable, Mapping

_YES = frozenset(("yes", "y", "ja", "j", "true", "t", "wahr", "w", "1", "x"))
_NO = frozenset(("no", "n", "nein", "false", "f", "falsch", "0"))


# A text that stands in so many times as many rows as another of nearly the same letters is the right one.
_FAR_MORE = 10
_LONG_ENOUGH = 4


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


def misspelled(counts: Mapping[str, int]) -> int:
    """How many rare texts differ by one letter from one that is far more frequent.

    >>> misspelled({"Berlin": 60, "Berln": 1, "Bremen": 40, "Belrin": 1})
    2
    """
    frequent = [text for text, rows in counts.items() if rows >= _FAR_MORE and _is_word(text)]
    rare = [text for text, rows in counts.items() if rows < _FAR_MORE and _is_word(text)]
    return sum(
        any(_FAR_MORE * counts[text] <= counts[other] and _differ_by_one(text, other) for other in frequent)
        for text in rare
    )


def _is_word(text: str) -> bool:
    return len(text) >= _LONG_ENOUGH and not any(map(str.isdigit, text))


def _differ_by_one(one: str, other: str) -> bool:
    """Whether one letter is wrong, missing, too many, or two have changed places."""
    first, second = sorted((_plain(one), _plain(other)), key=len)
    if first == second or len(second) - len(first) > 1:
        return False
    same = next(
        (place for place, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), len(first)
    )
    swapped = first[same : same + 2] == second[same : same + 2][::-1] and first[same + 2 :] == second[same + 2 :]
    return first[same + (len(first) == len(second)) :] == second[same + 1 :] or (len(first) == len(second) and swapped)


def _plain(text: str) -> str:
    """A text without case, and without what nobody sees or means."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".") or text
