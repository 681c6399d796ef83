"""Build hierarchies as ARXaaS does: by redaction, intervals, order or dates.

Each is a list of rows, one per value in the order of the column: the value, then its label at each level.
"""

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import chain, cycle, pairwise
from typing import Any

from sfumato.errors import DataError
from sfumato.hierarchies.hierarchy import ROOT, BoundHierarchy, make_hierarchy
from sfumato.hierarchies.lists import PathFree, outside
from sfumato.localization.messages import Message

Rows = list[list[str]]
# Maximum number of characters of a hierarchy, because a short request could otherwise exhaust the memory.
MOST_SIGNS = 50_000_000
# Letters of Java date formats and the Python equivalents, longest first.
LETTERS = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "SSS": "%f"}
GRANULARITIES: dict[str, Callable[[dt.datetime], str]] = {
    "SECOND_MINUTE_HOUR_DAY_MONTH_YEAR": lambda day: f"{day:%d.%m.%Y-%H:%M:%S}",
    "MINUTE_HOUR_DAY_MONTH_YEAR": lambda day: f"{day:%d.%m.%Y-%H:%M}",
    "HOUR_DAY_MONTH_YEAR": lambda day: f"{day:%d.%m.%Y-%H}:00",
    "DAY_MONTH_YEAR": lambda day: f"{day:%d.%m.%Y}",
    "WEEK_MONTH_YEAR": lambda day: f"{(day.day - 1) // 7 + 1}/{day:%m/%Y}",
    "WEEK_YEAR": lambda day: f"{day.isocalendar().week}/{day.isocalendar().year}",
    "MONTH_YEAR": lambda day: f"{day:%m/%Y}",
    "WEEKDAY": lambda day: str(day.isoweekday()),
    "WEEK": lambda day: str(day.isocalendar().week),
    "QUARTER": lambda day: str((day.month - 1) // 3 + 1),
    "YEAR": lambda day: f"{day:%Y}",
    "DECADE": lambda day: _years(day.year, 10),
    "CENTURY": lambda day: _years(day.year, 100),
    "MILLENIUM": lambda day: _years(day.year, 1000),
}


class TableHierarchy(PathFree):
    """A hierarchy given as rows: a value and its labels."""

    rows: tuple[tuple[str, ...], ...]

    def fit(self, values: Sequence[str]) -> BoundHierarchy:
        """Return the hierarchy of the rows, bound to values."""
        domain = [row[0] for row in self.rows]
        levels = [list(labels) for labels in list(zip(*self.rows, strict=True))[1:]]
        return BoundHierarchy(make_hierarchy(domain, levels), outside(values, set(domain)))


def build(builder: Mapping[str, Any], column: Sequence[str]) -> Rows:
    """Build the hierarchy of a column.

    Raises:
        DataError: The builder is invalid, or does not fit the values.
    """
    make = BUILDERS.get(str(builder.get("type")))
    if make is None:
        raise _refused("hierarchy.arxaas_builder", names=", ".join(BUILDERS))
    return make(builder, column)


def redacted(builder: Mapping[str, Any], column: Sequence[str]) -> Rows:
    """Redact one more character at each level.

    >>> redacted({"redactionCharacter": "*", "paddingCharacter": " "}, ["127", "13"])
    [['127', '12*', '1**', '***'], ['13', ' 1*', ' **', '***']]
    """
    mark, space = (str(builder.get(f"{name}Character") or default) for name, default in _CHARACTERS)
    if len(mark) != 1 or len(space) != 1:
        raise _refused("hierarchy.arxaas_one_character")
    length = max(map(len, column), default=0)
    if len(column) * length**2 > MOST_SIGNS:
        raise _refused("hierarchy.arxaas_long_values")
    pad = str.ljust if builder.get("paddingOrder") == "LEFT_TO_RIGHT" else str.rjust
    from_left = builder.get("redactionOrder") == "LEFT_TO_RIGHT"

    def label(text: str, level: int) -> str:
        return mark * level + text[level:] if from_left else text[: length - level] + mark * level

    return [[text, *(label(pad(text, length, space), level + 1) for level in range(length))] for text in column]


def ordered(builder: Mapping[str, Any], column: Sequence[str]) -> Rows:
    """Group adjacent values repeatedly into groups of given sizes, at each level.

    >>> ordered({"levels": [{"level": 0, "groups": [{"grouping": 2, "label": None}]}]}, ["a", "b", "c"])
    [['a', '{a, b}', '*'], ['b', '{a, b}', '*'], ['c', '{c}', '*']]
    """
    rows = [[text] for text in column]
    members = [[place] for place in range(len(column))]
    for groups in _levels(builder):
        members = list(_grouped(members, groups))
        for label, places in zip(_labels(members, groups, column), members, strict=True):
            for place in places:
                rows[place].append(label)
    return [[*row, ROOT] for row in rows]


def _grouped(members: Sequence[list[int]], groups: Sequence[Mapping[str, Any]]) -> Iterator[list[int]]:
    start = 0
    for group in cycle(groups):
        if start >= len(members):
            return
        end = start + _size(group)
        yield list(chain.from_iterable(members[start:end]))
        start = end


def _labels(members: Sequence[list[int]], groups: Sequence[Mapping[str, Any]], column: Sequence[str]) -> Iterator[str]:
    for places, group in zip(members, cycle(groups), strict=False):
        own = group.get("label")
        yield str(own) if own is not None else "{" + ", ".join(column[place] for place in places) + "}"


def in_intervals(builder: Mapping[str, Any], column: Sequence[str]) -> Rows:
    """Build adjacent intervals, then groups of them, which repeat up to the end of the last interval."""
    parts = _mappings(builder, "intervals")
    ends = [(_number(one.get("from")), _number(one.get("to")), one.get("label")) for one in parts]
    if not ends or any(one[1] != other[0] for one, other in pairwise(ends)):
        raise _refused("hierarchy.arxaas_interval_gap")
    if any(start >= end for start, end, _ in ends):
        raise _refused("hierarchy.arxaas_interval_end")
    decimal = builder.get("dataType") == "DOUBLE"
    low, high = ends[0][0], _highest(builder, ends[-1][1])
    widths = [_widths(groups, [end - start for start, end, _ in ends]) for groups in _levels(builder)]
    return [[text, *_interval_labels(_inside(text, low, high), ends, widths, high, decimal), ROOT] for text in column]


def _interval_labels(
    number: Decimal,
    ends: Sequence[tuple[Decimal, Decimal, Any]],
    widths: Sequence[Sequence[tuple[Decimal, Any]]],
    high: Decimal,
    decimal: bool,
) -> Iterator[str]:
    own = [(end - start, label) for start, end, label in ends]
    for period in (own, *widths):
        start, end, label = _repeated(number, ends[0][0], period)
        yield str(label) if label is not None else _interval(start, min(end, high), decimal)


def _repeated(number: Decimal, low: Decimal, period: Sequence[tuple[Decimal, Any]]) -> tuple[Decimal, Decimal, Any]:
    """Return the interval that contains a number if some widths repeat from a lowest value on."""
    start = low + (number - low) // sum(width for width, _ in period) * sum(width for width, _ in period)
    for width, label in period:
        if number < start + width:
            return start, start + width, label
        start += width
    raise AssertionError


def _widths(groups: Sequence[Mapping[str, Any]], widths: Sequence[Decimal]) -> list[tuple[Decimal, Any]]:
    """Return the widths of groups of intervals and their labels."""
    spans, at, whole = [], 0, sum(widths, Decimal())
    for group in groups:
        rounds, rest = divmod(_size(group), len(widths))
        further = (widths[(at + step) % len(widths)] for step in range(rest))
        spans.append((rounds * whole + sum(further, Decimal()), group.get("label")))
        at += rest
    return spans


def _interval(start: Decimal, end: Decimal, decimal: bool) -> str:
    low, high = (str(float(value)) if decimal else f"{value:f}" for value in (start, end))
    return f"[{low}, {high}["


def _inside(text: str, low: Decimal, high: Decimal) -> Decimal:
    number = _number(text)
    if not low <= number < high:
        raise _refused("hierarchy.arxaas_outside_intervals")
    return number


def _highest(builder: Mapping[str, Any], end: Decimal) -> Decimal:
    """Return the end of the last interval; an upper range beyond it makes the intervals repeat."""
    upper = builder.get("upperRange") or {}
    if not isinstance(upper, Mapping):
        raise _refused("hierarchy.arxaas_upper_range")
    return max(end, _number(upper.get("bottomTopCodingFrom", end)))


def by_dates(builder: Mapping[str, Any], column: Sequence[str]) -> Rows:
    """Generalize dates by granularities.

    >>> by_dates({"dateFormat": "yyyy-MM-dd", "granularities": ["MONTH_YEAR", "DECADE"]}, ["2020-07-16"])
    [['2020-07-16', '07/2020', '[2020, 2030[']]
    """
    names = [str(name) for name in _list(builder, "granularities")]
    if not names or not set(names) <= set(GRANULARITIES):
        raise _refused("hierarchy.arxaas_granularities", names=", ".join(GRANULARITIES))
    form = _form(str(builder.get("dateFormat")))
    days = [_day(text, form) for text in column]
    return [[text, *(GRANULARITIES[name](day) for name in names)] for text, day in zip(column, days, strict=True)]


def _form(java: str) -> str:
    """Return a Java date format as a Python one."""
    form, rest = "", java
    while rest:
        letters = next((name for name in sorted(LETTERS, key=len, reverse=True) if rest.startswith(name)), None)
        if letters is None and rest[0].isalpha():
            raise _refused("hierarchy.arxaas_date_letters")
        form += LETTERS[letters] if letters else rest[0].replace("%", "%%")
        rest = rest[len(letters or rest[0]) :]
    return form


def _day(text: str, form: str) -> dt.datetime:
    try:
        return dt.datetime.strptime(text, form)
    except ValueError:
        raise _refused("hierarchy.arxaas_not_of_format") from None


def _years(year: int, width: int) -> str:
    return f"[{year // width * width}, {year // width * width + width}["


def _levels(builder: Mapping[str, Any]) -> list[list[Mapping[str, Any]]]:
    """Return the groups of each level; a level may occur several times."""
    levels: dict[int, list[Mapping[str, Any]]] = {}
    for level in _mappings(builder, "levels") if builder.get("levels") else ():
        number = level.get("level", 0)
        if not isinstance(number, int):
            raise _refused("hierarchy.arxaas_level_number")
        levels.setdefault(number, []).extend(_mappings(level, "groups") if level.get("groups") else ())
    return [levels[number] for number in sorted(levels) if levels[number]]


def _size(group: Mapping[str, Any]) -> int:
    size = group.get("grouping")
    if not isinstance(size, int) or size < 1:
        raise _refused("hierarchy.arxaas_grouping")
    return size


def _list(builder: Mapping[str, Any], name: str) -> list[Any]:
    value = builder.get(name)
    if not isinstance(value, list):
        raise _refused("hierarchy.arxaas_no_list", name=name)
    return value


def _mappings(builder: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = _list(builder, name)
    if not all(isinstance(one, Mapping) for one in value):
        raise _refused("hierarchy.arxaas_no_mappings", name=name)
    return value


def _number(value: Any) -> Decimal:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        raise _refused("hierarchy.arxaas_no_number") from None
    if not number.is_finite():
        raise _refused("hierarchy.arxaas_no_number")
    return number


def _refused(what: str, **values: Any) -> DataError:
    return DataError(what, **values, hint=Message("hint.see_the_documentation_of_arxaas_for"))


_CHARACTERS = (("redaction", ROOT), ("padding", " "))
BUILDERS: dict[str, Callable[[Mapping[str, Any], Sequence[str]], Rows]] = {
    "redactionBased": redacted,
    "intervalBased": in_intervals,
    "orderBased": ordered,
    "dateBased": by_dates,
}
