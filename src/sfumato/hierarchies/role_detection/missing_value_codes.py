"""Codes for missing values, except in columns where one is a valid code (`NA` is Namibia); limits such as `<0.5`."""

from collections.abc import Iterator, Mapping
from itertools import compress
from operator import not_

from sfumato.hierarchies.types import canonical
from sfumato.patterns import regex

Counts = Mapping[str | None, int]
MISSING_WORDS = (
    "?",
    "NA",
    "N/A",
    "n/a",
    "null",
    "NULL",
    "None",
    "NaN",
    "nan",
    "-",
    "--",
    ".",
    "k.A.",
    "k. A.",
    "unbekannt",
    *(
        "unknown",
        "Unknown",
        "UNKNOWN",
        "UNK",
        "unk",
        "#N/A",
        "N/D",
        "n/d",
        "n.d.",
        "N/C",
        "n/c",
        "n.c.",
        "n.r.",
        "s/d",
        "S/D",
    ),
    *("keine Angabe", "not stated", "non renseigné", "sin datos"),
)
_CODE_WORD = "NA"


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PROVINCES = _codes(
    "AG AL AN AO AP AQ AR AT AV BA BG BI BL BN BO BR BS BT BZ CA CB CE CH CL CN CO CR CS CT CZ EN FC FE FG FI FM FR GE"
    " GO GR IM IS KR LC LE LI LO LT LU MB MC ME MI MN MO MS MT NA NO NU OR PA PC PD PE PG PI PN PO PR PT PU PV PZ RA RC"
    " RE RG RI RM RN RO SA SI SO SP SR SS SU SV TA TE TN TO TP TR TS TV UD VA VB VC VE VI VR VT VV"
)
# Lists of two-letter codes without NA: there it is a missing value.
_STATES = (
    _codes(
        "AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK"
        " OR PA PR RI SC SD TN TX UT VA VT WA WI WV WY"
    ),
    _codes("AB BC MB NB NL NS NT NU ON PE QC SK YT"),
    _codes("AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO"),
    _codes("AG AI AR BE BL BS FR GE GL GR JU LU NE NW OW SG SH SO SZ TG TI UR VD VS ZG ZH"),
    _codes("BB BE BW BY HB HE HH MV NI NW RP SH SL SN ST TH"),
)
# With fewer codes, their meaning is unclear; minimum proportion of rows with one.
_LEAST_CODES = 4
_SHARE = 0.9


def known_words(texts: Mapping[str, Counts]) -> list[str]:
    """Return the words for "missing" that occur in some column.

    The missing values of a plan apply to all columns, so a word that is a valid code in one is excluded.

    >>> known_words({"job": {"-": 2, "cook": 9}, "prov": {"NA": 9, "TO": 8, "PA": 7, "BO": 3, "VR": 4}})
    ['-']
    >>> known_words({"state": {"NA": 9, "CA": 8, "NY": 7, "TX": 3, "OR": 4}})
    ['NA']
    """
    words = [word for word in MISSING_WORDS if any(word in counts for counts in texts.values())]
    if columns_of_code(texts):
        words.remove(_CODE_WORD)
    return words


def words_by_column(texts: Mapping[str, Counts]) -> dict[str, list[str]]:
    """Return the columns in which `NA` means "missing" though it is a valid code in another.

    >>> words_by_column({"job": {"NA": 2, "cook": 9}, "prov": {"NA": 9, "TO": 8, "PA": 7, "BO": 3, "VR": 4}})
    {'job': ['NA']}
    """
    codes = columns_of_code(texts)
    return {
        name: [_CODE_WORD] for name, counts in texts.items() if codes and _CODE_WORD in counts and name not in codes
    }


def columns_of_code(texts: Mapping[str, Counts]) -> list[str]:
    """Return the columns in which `NA` is a code: an Italian province, or a two-letter code of no other column."""
    holders = [name for name, counts in texts.items() if _CODE_WORD in counts]
    codes = [name for name in holders if _are_codes(texts[name])]
    return [name for name in codes if _share(texts[name], _PROVINCES) >= _SHARE or len(holders) == len(codes)]


def _are_codes(counts: Counts) -> bool:
    """Return whether the other values are two-letter codes, and of no list that is known to lack NA."""
    others = _others(counts)
    if len(others) < _LEAST_CODES:
        return False
    two_letters = frozenset(text for text in others if len(text) == 2 and text.isalpha() and text.isupper())
    if _share(counts, two_letters) < _SHARE:
        return False
    best = max(_distinct(others, states) for states in _STATES)
    return best < _SHARE or _distinct(others, _PROVINCES) > best


def _others(counts: Counts) -> dict[str, int]:
    return {text: rows for text, rows in counts.items() if text and not text.isspace() and text not in MISSING_WORDS}


def _share(counts: Counts, members: frozenset[str]) -> float:
    """Return the proportion of rows with a value of a list, among those with another value."""
    others = _others(counts)
    return sum(rows for text, rows in others.items() if text in members) / max(sum(others.values()), 1)


def _distinct(others: Mapping[str, int], members: frozenset[str]) -> float:
    return sum(text in members for text in others) / max(len(others), 1)


_LIMIT = regex(r"(?:[<>]=?|=[<>]|[≤≥⩽⩾])\s?[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?(?:\s?[^\W\d_%][^\s<>]{0,11}|\s?%)?")
_SIGNS = tuple("<>=≤≥⩽⩾")
# With this many distinct numbers, they are measured, not chosen; a limit belongs to a device or a kit, so there are
# few.
_MEASURED, _MOST_LIMITS = 10, 20
# Proportion of the other values that must be numbers; maximum proportion of rows with words for "not measured".
_WRONG_NUMBERS, _FEW_WORDS, _MOST_WORDS = 0.05, 5, 0.3


# Detection limits are no numbers, and replacing them by the limit would be false. They are treated as missing, so that
# the column is typed by its numbers. A column of a few ranges (`<5`, `5-10`, `>10`) has no numbers and stays
# categorical.
def is_limit(text: str) -> bool:
    """Return whether a text states that a number is below or above another.

    >>> [is_limit(text) for text in ("<0.5", "≥ 1,000 mg/l", "<= 5", "> 65 years old", "<b>", "<5-10", "0.5")]
    [True, True, True, False, False, False, False]
    """
    return text.lstrip().startswith(_SIGNS) and _LIMIT.fullmatch(text.strip()) is not None


def limits_by_column(texts: Mapping[str, Counts]) -> dict[str, list[str]]:
    """Return the detection limits in columns of measured numbers, and the few words that occur with them.

    >>> measured = {str(tenth / 10): 3 for tenth in range(5, 40)}
    >>> limits_by_column({"crp": {**measured, "<0.5": 9, "NS": 2}, "dose": {"<5": 9, "5-10": 7, ">10": 3}})
    {'crp': ['<0.5', 'NS']}
    """
    found = {name: [*_limits(counts)] for name, counts in texts.items()}
    return {name: limits for name, limits in found.items() if limits}


def _limits(counts: Counts) -> Iterator[str]:
    limits = {text for text in counts if text and is_limit(text)}
    if not limits or len(limits) > _MOST_LIMITS:
        return
    others = [text for text in counts if text and not text.isspace() and text not in limits]
    with_digits = [any(map(str.isdigit, text)) for text in others]
    numbers, words = [*compress(others, with_digits)], [*compress(others, map(not_, with_digits))]
    if len(numbers) < _MEASURED or len(canonical(numbers, "amount")[1]) > _WRONG_NUMBERS * len(numbers):
        return
    yield from sorted(limits)
    words = [word for word in words if word not in MISSING_WORDS]
    if len(words) <= _FEW_WORDS and sum(counts[word] for word in words) <= _MOST_WORDS * sum(counts.values()):
        yield from sorted(words)
