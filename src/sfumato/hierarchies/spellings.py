"""Spellings of a value that are likely the same value, the same person, or state that something is absent.

- Variants of a value: `no`, `No ` and `NO` differ in case and space, `HIV` and `H.I.V.` in punctuation, `I10.90` and
  `I1090` in the point of a disease code, `0` and `0.00` in zeros; `N`, `nein` and `no` are the same answer in a column
  of answers. `1` and `01`, `1.5 mg` and `15 mg`, `A+` and `A-` are different values.
- Keys of persons are compared without case, spaces and punctuation: `LB001234` and `lb-001234` are one person. Persons
  whose keys differ in nothing else count as one, which can only weaken a guarantee, never overstate it. A text that
  begins with a minus is a number; a text of punctuation is compared unchanged. Engines implement the same rule.
- Absence values (`none`, `negative`) reveal nothing harmful, and only such values may fill a class. Frequency does not
  make a value harmless: nearly all people under treatment are ill. A 0 states absence next to 1 alone (a flag), or as
  one of many numbers (an amount, a count); among a few codes it may have any meaning.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal

from sfumato.hierarchies.types import canonical, is_plain_number, plain, plain_numbers_of
from sfumato.patterns import regex

_YES = frozenset(("yes", "y", "ja", "j", "true", "t", "wahr", "w", "1", "x"))
_NO = frozenset(("no", "n", "nein", "false", "f", "falsch", "0"))
# A written number: leading zeros before other digits would make it a code.
_NUMBER = regex(r"[+-]?(?:0|[1-9]\d{0,17})(?:\.\d{1,18})?", re.ASCII)
# Characters that do not change a word: points and quotes next to a letter, dashes inside words; not those of numbers,
# nor a plus or minus after a word.
_AT_LETTERS = regex(r"(?<=[^\W\d_])[.'’`\"]+|[.'’`\"]+(?=[^\W\d_])")
# The point of a disease code (ICD-10), which is often left out: only after the third character.
_CODE_POINT = regex(r"(?<=^[a-z]\d[\da-z])\.(?=[\da-z]{1,4}$)", re.ASCII)
# Signs that no font shows though Unicode counts them as letters, marks or symbols: joiners, fillers, selectors of forms
# (its property Default_Ignorable_Code_Point), and the blank of Braille.
_IGNORABLE = regex(r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")
# Hyphens, dashes and the minus sign, which editors put in each other's place.
_DASHES = regex(r"[\u2010-\u2015\u2212]")
_BETWEEN_WORDS = regex(r"(?<=[^\W\d_])[-_/](?=\w)|(?<=\w)[-_/](?=[^\W\d_])")

# A text that is this many times as frequent as a similar one is the correct spelling.
_FAR_MORE = 10
_LONG_ENOUGH = 4


def meanings(texts: Iterable[str]) -> dict[str, str]:
    """Return the likely value of each text: equal for likely spelling variants.

    >>> meanings(["no", "No ", "N", "ja"])
    {'no': 'no', 'No ': 'no', 'N': 'no', 'ja': 'yes'}
    >>> meanings(["N", "S"])
    {'N': 'n', 'S': 's'}
    """
    distinct = dict.fromkeys(texts)
    if (numbers := plain_numbers_of(distinct)) is not None:
        return dict(zip(distinct, numbers, strict=True))
    folded = {text: plain_text(text) for text in distinct}
    words = {*folded.values()}
    if words <= _YES | _NO and words & _YES and words & _NO and len(words) > 2:
        return {text: "yes" if word in _YES else "no" for text, word in folded.items()}
    return folded


def surplus(texts: Iterable[str]) -> int:
    """Return the number of texts minus the number of values that they likely mean.

    >>> surplus(["no", "No ", "N", "ja"]), surplus(["a", "b"])
    (2, 0)
    """
    meaning = meanings(texts)
    return len(meaning) - len({*meaning.values()})


def one_spelling(texts: Iterable[str]) -> dict[str, str]:
    """Return for each text the shortest spelling of its likely value.

    >>> one_spelling(["hiv ", "H.I.V.", "HIV", "0.0", "0"])
    {'hiv ': 'HIV', 'H.I.V.': 'HIV', 'HIV': 'HIV', '0.0': '0', '0': '0'}
    """
    meaning = meanings(texts)
    if len({*meaning.values()}) == len(meaning):
        return {text: text for text in meaning}
    shortest: dict[str, str] = {}
    for text in sorted(meaning, key=lambda text: (len(text), text)):
        shortest.setdefault(meaning[text], text)
    return {text: shortest[meant] for text, meant in meaning.items()}


def plain_text(text: str) -> str:
    """Return a text without case, invisible and meaningless characters; a number without redundant zeros.

    >>> plain_text(" H.I.V.  Positive "), plain_text("covid-19"), plain_text("2.50"), plain_text("1.5 mg")
    ('hiv positive', 'covid 19', '2.5', '1.5 mg')
    >>> plain_text("I10.90"), plain_text("B1.5"), plain_text("10\u201320")
    ('i1090', 'b1.5', '10-20')
    """
    if is_plain_number(text):
        return text
    folded = _DASHES.sub("-", visible(text)).casefold()
    if _NUMBER.fullmatch(folded):
        return plain(Decimal(folded))
    folded = _BETWEEN_WORDS.sub(" ", _AT_LETTERS.sub("", _CODE_POINT.sub("", folded)))
    return " ".join(folded.split()).rstrip(".") or text


def visible(text: str) -> str:
    """Return the visible text: one form of each character, without redundant white space and zero-width characters.

    >>> visible(" HIV\u200b  positive\u00a0")
    'HIV positive'
    """
    if _is_plain(text):
        return text
    spaced = " ".join(unicodedata.normalize("NFKC", text).split())
    shown = (sign for sign in spaced if unicodedata.category(sign) not in ("Cc", "Cf"))
    return " ".join(_IGNORABLE.sub("", "".join(shown)).split())


def visible_texts(texts: Collection[str]) -> set[str]:
    """Return what is seen of some texts, looked at together where they show all that they hold.

    >>> sorted(visible_texts(["a", " a", "b"]))
    ['a', 'b']
    """
    return {*texts} if _is_plain("".join(texts)) else {*map(visible, texts)}


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def misspelled(counts: Mapping[str, int]) -> int:
    """Return the number of rare texts that differ by one letter from a far more frequent one.

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
    """Return whether one letter is wrong, missing, or extra, or two are swapped."""
    first, second = sorted((plain_text(one), plain_text(other)), key=len)
    if first == second or len(second) - len(first) > 1:
        return False
    same = next(
        (place for place, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]), len(first)
    )
    swapped = first[same : same + 2] == second[same : same + 2][::-1] and first[same + 2 :] == second[same + 2 :]
    return first[same + (len(first) == len(second)) :] == second[same + 1 :] or (len(first) == len(second) and swapped)


# Regular expression of databases for what is removed from lower-case keys: all but letters and digits.
SIGNS = r"[^\p{L}\p{N}]"
# A key without any of these needs no normalization.
NOISE = "[^a-z0-9]"
_SIGNS = str.maketrans("", "", "".join(sign for sign in map(chr, range(128)) if not sign.isalnum()))
# The same characters, except line separators.
_SIGNS_OF_LINES = bytes(sign for sign in _SIGNS if sign != ord("\n"))


def plain_key(text: str) -> str:
    """Return the normalized form of a key.

    >>> [plain_key(text) for text in ("LB 001234", "lb-001234", "-7", "??", "Ä.1")]
    ['lb001234', 'lb001234', '-7', '??', 'ä1']
    """
    if text.startswith("-"):
        return text
    if text.isascii():
        return text.lower().translate(_SIGNS) or text
    return "".join(_small(sign) for sign in text if sign.isalnum()) or text


def plain_keys(texts: Collection[str]) -> set[str]:
    """Return the distinct normalized keys of some texts; plain letters are processed together, which is faster.

    >>> sorted(plain_keys(["LB 1", "lb-1", "7"])), sorted(plain_keys(["??", "Ä.1", "ä1"]))
    (['7', 'lb1'], ['??', 'ä1'])
    """
    lines = "\n".join(texts)
    if lines.isascii() and lines.count("\n") == len(texts) - 1 and "\n-" not in f"\n{lines}":
        keys = {*lines.lower().encode().translate(None, _SIGNS_OF_LINES).decode().split("\n")}
        if "" not in keys:
            return keys
    return {*map(plain_key, texts)}


def _small(sign: str) -> str:
    """Return a letter in lower case, if that is one letter: databases convert letter by letter."""
    small = sign.lower()
    return small if len(small) == 1 else sign


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
