"""Guess the layout of a pasted or uploaded table: its lines, codes, and the meaning of its columns."""

import re
from collections.abc import Iterator, Sequence

from sfumato.delimited.dialect import thousands_mark
from sfumato.delimited.records import parse_lines
from sfumato.errors import DataError
from sfumato.localization.messages import Messages
from sfumato.tables.crosstabs.published_cells import is_margin
from sfumato.values import Value, field
from sfumato.web.forms import Values
from sfumato.web.projects.loaded_data import MARKS, is_number
from sfumato.web.tables.crosstabs import TOTALS

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


class ColumnFacts(Value):
    """The columns with the contributors of cells.

    Attributes:
        contributions: The columns with the largest contributions, the largest first.
    """

    frequency: str | None = None
    contributions: list[str] = field(default_factory=list)

    @property
    def named(self) -> set[str]:
        """The names of all columns with contributors."""
        return {*([self.frequency] if self.frequency else []), *self.contributions}

    def plain(self) -> Values:
        """Return the columns by their plan keys."""
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
    """Return whether the name of a column indicates the number of contributors of a cell."""
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
    """Return suitable sensitivity rules for a table made from rows, whose contributors are known from tabulation.

    Args:
        summed: Whether values are added up; otherwise rows are counted.
        held: Whether a column identifies the respondent of a row, who may have several rows.

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

    If no column has the contributors of sums, the proposed rule still needs one, and the page asks for it.

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


class AmbiguousNumbers(Value):
    """An ambiguous number: its mark may separate thousands or decimals; with the proposed decimal mark."""

    example: str
    mark: str
    proposed: str | None

    @property
    def thousands(self) -> str:
        """The example, with its mark read as a thousands separator."""
        return self.example.replace(self.mark, "")


# Tables with fewer lines are not taken for rows of persons, because the visitor may still be typing.
LEAST_ROWS = 20
# Names of columns with the id of a person.
NUMBERING = re.compile(r"(^|[_ -])(id|nr|no|key|pid)$|nummer$|number$|[a-z]ID$", re.IGNORECASE)
# Numbers with a decimal comma, and numbers with a decimal point.
COMMA, POINT = re.compile(r"-?\d{1,3}(\.\d{3})*,\d+|-?\d+,\d+"), re.compile(r"-?\d+\.(\d{1,2}|\d{4,})")


def decoded(content: bytes) -> str:
    """Decode a file by its byte order mark, as UTF-8, or else as Western European, which accepts any bytes.

    >>> decoded("Köln".encode("utf-16")), decoded("Köln".encode()), decoded("Köln".encode("latin-1"))
    ('Köln', 'Köln', 'Köln')
    """
    if content.startswith(MARKS):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def guessed(names: Sequence[str], lines: Sequence[Sequence[str]]) -> tuple[str | None, list[str]]:
    """Guess the value column and the category columns: numeric columns contain values.

    A column with the number of contributors counts as values only if there is no other.

    >>> guessed(["area", "firms", "turnover"], [["Total", "5", "70"], ["a", "5", "70"]])
    ('turnover', ['area'])
    >>> guessed(["area", "count", "persons"], [["Total", "5", "4"], ["a", "5", "4"]])
    ('count', ['area'])
    >>> guessed(["district", "quarter", "count"], [["0", "0", "9"], ["1", "2", "9"]])
    ('count', ['district', 'quarter'])
    """
    if not names:
        return None, []
    numeric = [
        name for place, name in enumerate(names) if all(place < len(line) and is_number(line[place]) for line in lines)
    ]
    if len(numeric) in (0, len(names)):
        return names[-1], list(names[:-1])
    facts = facts_in(names, lines)
    values = [name for name in numeric if name not in facts.named and not counts_somebody(name)] or numeric
    return values[0], [name for name in names if name not in numeric]


def writes_commas(lines: Sequence[Sequence[str]]) -> bool:
    """Return whether the numbers of a table have decimal commas: one number has a comma, and none a decimal point.

    >>> writes_commas([["a", "1,5"], ["b", "2.100,25"]]), writes_commas([["a", "1,5", "2.5"]])
    (True, False)
    """
    cells = [cell for line in lines for cell in line]
    return any(COMMA.fullmatch(cell) for cell in cells) and not any(POINT.fullmatch(cell) for cell in cells)


def decimal_mark(lines: Sequence[Sequence[str]], doubt: AmbiguousNumbers | None) -> str | None:
    """Return the decimal mark of a table's numbers; for ambiguous ones that of the language, or None.

    >>> decimal_mark([["a", "1,5"]], None), decimal_mark([["a", "1.204"]], AmbiguousNumbers("1.204", ".", None))
    (',', None)
    """
    if doubt is not None:
        return doubt.proposed
    return "," if writes_commas(lines) else "."


def mark_names(words: Messages) -> dict[str, str]:
    """Return the decimal marks and their names."""
    return {mark: words[f"decimal_mark.{name}"] for mark, name in ((".", "point"), (",", "comma"))}


def doubt_about(texts: Sequence[str], words: Messages) -> AmbiguousNumbers | None:
    """Return an ambiguous number, whose mark may separate thousands or decimals; None if all are clear.

    >>> from sfumato.localization.messages import words_in
    >>> doubt_about(["1.204", "3"], words_in("de")).proposed, doubt_about(["1.204", "3"], words_in()).proposed
    (',', None)
    """
    mark = thousands_mark(texts)
    if mark is None:
        return None
    return AmbiguousNumbers(
        next(text for text in texts if mark in text), mark, words["decimal"] if mark == words["thousands"] else None
    )


def own_total(codes: set[str], said: str) -> str:
    """Return the total code of a dimension: the given one if it occurs, otherwise a word for totals among the codes.

    >>> own_total({"Gesamt", "m", "f"}, "Insgesamt"), own_total({"m", "f"}, "Insgesamt")
    ('Gesamt', 'Insgesamt')
    """
    return said if said in codes or not said else next(_totals(codes), said)


def total_of(lines: Sequence[Sequence[str]]) -> str:
    """Guess the code of the total.

    >>> total_of([["0", "0", "9"], ["1", "2", "9"]]), total_of([["Ensemble", "9"], ["a", "9"]])
    ('0', 'Ensemble')
    """
    codes = {cell for line in lines for cell in line}
    return next(_totals(codes), TOTALS[-1] if TOTALS[-1] in codes else TOTALS[0])


def _totals(codes: set[str]) -> Iterator[str]:
    """Yield the codes that are words for totals, the likeliest first."""
    yield from (code for code in TOTALS[:-1] if code in codes)
    yield from sorted(code for code in codes if is_margin(code))


def looks_like_rows(names: Sequence[str], lines: Sequence[Sequence[str]]) -> bool:
    """Return whether a table has one line per person instead of one per cell.

    It then has no total, and many lines have the same codes, or a column numbers them.

    >>> looks_like_rows(["area", "sex", "pay"], [["a", "m", str(pay)] for pay in range(30)])
    True
    >>> looks_like_rows(["area", "pay"], [["Total", "435"], *([str(area) + "a", "29"] for area in range(15))])
    False
    """
    if len(lines) < LEAST_ROWS or any(cell in TOTALS[:-1] for line in lines for cell in line):
        return False
    whole = [line for line in lines if len(line) == len(names)]
    _, dimensions = guessed(names, whole)
    places = [names.index(name) for name in dimensions]
    codes = {tuple(line[place] for place in places) for line in whole}
    numbered = [place for place, name in enumerate(names) if NUMBERING.search(name)]
    return 2 * len(codes) <= len(whole) or (
        len(names) > 2 and any(len({line[place] for line in whole}) == len(whole) for place in numbered)
    )


def lines_of(text: str) -> list[list[str]]:
    """Return the fields of each line; for an incomplete table, those of the header."""
    try:
        return [line.fields for line in parse_lines(text)]
    except DataError:
        return [line.fields for line in parse_lines(text.partition("\n")[0].replace('"', ""))]
