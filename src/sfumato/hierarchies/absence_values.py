"""Absence values such as "none" or "negative": they state that something is absent, so revealing them harms no one.

Only such values may fill a class. Frequency does not make a value harmless: nearly all people under treatment are ill.
A 0 states absence next to 1 alone (a flag), or as one of many numbers (an amount, a count); among a few codes it may
have any meaning.
"""

from collections.abc import Collection

from sfumato.hierarchies.spelling_variants import plain_text
from sfumato.hierarchies.types import canonical, plain_numbers_of

_NEGATIVES = frozenset(
    (
        *(
            "no",
            "n",
            "none",
            "nil",
            "never",
            "not",
            "false",
            "f",
            "0",
            "negative",
            "neg",
            "absent",
            "healthy",
            "normal",
        ),
        *("inconspicuous", "unremarkable", "nothing", "well", "unaffected", "not detected", "not applicable"),
        *("nein", "keine", "kein", "keiner", "keines", "nie", "nichts", "nicht", "falsch", "negativ", "gesund", "ohne"),
        *("unauffällig", "ohne befund", "entfällt", "nicht zutreffend", "nicht nachgewiesen"),
    )
)
# Words at the beginning of a text that negate the rest.
_FIRST = frozenset(("no", "non", "not", "never", "without", "none", "kein", "keine", "keinen", "nicht", "nie", "ohne"))


# With this many distinct numbers, they are no codes.
_MANY_NUMBERS = 20


def negatives_of(texts: Collection[str], counted: bool = False) -> set[str]:
    """Return the values of a column that state the absence of something.

    Args:
        counted: Whether the values count something: then 0 means none, however few numbers there are.

    >>> negatives_of(["0", "1"]), negatives_of(["0", "1", "2", "3"]), negatives_of(["none", "flu"])
    ({'0'}, set(), {'none'})
    """
    numbers = plain_numbers_of(texts)
    # Among numbers, only zeros state absence.
    candidates = texts if numbers is None else [text for text, form in zip(texts, numbers, strict=True) if form == "0"]
    negatives = {text for text in candidates if is_negative(text)}
    zeros = {text for text in negatives if canonical([text], "amount")[0] == ["0"]}
    return negatives - zeros if zeros and not counted and _are_codes({*texts} - zeros) else negatives


def _are_codes(others: Collection[str]) -> bool:
    """Return whether a 0 is one of a few codes: the other values are a few numbers, not 1 alone."""
    numbers = {number for number in canonical([*others], "amount")[0] if number is not None}
    return 0 < len(numbers) < _MANY_NUMBERS and numbers != {"1"}


def is_negative(text: str) -> bool:
    """Return whether a value states the absence of something.

    >>> [is_negative(text) for text in ("No", "keine Diagnose", "HIV-negativ", "0.00", "positive", "nothing-to-report")]
    [True, True, True, True, False, False]
    """
    words = plain_text(text).split()
    return (
        " ".join(words) in _NEGATIVES
        or (len(words) > 1 and words[0] in _FIRST)
        or (len(words) > 1 and words[-1] in ("negative", "negativ", "neg"))
    )
