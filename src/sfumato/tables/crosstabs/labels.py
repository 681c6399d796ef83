"""Recognize totals, proportions, rates and means by the labels of a crosstab."""

import re
from collections.abc import Sequence
from typing import Any

from sfumato.patterns import regex

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
