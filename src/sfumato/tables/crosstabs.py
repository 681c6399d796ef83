"""Crosstabs taken apart: which lines are sums of others, which columns are shares, by their numbers and their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError, PlanError
from sfumato.tables.cells import Relations, make_relations
from sfumato.tables.sums import parts_of

MARGINS = frozenset(
    [
        *("all", "total", "totals", "sum", "sums", "overall", "grand total", "grand totals", "row total"),
        *("column total", "alle", "gesamt", "insgesamt", "summe", "gesamtsumme", "zusammen", "σ", "∑"),
    ]
)
SHARES = ("%", "pct", "percent", "prozent", "share", "anteil", "rate", "ratio", "quote", "per 1", "je 1")
FACTORS = (100.0, 1.0, 1e3, 1e4, 1e5)
DECIMALS = (0, 1, 2, 3, 4, 12)
# In larger tables a line is only tried as the sum of all others.
MANY = 60
Grid = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Crosstab:
    """Labels and numbers of a crosstab."""

    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    values: Grid


@dataclass(frozen=True, slots=True)
class Ratio:
    """A column that is a factor times one column over another, or over its own entry in the row of the total."""

    top: int
    bottom: int
    row: int | None
    factor: float
    decimals: int


Derived = Mapping[Any, tuple[Any, Any] | None]


def is_margin(label: Any, margins: str | None = None) -> bool:
    """Whether a label is that of a total.

    >>> is_margin("Grand total"), is_margin(("All", "")), is_margin("ward")
    (True, True, False)
    """
    first = label[0] if isinstance(label, tuple) else label
    return first == margins if margins is not None else str(first).strip().casefold() in MARGINS


def relations_of(grid: Grid, rows: Sequence[Any], columns: Sequence[Any], margins: str | None) -> Relations:
    """The sums within a crosstab: those that labels announce, and all that the numbers show.

    Raises:
        PlanError: There is no such label for the margins.
        DataError: A line that is called a total is not the sum of others.
    """
    if margins is not None and not any(is_margin(label, margins) for label in (*rows, *columns)):
        raise PlanError(f'there is no row or column "{margins}".', "Check margins=.", "no-margin")
    places = np.arange(grid.size).reshape(grid.shape)
    found = _along(grid, places, rows, margins) + _along(grid.T, places.T, columns, margins)
    return make_relations(found)


def _along(
    lines: Grid, places: npt.NDArray[np.int64], labels: Sequence[Any], margins: str | None
) -> list[tuple[list[int], list[float]]]:
    found = []
    for total, parts in sums_in(lines, labels, margins):
        for across in range(lines.shape[1]):
            cells = [int(places[total, across]), *(int(places[part, across]) for part in parts)]
            found.append((cells, [-1.0] + [1.0] * len(parts)))
    return found


def sums_in(lines: Grid, labels: Sequence[Any], margins: str | None = None) -> list[tuple[int, list[int]]]:
    """The lines that are sums of others, each with its parts."""
    found = []
    for total in range(len(lines)):
        parts = _parts(lines, total)
        if parts:
            found.append((total, parts))
        elif is_margin(labels[total], margins) and lines[total].any():
            raise DataError("a margin of the crosstab is not the sum of its cells.", "Correct it.", "totals")
    return found


def _parts(lines: Grid, total: int) -> list[int]:
    """The parts of a line: all others, some of them, or a single one that it equals."""
    others = np.delete(np.arange(len(lines)), total)
    if len(others) and np.allclose(lines[others].sum(axis=0), lines[total], rtol=0, atol=1e-9):
        return [int(part) for part in others]
    equal = [int(part) for part in others if lines[total].any() and np.array_equal(lines[part], lines[total])]
    if equal:
        return equal[:1]
    parts = parts_of(lines, total) if len(lines) <= MANY else None
    return [] if parts is None else [int(part) for part in parts]


def ratios_in(crosstab: Crosstab, derived: Derived) -> dict[int, Ratio]:
    """The columns that follow from others: those that are named, and all whose numbers show it.

    Raises:
        PlanError: A named column is not there.
        DataError: A column is no count and follows from no others, or may be either.
    """
    _check_names(crosstab, derived)
    whole = [place for place, column in enumerate(crosstab.values.T) if _is_whole(column)]
    sure = {place for place, label in enumerate(crosstab.columns) if _is_share(label, place not in whole, derived)}
    counts = [place for place in whole if place not in sure]
    added = _added(crosstab.values, counts)
    found: dict[int, Ratio] = {}
    for place, label in enumerate(crosstab.columns):
        parts = [other for other in counts if other != place]
        ratio = None if label in derived and derived[label] is None else _ratio_of(crosstab, place, derived, parts)
        if ratio is None and place in sure and (place not in whole or label in derived):
            raise DataError(
                "a column of the crosstab is neither counts nor a ratio of two others.", "Leave it out.", "not-a-count"
            )
        if ratio is not None and place not in sure | added:
            raise DataError(
                "a column of the crosstab may be counts, or a percentage of others.",
                "Name it in derived=: with the columns that are divided, or with None when it is counts.",
                "ambiguous-column",
            )
        if ratio is not None and place in sure:
            found[place] = ratio
    return found


def _is_share(label: Any, broken: bool, derived: Derived) -> bool:
    """Whether a column is a share for certain: by the caller's word, by numbers that are no counts, or by its name."""
    if label in derived:
        return derived[label] is not None
    return broken or _named_share(label)


def _check_names(crosstab: Crosstab, derived: Derived) -> None:
    named = [name for label, parts in derived.items() for name in (label, *(parts or ()))]
    missing = [name for name in named if name not in crosstab.columns]
    if missing:
        raise PlanError(f'the crosstab has no column "{missing[0]}".', "Check derived=.", "no-column")


def _is_whole(column: Grid) -> bool:
    return bool(not np.isnan(column).any() and (column == np.round(column)).all())


def _added(values: Grid, whole: Sequence[int]) -> set[int]:
    """The columns that are sums of others or parts of one: counts, for percentages of them would not add up so."""
    sums = sums_in(values.T[list(whole)], [""] * len(whole))
    return {whole[place] for total, parts in sums for place in (total, *parts)}


def _named_share(label: Any) -> bool:
    text = " ".join(str(part) for part in label) if isinstance(label, tuple) else str(label)
    return any(word in text.casefold() for word in SHARES)


def _ratio_of(crosstab: Crosstab, place: int, derived: Derived, whole: Sequence[int]) -> Ratio | None:
    """How a column follows from whole ones: from two of them, or as a share of one's total."""
    label, column = crosstab.columns[place], crosstab.values[:, place]
    places = {name: at for at, name in enumerate(crosstab.columns)}
    named = derived.get(label)
    pairs = [(places[named[0]], places[named[1]])] if named else [(a, b) for a in whole for b in whole if a != b]
    for top, bottom in pairs:
        fit = _fit(column, crosstab.values[:, top], crosstab.values[:, bottom], bool(named))
        if fit is not None:
            return Ratio(top, bottom, None, *fit)
    if named:
        return None
    return next((share for top in whole if (share := _share_of(crosstab, column, top)) is not None), None)


def _share_of(crosstab: Crosstab, column: Grid, top: int) -> Ratio | None:
    """A share of a column's total.

    Raises:
        DataError: The total is not in the table: the shares would tell it.
    """
    counts = crosstab.values[:, top]
    sums = [total for total, _ in sums_in(counts[:, None], crosstab.rows) if counts[total] == counts.max()]
    for row in sums[-1:]:
        fit = _fit(column, counts, np.full(len(counts), counts[row]), False)
        return None if fit is None else Ratio(top, top, row, *fit)
    if _fit(column, counts, np.full(len(counts), counts.sum()), False) is not None:
        raise DataError(
            "a column of the crosstab is a share of a total that is not in it, and so tells it.",
            "Add the row of totals, or leave the shares out.",
            "hidden-total",
        )
    return None


def _fit(column: Grid, top: Grid, bottom: Grid, named: bool) -> tuple[float, int] | None:
    """Factor and decimals with which a column is a ratio; a single row of numbers shows nothing unless it is named."""
    used = (bottom > 0) & ~np.isnan(column)
    telling = used & ((top != 0) | (column != 0))
    if telling.sum() < (1 if named else 2):
        return None
    for factor in FACTORS:
        exact = factor * top[used] / bottom[used]
        for decimals in DECIMALS:
            slack = 0.6 * 10.0**-decimals * 1e-3 + 1e-9
            if np.allclose(np.round(exact, decimals), column[used], rtol=0, atol=slack):
                return factor, decimals
    return None
