"""Parse crosstabs: detect lines that are sums of others, and columns that are proportions, by numbers and names."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import BoolArray, LinearConstraints, make_constraints
from sfumato.tables.crosstabs.published_cells import (
    grades,
    is_margin,
    label_text,
    names_a_figure,
    names_a_mean,
    names_a_share,
)
from sfumato.tables.crosstabs.subtotals import Sum, adds_up, find_sums, near_total, running_sum
from sfumato.tables.groups import is_computed, is_multiple
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.values import Value

FACTORS = (100.0, 1.0, 1e3, 1e4, 1e5)
DECIMALS = (0, 1, 2, 3, 4, 12)
Grid = npt.NDArray[np.float64]


class Crosstab(Value):
    """Labels and numbers of a crosstab."""

    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    values: Grid


class Ratio(Value):
    """A column that is a factor times one column divided by another, or by its own entry in the total row."""

    top: int
    bottom: int
    row: int | None
    factor: float
    decimals: int


Derived = Mapping[Any, tuple[Any, Any] | None]
Subtotals = Mapping[Any, Sequence[Any]]


def relations_of(
    grid: Grid,
    rows: Sequence[Any],
    columns: Sequence[Any],
    margins: str | None = None,
    subtotals: Subtotals | None = None,
) -> LinearConstraints:
    """Return the sums within a crosstab: those declared or announced by labels, and all that the numbers show.

    Raises:
        PlanError: No label matches the margins, or a subtotal names no row or column.
        DataError: A line called a total is not the sum of others, or the numbers are ambiguous.
    """
    if margins is not None and not any(is_margin(label, margins) for label in (*rows, *columns)):
        raise PlanError("no-margin", name=margins)
    _check_subtotals(rows, columns, subtotals or {})
    places = np.arange(grid.size).reshape(grid.shape)
    relations = []
    for lines, cells, labels in ((grid, places, rows), (grid.T, places.T, columns)):
        sums = [*_declared(lines, labels, subtotals or {}), *_shown(lines, labels, margins, subtotals)]
        _check_margins(lines, labels, margins, sums)
        if subtotals is None:
            _check_near(lines, labels, sums)
        relations += [pair for one in dict.fromkeys(sums) for pair in _across(one, cells)]
    return make_constraints(relations)


def _across(one: Sum, cells: npt.NDArray[np.int64]) -> list[tuple[list[int], list[float]]]:
    """Return a sum of lines as one constraint per entry."""
    coefs = [-1.0] + [1.0] * len(one.parts)
    return [([int(cell) for cell in cells[[one.total, *one.parts], across]], coefs) for across in range(cells.shape[1])]


def _shown(lines: Grid, labels: Sequence[Any], margins: str | None, subtotals: Subtotals | None) -> Sequence[Sum]:
    """Return the sums that the numbers show; scattered lines are searched unless the caller names the subtotals."""
    search = find_sums(lines, _margins(labels, margins), scattered=subtotals is None)
    if search.doubt is not None:
        raise DataError(search.doubt.value)
    return search.sums


def _margins(labels: Sequence[Any], margins: str | None) -> BoolArray:
    return np.array([is_margin(label, margins) for label in labels], bool)


def _check_margins(lines: Grid, labels: Sequence[Any], margins: str | None, sums: Sequence[Sum]) -> None:
    totals = {one.total for one in sums}
    for place in np.flatnonzero(_margins(labels, margins) & lines.any(axis=1)).tolist():
        if place not in totals:
            raise DataError("totals.margin_of_crosstab", name=label_text(labels[place]))


def _check_near(lines: Grid, labels: Sequence[Any], sums: Sequence[Sum]) -> None:
    """Refuse a line that differs from the sum of others in a cell or two; it discloses all other cells."""
    place = near_total(lines, sums)
    if place is not None:
        raise DataError("near-total", name=label_text(labels[place]))


def _check_subtotals(rows: Sequence[Any], columns: Sequence[Any], subtotals: Subtotals) -> None:
    for total, parts in subtotals.items():
        named = [total, *parts]
        if not parts or not any(all(list(labels).count(name) == 1 for name in named) for labels in (rows, columns)):
            raise PlanError("no-subtotal", name=total)


def _declared(lines: Grid, labels: Sequence[Any], subtotals: Subtotals) -> list[Sum]:
    """Return the declared sums among these lines.

    Raises:
        DataError: A declared sum does not add up.
    """
    places = {label: place for place, label in enumerate(labels)}
    sums = []
    for total, parts in subtotals.items():
        if all(name in places for name in (total, *parts)):
            one = Sum(places[total], tuple(sorted({places[part] for part in parts})))
            if one.total in one.parts or not np.array_equal(lines[list(one.parts)].sum(axis=0), lines[one.total]):
                raise DataError("totals.subtotal", name=total)
            sums.append(one)
    return sums


def ratios_in(crosstab: Crosstab, derived: Derived) -> dict[int, Ratio]:
    """Return the columns that follow from others: those named by the caller, and all whose numbers show it.

    Raises:
        PlanError: A named column is missing.
        DataError: A column holds no counts and follows from no others, or is ambiguous; a row is called a share.
    """
    _check_names(crosstab, derived)
    for place in _figures(crosstab.values, crosstab.rows, crosstab.columns):
        if crosstab.rows[place] not in derived:
            raise _figure_refusal("row", crosstab.rows[place])
    figures = _figures(crosstab.values.T, crosstab.columns, crosstab.rows)
    whole = [place for place, column in enumerate(crosstab.values.T) if _is_whole(column)]
    sure = {place for place, label in enumerate(crosstab.columns) if _is_share(label, place not in whole, derived)}
    counts = [place for place in whole if place not in sure]
    ratios: dict[int, Ratio] = {}
    doubtful = set[int]()
    for place, label in enumerate(crosstab.columns):
        parts = [other for other in counts if other != place]
        # Columns of 0 and 1 without such a name are counts; even if they are shares, they disclose almost nothing.
        counted = label not in derived and place not in sure and crosstab.values[:, place].max(initial=0.0) <= 1
        ratio = None if counted or derived.get(label, ()) is None else _ratio_of(crosstab, place, derived, parts)
        if ratio is None and place in sure and (place not in whole or label in derived):
            raise DataError("not-a-count.crosstab_column", column=label_text(label))
        if ratio is None and place in whole and label not in derived and place in figures:
            raise _figure_refusal("column", label)
        if ratio is not None and place in sure:
            ratios[place] = ratio
        elif ratio is not None:
            doubtful.add(place)
    _refuse_doubtful(crosstab, doubtful, counts)
    _refuse_told(crosstab, [place for place in counts if crosstab.columns[place] not in derived], derived)
    return ratios


def _figures(lines: Grid, labels: Sequence[Any], across: Sequence[Any]) -> set[int]:
    """Return the lines that are called shares, rates or means, except categories such as "average" next to
    "poor".

    Exceptions: grades of a scale, lines that add up to a total with ordinary lines, and lines called means whose
    entries add up to a total, as means never do.

    Args:
        across: The labels of their entries.
    """
    named = {place for place, label in enumerate(labels) if names_a_figure(label)} - grades(labels)
    if not named:
        return named
    whole = [place for place, line in enumerate(lines) if _is_whole(line)]
    added = [{whole[place] for place in one.parts} for one in _totals(lines[whole], [labels[at] for at in whole])]
    named -= {place for parts in added if parts - named for place in parts}
    plain = [place for place in whole if place not in named]
    means = {place for place in named if place in whole and names_a_mean(labels[place])}
    if not plain or not means:
        return named
    totals = _totals(lines[plain].T, across)
    return named - {place for place in means if any(_adds_up(lines[place], one) for one in totals)}


def _totals(lines: Grid, labels: Sequence[Any]) -> list[Sum]:
    """Return the sums whose total is called one."""
    return [one for one in find_sums(lines, np.zeros(len(lines), bool)).sums if is_margin(labels[one.total])]


def _adds_up(line: Grid, one: Sum) -> bool:
    """Return whether several entries of a line add up as those of others do."""
    parts = line[list(one.parts)]
    return bool(np.count_nonzero(parts) > 1 and parts.sum() == line[one.total])


def _refuse_told(crosstab: Crosstab, counts: Sequence[int], derived: Derived) -> None:
    """Refuse running sums, and columns computed from others: they disclose suppressed cells."""
    inner = np.array([not is_margin(label) for label in crosstab.rows], bool)
    columns = crosstab.values[inner][:, list(counts)].T
    kept = [place for place, label in enumerate(crosstab.rows) if label not in derived]
    rows, names = crosstab.values[np.ix_(kept, list(counts))], [crosstab.rows[place] for place in kept]
    for lines, labels in ((columns, [crosstab.columns[place] for place in counts]), (rows, names)):
        running = running_sum(lines)
        if running is not None:
            raise _told_refusal(Message("error.part.running_sum", name=label_text(labels[running])))
    added = _added(crosstab.values, counts)
    for at, place in enumerate(counts):
        for other in range(at):
            moved = is_multiple(columns[other], columns[at]) and not np.array_equal(columns[other], columns[at])
            if moved and not added >= {place, counts[other]}:
                what = Message("error.part.crosstab_unit", name=label_text(crosstab.columns[place]))
                raise _told_refusal(what)
        if place not in added and _is_computed(columns[at], np.delete(columns, at, axis=0)):
            raise _told_refusal(Message("error.part.crosstab_computed", name=label_text(crosstab.columns[place])))


def _is_computed(line: Grid, others: Grid) -> bool:
    """Return whether a column is a linear function of one other, or of all of them."""
    return any(is_computed(line, some, len(others) + 1) for some in (others, *(other[None] for other in others)))


def _told_refusal(what: Message) -> DataError:
    do = Message("error.part.figure_do")
    return DataError("tells-another", message=what, hint=do)


def _figure_refusal(kind: str, label: Any) -> DataError:
    """Return the error for a line called a share, rate or mean that follows from no counts."""
    return DataError(f"not-a-count.{kind}", name=label_text(label))


def _refuse_doubtful(crosstab: Crosstab, doubtful: set[int], counts: Sequence[int]) -> None:
    left = doubtful and doubtful - _added(crosstab.values, counts)
    if left:
        names = ", ".join(f'"{label_text(crosstab.columns[place])}"' for place in sorted(left))
        raise DataError("ambiguous-column", columns=names)


def _is_share(label: Any, broken: bool, derived: Derived) -> bool:
    """Return whether a column certainly is a share: declared so, not integer, or named so."""
    if label in derived:
        return derived[label] is not None
    return broken or names_a_share(label)


def _check_names(crosstab: Crosstab, derived: Derived) -> None:
    named = [name for label, parts in derived.items() for name in (label, *(parts or ()))]
    counted = {label for label, parts in derived.items() if parts is None} & {*crosstab.rows}
    missing = [name for name in named if name not in crosstab.columns and name not in counted]
    if missing:
        raise PlanError("no-column.in_crosstab", column=missing[0])


def _is_whole(column: Grid) -> bool:
    return bool(not np.isnan(column).any() and (column == np.round(column)).all())


def _added(values: Grid, whole: Sequence[int]) -> set[int]:
    """Return the columns that are sums of others or parts of a sum; these are counts, as percentages rarely add up."""
    sums = find_sums(values.T[list(whole)], np.zeros(len(whole), bool)).sums
    return {whole[place] for one in sums for place in (one.total, *one.parts)}


def _ratio_of(crosstab: Crosstab, place: int, derived: Derived, whole: Sequence[int]) -> Ratio | None:
    """Return how a column follows from columns of counts: from two of them, or as a share of one's total."""
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
    return next((share for top in whole if (share := _share_of(crosstab, label, column, top)) is not None), None)


def _share_of(crosstab: Crosstab, label: Any, column: Grid, top: int) -> Ratio | None:
    """Return the column as share of another column's total, the largest of its counts.

    Raises:
        DataError: The total is not in the table: the shares would disclose it.
    """
    counts = crosstab.values[:, top]
    row = int(np.flatnonzero(counts == counts.max())[-1])
    fit = _fit(column, counts, np.full(len(counts), counts[row]), False)
    if fit is not None and adds_up(counts[:, None], row):
        return Ratio(top, top, row, *fit)
    # If the total is in the column, the sum of all entries is not a total.
    if 2 * counts[row] != counts.sum() and _fit(column, counts, np.full(len(counts), counts.sum()), False) is not None:
        raise DataError("hidden-total", column=label_text(label))
    return None


def _fit(column: Grid, top: Grid, bottom: Grid, named: bool) -> tuple[float, int] | None:
    """Return factor and decimals by which a column is a ratio; one row of numbers proves nothing unless declared."""
    used = (bottom > 0) & ~np.isnan(column)
    telling = used & ((top != 0) | (column != 0))
    if telling.sum() < (1 if named else 2):
        return None
    for factor in FACTORS:
        exact = factor * top[used] / bottom[used]
        # Rounding moves a number by at most one half.
        if np.abs(exact - column[used]).max() > 0.51:
            continue
        for decimals in DECIMALS:
            slack = 0.6 * 10.0**-decimals * 1e-3 + 1e-9
            if np.abs(np.round(exact, decimals) - column[used]).max() <= slack:
                return factor, decimals
    return None


def as_cells(columns: TextColumns, plan: TablePlan) -> TextColumns:
    """Convert a crosstab to cells; return any other table unchanged.

    A table is a crosstab if the plan has two dimensions of one column each, and the file has neither a column for the
    second dimension nor one for the values. Its first column holds the codes of the first dimension, its header those
    of the second. An empty text is not a cell.

    Raises:
        DataError: The crosstab has no cells.
    """
    names = [dimension.column for dimension in plan.dimensions.values()]
    if len(names) != 2 or None in names or plan.table.value in columns or names[1] in columns or not len(columns):
        return columns
    first, *across = columns.texts
    down, over = (name or "" for name in names)
    rows = [
        (code, head, text)
        for place, code in enumerate(columns.text(first))
        for head in across
        if (text := columns.text(head)[place])
    ]
    if not rows:
        raise DataError("no-cells", value=plan.table.value)
    return TextColumns(dict(zip((down, over, plan.table.value), zip(*rows, strict=True), strict=True)))
