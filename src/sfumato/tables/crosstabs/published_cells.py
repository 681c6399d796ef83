"""Parse the cells and labels of a published crosstab: numbers, ranges, suppressed cells, totals, rates."""

import math
import re
from collections.abc import Sequence
from typing import Any

from sfumato.patterns import regex
from sfumato.values import Value

Text = str | None
_DIGITS = r"\d+(?:[.,]\d+)*"
_PLAIN = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d+,\d+")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:([.,' \u00a0\u202f])\d{3})(?:\1\d{3})*")
_PERCENT = re.compile(r"\s*(?:%|percent|prozent)\s*$", re.I)
_BETWEEN = re.compile(rf"\D{{0,3}}?({_DIGITS})\s*(?:-|–|—|\.\.|to|bis)\s*({_DIGITS})\D{{0,12}}", re.I)
_BELOW = re.compile(rf"\s*(<|<=|≤|under|below|fewer than|less than|unter|weniger als|up to|bis)\s*({_DIGITS})\D*", re.I)
_ABOVE = re.compile(rf"\s*(>|>=|≥|over|above|more than|über|mehr als|ab)\s*({_DIGITS})\D*|\s*({_DIGITS})\s*\+\s*", re.I)
_STRICT = ("<", "under", "below", "fewer than", "less than", "unter", "weniger als")
_STRICTLY_ABOVE = (">", "over", "above", "more than", "über", "mehr als")
_WORDS = {
    word: number
    for words in (
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"],
        ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"],
    )
    for number, word in enumerate(words)
} | {"ein": 1, "eine": 1, "fuenf": 5, "zwoelf": 12}


class ParsedCell(Value):
    """The content of a cell: a number, a range of integers, or nothing; and whether it is in percent.

    A suppression mark contains no number. Cells such as `5*`, `(5)`, `~5` or `five` contain a number, and `1-3`
    is a range of possible numbers.
    """

    number: float = math.nan
    low: float = 0.0
    high: float = math.inf
    is_range: bool = False
    is_percent: bool = False


MASK = ParsedCell()


def column_cells(texts: Sequence[Text]) -> list[ParsedCell]:
    """Parse a column of numbers; points or commas are thousands separators if all numbers are written that
    way.

    >>> [cell.number for cell in column_cells(["1.234", "30"])], [cell.number for cell in column_cells(["1.5", "30"])]
    ([1234.0, 30.0], [1.5, 30.0])
    """
    marks = {match[1] for text in texts if (match := _THOUSANDS.fullmatch(_bare(text)))}
    decimal = any(
        re.search(r"[.,]", _bare(text)) and not _THOUSANDS.fullmatch(_bare(text)) and is_number(text) for text in texts
    )
    thousands = "" if decimal or len(marks) != 1 else marks.pop()
    return [cell_of(text, thousands) for text in texts]


def is_number(text: Text) -> bool:
    """Return whether a text is just a number, possibly with a percent sign."""
    bare = _bare(text)
    return bool(_PLAIN.fullmatch(bare) or _COMMA.fullmatch(bare) or _THOUSANDS.fullmatch(bare))


def cell_of(text: Text, thousands: str = "") -> ParsedCell:
    """Parse one cell.

    >>> [cell_of(text).number for text in ("5*", "(5)", "~5", "n=5", "five", "5 (r)", "5,5", "12 %")]
    [5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.5, 12.0]
    >>> [(cell.low, cell.high) for cell in map(cell_of, ("1-3", "<5", "≤3", "5+"))]
    [(1.0, 3.0), (0.0, 4.0), (0.0, 3.0), (5.0, inf)]
    >>> [cell_of(text) == MASK for text in ("*", ":c", "", None, "n/a")]
    [True, True, True, True, True]
    """
    plain = "" if text is None else text.strip()
    if is_number(plain):
        return ParsedCell(_value(_bare(plain), thousands), is_percent=bool(_PERCENT.search(plain)))
    if plain.casefold() in _WORDS:
        return ParsedCell(float(_WORDS[plain.casefold()]))
    if not any(map(str.isdecimal, plain)):
        return MASK
    return _range(plain, thousands) or _dressed(plain, thousands)


def _range(text: str, thousands: str) -> ParsedCell | None:
    if match := _BETWEEN.fullmatch(text):
        return ParsedCell(low=_value(match[1], thousands), high=_value(match[2], thousands), is_range=True)
    if match := _BELOW.fullmatch(text):
        strict = match[1].casefold() in _STRICT
        return ParsedCell(high=_value(match[2], thousands) - strict, is_range=True)
    if match := _ABOVE.fullmatch(text):
        strict = (match[1] or "").casefold() in _STRICTLY_ABOVE
        return ParsedCell(low=_value(match[2] or match[3], thousands) + strict, is_range=True)
    return None


def _dressed(text: str, thousands: str) -> ParsedCell:
    """Return the first number in a text, as in `5†` or `5 (2.3 %)`."""
    match = re.search(_DIGITS, text)
    return MASK if match is None else ParsedCell(_value(match[0], thousands))


def _bare(text: Text) -> str:
    return "" if text is None else _PERCENT.sub("", text.strip())


def _value(digits: str, thousands: str) -> float:
    """Convert digits to a number."""
    whole = digits.replace(thousands, "") if thousands else digits
    plain = whole if re.fullmatch(r"[^,]*", whole) else whole.replace(".", "").replace(",", ".")
    try:
        return float(plain)
    except ValueError:
        return float("".join(filter(str.isdecimal, plain)) or "nan")


MARGINS = frozenset(
    [
        *("all", "total", "totals", "sum", "sums", "overall", "grand total", "grand totals", "row total"),
        *("column total", "alle", "gesamt", "insgesamt", "summe", "gesamtsumme", "zusammen", "σ", "∑"),
        *("gesamtergebnis", "ensemble", "total général", "totaux", "somme", "tous", "totale", "totale generale"),
        *("somma", "tutti", "total general", "total geral", "suma", "soma", "todos", "totaal", "eindtotaal", "som"),
        *("i alt", "totalt", "summa", "yhteensä", "kaikki", "razem", "ogółem", "celkem", "spolu", "összesen", "skupaj"),
        *("ukupno", "всего"),
    ]
)
SHARES = ("%", "pct", "percent", "prozent", "share", "anteil", "rate", "ratio", "quote", "per 1", "je 1")
# Words for means, and others that certainly mark a column without counts; "literate" and "20 %" are categories.
MEANS = regex(
    r"\b(?:means?|averages?|avg|medians?|mittelwert|durchschnitt\w*|moyennes?|médianes?|mediana|promedio)\b",
    re.IGNORECASE,
)
FIGURES = regex(
    r"(?<![\d.,])(?<![\d.,]\s)[%‰]"
    r"|\b(?:pct|per ?cent|percentages?|prozent\w*|pourcentages?|shares?|rates?|ratios?|taux|tasso|tasa)\b"
    r"|(?:anteil|[ns]rate|sterberate|quote)\b|\b(?:per|je|pro|pour|par) 1(?:0+|[ .,'\u00a0\u202f]000)*\b",
    re.IGNORECASE,
)
# Grades of a scale, and the words for its middle.
_GRADES = regex(
    r"(?:(?:very|rather|somewhat|much|far|well|sehr|eher|weit|très|muy) )?"
    r"(?:poor|bad|weak|fair|good|excellent|outstanding"
    r"|satisfactory|unsatisfactory|(?:above|below) (?:the )?average|schlecht|mangelhaft|schwach|ausreichend"
    r"|befriedigend|gut|(?:über|unter)durchschnittlich|mauvaise?|mal|passable|bien|bonne?|excellente?"
    r"|malo|mala|regular|bueno|buena|excelente)",
    re.IGNORECASE,
)
_MIDDLE = regex(r"(?:about |the |rather |eher |dans la )?(?:average|durchschnittlich|moyenne?|promedio)", re.IGNORECASE)
_GRADES_OF_A_SCALE = 2


def is_margin(label: Any, margins: str | None = None) -> bool:
    """Return whether a label is that of a total.

    >>> is_margin("Grand total"), is_margin(("All", "")), is_margin("ward")
    (True, True, False)
    """
    first = label[0] if isinstance(label, tuple) else label
    return first == margins if margins is not None else str(first).strip().casefold() in MARGINS


def label_text(label: Any) -> str:
    """Return a label as text; several levels are joined."""
    return " ".join(str(part) for part in label) if isinstance(label, tuple) else str(label)


def names_a_share(label: Any) -> bool:
    """Return whether a label contains a word for shares, possibly within another word."""
    text = label_text(label).casefold()
    return any(word in text for word in SHARES)


def names_a_figure(label: Any) -> bool:
    """Return whether a label announces shares, rates or means.

    >>> [names_a_figure(name) for name in ("m in %", "rate per 1000", "mean_age", "Frauenanteil", "Geburtenrate")]
    [True, True, True, True, True]
    >>> [names_a_figure(name) for name in ("Corporate", "illiterate", "VAT 20 %", "moderate", "Mittelschule")]
    [False, False, False, False, False]
    """
    text = label_text(label).replace("_", " ")
    return FIGURES.search(text) is not None or names_a_mean(label)


def names_a_mean(label: Any) -> bool:
    """Return whether a label announces means or medians."""
    return MEANS.search(label_text(label).replace("_", " ")) is not None


def grades(labels: Sequence[Any]) -> set[int]:
    """Return the positions of labels that are grades of a scale, such as "average" next to "poor" and "good".

    >>> grades(["poor", "average", "good"]), grades(["cases", "average"]), grades(["average price", "poor", "good"])
    ({0, 1, 2}, set(), {1, 2})
    """
    last = [str(label[-1] if isinstance(label, tuple) else label).strip() for label in labels]
    told = {place for place, text in enumerate(last) if _GRADES.fullmatch(text)}
    if len({last[place] for place in told}) < _GRADES_OF_A_SCALE:
        return set()
    return told | {place for place, text in enumerate(last) if _MIDDLE.fullmatch(text)}
