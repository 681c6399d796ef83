"""Guess the meaning of a pasted table's columns: respondents, holdings, and largest contributions."""

import re
from collections.abc import Sequence
from dataclasses import field

from sfumato.dataclass import dataclass
from sfumato.web.forms import Values, is_number

# Names of columns that count the respondents or holdings of a cell.
FREQUENCY = re.compile(
    r"(n|no|num|count|counts|freq|frequency|cases|firms?|companies|enterprises|businesses|units|establishments|"
    r"respondents?|contributors?|persons?|people|households|(number|no)[ _.-]?of[ _.-]?\w+|n[_ .-]\w+|"
    r"anzahl.*|zahl[ _.-]?der.*|h(ä|ae)ufigkeit|f(ä|ae)lle|firmen|betriebe|unternehmen|einheiten|"
    r"auskunftgebende|befragte|melder|personen|haushalte)",
    re.IGNORECASE,
)
# Names of columns with the largest contributions, the largest first; the number may be omitted or a word.
CONTRIBUTION = re.compile(
    r"(top|max|largest|biggest|contribution|contributor|gr(ö|oe)(ß|ss)te[rs]?|beitrag)[ _.-]?(?P<place>\d*)",
    re.IGNORECASE,
)
ORDINAL = {"second": 2, "second largest": 2, "third": 3, "zweitgrößter": 2, "zweitgroesster": 2, "drittgrößter": 3}
WHOLE = re.compile(r"\d+(\.0+)?")
# Numbers with decimals, except those whose mark may be a thousands separator.
FRACTION = re.compile(r"(?!-?\d{1,3}([.,]\d{3})+$)-?\d+[.,]\d*[1-9]\d*")


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """The columns with the contributors of cells.

    Attributes:
        contributions: The columns with the largest contributions, the largest first.
    """

    frequency: str | None = None
    contributions: list[str] = field(default_factory=list)

    @property
    def named(self) -> set[str]:
        """Return all of these columns."""
        return {*([self.frequency] if self.frequency else []), *self.contributions}

    def plain(self) -> Values:
        """Return them as a plan names them."""
        frequency = {"frequency": self.frequency} if self.frequency else {}
        return frequency | ({"contributions": self.contributions} if self.contributions else {})


def facts_in(names: Sequence[str], lines: Sequence[Sequence[str]], value: str = "") -> ColumnFacts:
    """Return the columns with the contributors of cells, by name and content, except the value column.

    >>> facts_in(["area", "turnover", "firms", "top1", "top2"], [["a", "7.5", "3", "4", "2"]])
    ColumnFacts(frequency='firms', contributions=['top1', 'top2'])
    """
    others = [name for name in names if name != value]
    counts = [name for name in others if counts_somebody(name) and is_whole(strings_of(names, lines, name))]
    places = {name: _place(name) for name in others if all(map(is_number, strings_of(names, lines, name)))}
    tops = sorted((name for name, place in places.items() if place), key=lambda name: places[name] or 0)
    return ColumnFacts(counts[-1] if counts else None, tops)


def counts_somebody(name: str) -> bool:
    """Return whether a column's name means that it counts the contributors of a cell."""
    return FREQUENCY.fullmatch(name.strip()) is not None


def is_whole(texts: Sequence[str]) -> bool:
    """Return whether a column has nonnegative integers, as counts are.

    >>> is_whole(["3", "17"]), is_whole(["3", "17.5"]), is_whole(["-3"])
    (True, False, False)
    """
    return all(WHOLE.fullmatch(text.strip()) for text in texts)


def has_fractions(texts: Sequence[str]) -> bool:
    """Return whether a column has numbers that are not integers, as sums do.

    >>> has_fractions(["3", "17.5"]), has_fractions(["1.204", "3"]), has_fractions(["2,5"])
    (True, False, True)
    """
    return any(FRACTION.fullmatch(text.strip()) for text in texts)


def strings_of(names: Sequence[str], lines: Sequence[Sequence[str]], name: str) -> list[str]:
    """Return a column of the lines; a line that is too short has an empty text."""
    place = list(names).index(name)
    return [line[place] if place < len(line) else "" for line in lines]


def _place(name: str) -> int | None:
    """Return the rank of a contribution column; None for other columns."""
    plain = name.strip().lower()
    if plain in ORDINAL:
        return ORDINAL[plain]
    match = CONTRIBUTION.fullmatch(plain)
    return int(match["place"] or 1) if match else None


def rules_of_rows(summed: bool, held: bool) -> list[Values]:
    """Return the rules that fit tables made from rows: tabulation determines the contributors of each cell.

    Args:
        summed: Whether values are added up; otherwise rows are counted.
        held: Whether a column names the owner of a row, who may have several.

    >>> rules_of_rows(summed=False, held=False), rules_of_rows(summed=False, held=True)
    ([{'rule': 'range', 'min': 1, 'max': 3}], [{'rule': 'frequency', 'min': 3}])
    >>> [rule["rule"] for rule in rules_of_rows(summed=True, held=True)]
    ['holdings', 'p-percent']
    """
    if not summed and not held:
        return fitting_rules(ColumnFacts(), whole=True)
    few = [{"rule": "holdings" if summed and held else "frequency", "min": 3}]
    return [*few, {"rule": "p-percent", "p": 10}] if summed else few


def fitting_rules(facts: ColumnFacts, whole: bool) -> list[Values]:
    """Return the rules that fit a table: for sums by contributors, for integers without such columns by small counts.

    If no column has the contributors of sums, the proposed rule asks for one.

    >>> fitting_rules(ColumnFacts(), whole=True)
    [{'rule': 'range', 'min': 1, 'max': 3}]
    >>> [rule["rule"] for rule in fitting_rules(ColumnFacts("firms", ["top1", "top2"]), whole=False)]
    ['frequency', 'p-percent']
    """
    if whole and not facts.named:
        return [{"rule": "range", "min": 1, "max": 3}]
    few = [{"rule": "frequency", "min": 3}] if facts.frequency else []
    dominant = [{"rule": "p-percent", "p": 10}] if len(facts.contributions) > 1 or not few else []
    return [*few, *dominant]
