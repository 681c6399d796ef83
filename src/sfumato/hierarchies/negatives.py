"""Negatives: values that say that something is not there, so that to be known to have one harms nobody.

Only such values may fill a class. That a value is frequent does not make it harmless: of people under treatment nearly
all are ill.
"""

from sfumato.hierarchies.spellings import plain_text

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
# A text that begins with one of these words says that the rest is not so.
_FIRST = frozenset(("no", "non", "not", "never", "without", "none", "kein", "keine", "keinen", "nicht", "nie", "ohne"))


def is_negative(text: str) -> bool:
    """Whether a value says that something is not there.

    >>> [is_negative(text) for text in ("No", "keine Diagnose", "HIV-negativ", "0.00", "positive", "nothing-to-report")]
    [True, True, True, True, False, False]
    """
    words = plain_text(text).split()
    return (
        " ".join(words) in _NEGATIVES
        or (len(words) > 1 and words[0] in _FIRST)
        or (len(words) > 1 and words[-1] in ("negative", "negativ", "neg"))
    )
