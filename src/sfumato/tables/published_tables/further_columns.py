"""Further columns of a published table: each is explained by the file itself, or may reveal suppressed cells."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from unicodedata import normalize

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.argus.statuses import masked_of
from sfumato.tables.attack.findings import UnexplainedColumn
from sfumato.tables.build.build import Space, dimensions_of, grouped, lines_of
from sfumato.tables.cell_labels import LANGUAGES, NAMES, Unit, complement, inference, primary_reasons
from sfumato.tables.cells.cells import BoolArray, Numbers, Places
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import describe
from sfumato.tables.cells.dimensions import Code
from sfumato.tables.cells.precision import precision_of
from sfumato.tables.crosstabs.published_cells import column_cells, is_number
from sfumato.tables.plan.crossing import Dimension
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.published_tables.additive_columns import derivable_columns
from sfumato.tables.published_tables.audit_responses import ReleasedTable
from sfumato.tables.published_tables.parse_cells import ParsedTable, statuses_in

LINEAR = "It is a linear function of the published values."
RATIO = "It is a linear function of each value's share of a published total."
REST = "It is a linear function of what each value leaves of a published total."
ORDER = "It has the same order as the published values, so it bounds the suppressed ones."
REVERSED = "It has the reverse order of the published values, so it bounds the suppressed ones."
PART = "It follows from one part of each total, such as the women of each area, or from its share of the total."
# Relations by which numbers are computed from the values, exactly up to rounding.
COMPUTED = (LINEAR, RATIO, REST)
# Bits by which a column must agree with a function beyond chance, and with an order.
PROOF = 6.0
ORDER_PROOF = 5.0
SUM = "With other columns it adds up to the published values."
SHARES = "It may hold shares of suppressed totals."
# A code with the names of its columns.
_Code = tuple[tuple[str, ...], Code]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a file shows of its cells.

    Attributes:
        values: The published values; NaN if suppressed.
        above: For each dimension, and for the grand total, the row of the total of each row; -1 if there is none.
        parts: For each category, the rows of the totals over its dimension, and their parts in this category.
    """

    values: Numbers
    above: tuple[Places, ...]
    parts: tuple[tuple[Places, Places], ...]
    names: tuple[str, ...]

    def totals(self) -> Iterator[tuple[Places, Numbers]]:
        """Yield the rows of totals of each dimension, and their values."""
        for rows in self.above:
            yield rows, np.where(rows >= 0, self.values[rows], np.nan)


@dataclass(frozen=True, slots=True)
class Relation:
    """How a column relates to the values, in words, and the suppressed cells that follow from it."""

    text: str
    cells: BoolArray


def relation_to(shown: Shown, numbers: Numbers) -> Relation | None:
    """Return the first relation of numbers to the values that is unlikely by chance; None if there is none.

    >>> values = np.array([100.0, 40.0, 35.0, 25.0, np.nan])
    >>> shown = Shown(values, (np.array([-1, 0, 0, 0, 0]),), (), tuple("tabcd"))
    >>> relation_to(shown, 7 * np.array([100.0, 40.0, 35.0, 25.0, 3.0])).cells.tolist()
    [False, False, False, False, True]
    """
    values, hidden, said = shown.values, np.isnan(shown.values), ~np.isnan(numbers)
    if is_linear(values, numbers):
        return Relation(LINEAR, hidden & said)
    for rows, totals in shown.totals():
        shares = np.divide(values, totals, out=np.full(len(values), np.nan), where=totals > 0)
        if np.unique(totals[~np.isnan(shares) & said]).size and is_linear(shares, numbers):
            cells = hidden & said & ~np.isnan(totals)
            # A proportion and its value disclose the total.
            cells[rows[(rows >= 0) & said & ~hidden & np.isnan(totals)]] = True
            return Relation(RATIO, cells)
        if is_linear(totals - values, numbers):
            return Relation(REST, hidden & said & ~np.isnan(totals))
    order = _order(values, numbers)
    if order != 0:
        return Relation(ORDER if order > 0 else REVERSED, hidden & said)
    cells = _told_parts(shown, numbers)
    return Relation(PART, cells) if cells.any() else None


def _told_parts(shown: Shown, numbers: Numbers) -> BoolArray:
    """Return the suppressed parts of totals that follow from numbers next to the totals."""
    values, cells = shown.values, np.zeros(len(shown.values), bool)
    for totals, parts in shown.parts:
        told = np.isnan(values[parts]) & ~np.isnan(numbers[totals])
        if told.any():
            whole, own, others = values[totals], values[parts], numbers[totals]
            shares = np.divide(own, whole, out=np.full(len(own), np.nan), where=whole > 0)
            rest = 2 * own - whole
            if _order(shares, others, len(shown.parts)) or any(is_linear(one, others) for one in (own, shares, rest)):
                cells[parts[told]] = True
    return cells


def is_linear(values: Numbers, numbers: Numbers) -> bool:
    """Return whether numbers are a linear function of values up to rounding, beyond chance."""
    both = ~np.isnan(values) & ~np.isnan(numbers)
    points = np.unique(np.stack([values[both], numbers[both]]), axis=1)
    own, others = points
    if np.unique(own).size < 3 or np.unique(others).size < 3:
        return False
    step = precision_of(others)
    slope, start = np.polyfit(own, others, 1)
    if np.abs(slope * own + start - others).max() > step * 0.75 + 1e-9 * np.abs(others).max():
        return False
    # Two numbers determine a line; one if it starts at zero or has slope 1.
    free = 2 - (abs(start) <= step) - (abs(abs(slope) - 1) * np.abs(own).max() <= step)
    bits = np.log2(max(1.0, float(np.ptp(others)) / (1.5 * step)))
    return bool((len(own) - free) * bits > PROOF)


def _order(values: Numbers, numbers: Numbers, tried: int = 1) -> int:
    """Return 1 if numbers strictly increase with the values, -1 if they decrease, 0 if neither or too few.

    Args:
        tried: How many such values are compared with the numbers.
    """
    both = ~np.isnan(values) & ~np.isnan(numbers)
    points = np.unique(np.stack([values[both], numbers[both]]), axis=1)
    rises = np.diff(points[1])
    many = points.shape[1]
    # One of all orders of so many numbers rises, and one falls.
    bits = math.lgamma(many + 1) / math.log(2) - 1
    if bits <= ORDER_PROOF + math.log2(tried) or np.unique(points[0]).size < many:
        return 0
    return 1 if (rises > 0).all() else -1 if (rises < 0).all() else 0


def may_share_totals(shown: Shown, numbers: Numbers) -> bool:
    """Return whether numbers are proportional to the values below a suppressed total, as proportions are."""
    values = shown.values
    for rows, totals in shown.totals():
        used = (rows >= 0) & np.isnan(totals) & (values > 0) & (numbers > 0)
        for total in np.unique(rows[used]):
            own = used & (rows == total)
            if _is_proportional(values[own], numbers[own]):
                return True
    return False


def _is_proportional(values: Numbers, numbers: Numbers) -> bool:
    if np.unique(values).size < 2:
        return False
    half = precision_of(numbers) / 2
    return bool(((numbers - half) / values).max() <= ((numbers + half) / values).min())


@dataclass(frozen=True, slots=True)
class _Column:
    """A further column: its texts, their numbers, where these are numbers or ranges, and whether they are no more.

    Bars of signs are as long as a number: the numbers of a column without any are the lengths of its texts.
    """

    texts: tuple[str, ...]
    numbers: Numbers
    says: BoolArray
    single: bool
    lengths: bool = False


def unexplained_columns(
    columns: TextColumns,
    plan: TablePlan,
    reading: ParsedTable,
    dimensions: Mapping[str, Dimension],
    measures: Collection[str] = (),
    others: Sequence[ReleasedTable] = (),
) -> tuple[UnexplainedColumn, ...]:
    """Return the columns with numbers next to suppressed cells that nothing in the file explains.

    A column is explained if the audit reads it, if it is the same in all rows, such as a year, or if the plan names it
    harmless. What an area or another category has alone may be computed from suppressed cells in it. In perturbed
    tables every cell counts as suppressed, and what is computed from published numbers is explained. A file with true
    values is internal and not checked.

    Args:
        reading: What the file shows of the values.
        measures: Columns that are audited as values of tables of their own.
        others: Further tables of the same audit.
    """
    others = [one for one in others if one.plan.table.value == plan.table.value]
    changed = plan.perturbation is not None
    suppressed = np.isnan(reading.exact) | changed
    internal = plan.table.value in columns and _style(columns, plan) is not None
    hidden = suppressed.any() or any(np.isnan(one.reading.exact).any() for one in others)
    further = {} if internal or not hidden else _further(columns, plan, reading, dimensions)
    if not further:
        return ()
    shown = _shown(columns, plan, reading, dimensions, others)
    summed = derivable_columns(reading.exact, [np.where(own.says, own.numbers, np.nan) for own in further.values()])
    answers = []
    for place, (name, own) in enumerate(further.items()):
        beside = suppressed & own.says
        found = _relation(shown, own, place in summed, changed)
        if found is not None and changed and found.text in COMPUTED and own.single:
            continue
        if found is None or (name in measures and found.text not in COMPUTED):
            harmless = name in measures or not beside.any()
            if harmless or _is_constant(own, columns, plan):
                continue
        if found is None or beside.any() or found.cells.any() or found.text == SHARES:
            cells = () if found is None else tuple(shown.names[row] for row in np.flatnonzero(found.cells))
            answers.append(UnexplainedColumn(name, "" if found is None else found.text, cells))
    return tuple(answers)


def published_names(plan: TablePlan) -> set[str]:
    """Return the names that values and intervals of a plan may have in a published file."""
    prefix = plan.output.prefix or plan.table.value
    return {plan.table.value, *(prefix + ending for names in NAMES.values() for ending in names)}


def _further(
    columns: TextColumns, plan: TablePlan, reading: ParsedTable, dimensions: Mapping[str, Dimension]
) -> dict[str, _Column]:
    """Return the columns with numbers that are neither read nor harmless; of identical ones the first."""
    known = {*_read_columns(columns, plan, reading, dimensions), *plan.table.harmless}
    seen = {columns.texts[name] for name in known if name in columns}
    further = {}
    for name, texts in columns.texts.items():
        if name not in known and texts not in seen and ((own := _column(texts)).says.any() or own.lengths):
            further[name] = own
            seen.add(texts)
    return further


def _relation(shown: Shown, own: _Column, summed: bool, changed: bool) -> Relation | None:
    """Return how a column relates to the values, as far as numbers show it."""
    more = len(shown.values) - len(own.numbers)
    numbers = np.append(own.numbers, np.full(more, np.nan))
    found = relation_to(shown, numbers)
    if own.lengths:
        return found if found is not None and found.text in COMPUTED else None
    hidden = np.isnan(shown.values)
    if found is None and summed:
        return Relation(SUM, hidden & np.append(own.says, np.zeros(more, bool)))
    if found is None and not changed and may_share_totals(shown, numbers):
        return Relation(SHARES, np.zeros(len(hidden), bool))
    return found


def _column(texts: tuple[str, ...]) -> _Column:
    cells = column_cells([normalize("NFKC", text) for text in texts])
    numbers = np.array([cell.number for cell in cells], np.float64)
    says = ~np.isnan(numbers) | np.array([cell.is_range for cell in cells], bool)
    if not says.any():
        return _Column(texts, np.array([len(text) for text in texts], np.float64), says, single=False, lengths=True)
    return _Column(texts, numbers, says, all(is_number(text) for text, own in zip(texts, says, strict=True) if own))


def _is_constant(own: _Column, columns: TextColumns, plan: TablePlan) -> bool:
    """Return whether a column has one text in all rows of each group of a plan."""
    return all(len({own.texts[row] for row in rows}) == 1 for _, rows in grouped(plan, columns))


def _shown(
    columns: TextColumns,
    plan: TablePlan,
    reading: ParsedTable,
    dimensions: Mapping[str, Dimension],
    others: Sequence[ReleasedTable],
) -> Shown:
    """Return the shown values of a table and of others, with the totals in the table and their parts in all of them."""
    if not dimensions:
        return Shown(reading.exact, (), (), columns.text("id"))
    trees, keys = dimensions_of(dimensions, columns, plan.folder)
    spaces = [dimensions_of(one.sheet.dimensions, one.sheet.columns, one.plan.folder) for one in others]
    exact = np.concatenate([reading.exact, *(one.reading.exact for one in others)])
    above = [np.full(len(exact), -1, np.int64) for _ in (*trees, None)]
    for _, rows in grouped(plan, columns):
        own = [keys[row] for row in rows]
        places = dict(zip(own, rows, strict=True))
        above[-1][rows] = places.get(tuple(tree.root for tree in trees), -1)
        for line, found in zip(above, lines_of(trees, own), strict=False):
            line[rows] = np.where(found >= 0, rows[found], -1)
    codes = _codes(columns, plan, dimensions, (trees, keys))
    totals = {own: row for row, own in enumerate(codes)}
    for one, space in zip(others, spaces, strict=True):
        codes += _codes(one.sheet.columns, one.plan, one.sheet.dimensions, space)
    parts: dict[_Code, list[tuple[int, int]]] = {}
    for row, cell in enumerate(codes):
        for code in cell:
            if (total := totals.get(cell - {code})) is not None:
                parts.setdefault(code, []).append((total, row))
    pairs = tuple((np.array(own)[:, 0], np.array(own)[:, 1]) for own in parts.values())
    names = tuple(describe(own, key) for own, cells in ((trees, keys), *spaces) for key in cells)
    return Shown(exact, tuple(above), pairs, names)


def _codes(
    columns: TextColumns, plan: TablePlan, dimensions: Mapping[str, Dimension], space: Space
) -> list[frozenset[_Code]]:
    """Return the codes of each row, without those of totals, and its group, each with the names of its columns."""
    trees, keys = space
    names = [one.levels or (one.column or "",) for one in dimensions.values()]
    groups = [[((name,), (text,)) for text in columns.text(name)] for name in plan.table.group_by]
    rows = list(zip(*groups, strict=True)) or [()] * len(keys)
    return [
        frozenset((name, code) for name, tree, code in zip(names, trees, key, strict=True) if code != tree.root)
        | frozenset(group)
        for key, group in zip(keys, rows, strict=True)
    ]


def _read_columns(
    columns: TextColumns, plan: TablePlan, reading: ParsedTable, dimensions: Mapping[str, Dimension]
) -> Iterator[str]:
    """Yield the columns that the audit reads: codes, published values with interval and case, valid statuses and
    reasons.

    Other columns that the plan names are checked like all others: the file may differ from the plan.
    """
    yield from (name for one in dimensions.values() for name in (*one.levels, one.column) if name)
    yield from plan.table.group_by
    if plan.table.cells is not None:
        yield from ("id", "lb", "ub")
    style = _style(columns, plan)
    if style is None:
        yield plan.table.value
    else:
        published, lower, upper, case, reason = style
        yield from (published, case)
        yield from (lower, upper) if lower in columns and upper in columns else ()
        yield from (reason,) if reason in columns and _are_reasons(columns, reason, dimensions) else ()
    masked = np.isnan(reading.exact)
    yield from (name for name, own in statuses_in(columns).items() if np.array_equal(masked_of(own), masked))


def _style(columns: TextColumns, plan: TablePlan) -> list[str] | None:
    """Return the names of the published columns in the file; None if values are suppressed in the value column
    itself.
    """
    prefix = plan.output.prefix or plan.table.value
    named = ([prefix + ending for ending in endings] for endings in NAMES.values())
    return next((names for names in named if names[0] in columns), None)


def _are_reasons(columns: TextColumns, name: str, dimensions: Mapping[str, Dimension]) -> bool:
    """Return whether texts are reasons in the wording of a release, which name only units of the table."""
    named = (
        Unit(level, code)
        for one in dimensions.values()
        for level in (*one.levels, one.column)
        if level
        for code in dict.fromkeys(columns.text(level))
    )
    units = [Unit("", ""), *named]
    known = {
        "",
        *primary_reasons(),
        *(complement(one) for one in LANGUAGES),
        *(inference(unit, one) for one in LANGUAGES for unit in units),
    }
    return known.issuperset(columns.text(name))
