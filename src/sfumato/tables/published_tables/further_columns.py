"""Check additional columns of a published table for numbers from which suppressed cells can be computed or bounded.

A column is *explained* if the audit reads it, if it is constant, or if the plan declares it harmless.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from unicodedata import normalize

import numpy as np

from sfumato.tables.argus.office_table import masked_of
from sfumato.tables.attack.findings import UnexplainedColumn
from sfumato.tables.build import Space, dimensions_of, grouped, lines_of
from sfumato.tables.cell_labels import LANGUAGES, NAMES, Unit, complement, inference, primary_reasons
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import describe
from sfumato.tables.cells.dimensions import Code
from sfumato.tables.cells.system import BoolArray, Numbers
from sfumato.tables.crosstabs.published_cells import column_cells, is_number
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.published_tables.audit_responses import ReleasedTable
from sfumato.tables.published_tables.column_relations import (
    COMPUTED,
    PublishedCells,
    Relation,
    derivable_columns,
    may_share_totals,
    relation_to,
)
from sfumato.tables.published_tables.parse_cells import ParsedTable, statuses_in
from sfumato.values import Value

SUM = "With other columns it adds up to the published values."
SHARES = "It may hold shares of suppressed totals."
# A code with the names of its columns.
_Code = tuple[tuple[str, ...], Code]


class _Column(Value):
    """An additional column.

    Attributes:
        texts: Its texts.
        numbers: The number in each text; NaN if there is none. In a column without numbers, the length of each text,
            because text bars such as `****` encode a number by their length.
        has_number: Whether each text has a number or an interval.
        plain_numbers: Whether each text with a number or an interval consists of a number only.
        are_text_lengths: Whether the numbers are the lengths of the texts.
    """

    texts: tuple[str, ...]
    numbers: Numbers
    has_number: BoolArray
    plain_numbers: bool
    are_text_lengths: bool = False


def unexplained_columns(
    columns: TextColumns,
    plan: TablePlan,
    reading: ParsedTable,
    dimensions: Mapping[str, Dimension],
    measures: Collection[str] = (),
    others: Sequence[ReleasedTable] = (),
) -> tuple[UnexplainedColumn, ...]:
    """Return the columns with numbers next to suppressed cells that nothing in the file explains.

    A column is explained if the audit reads it, if it is the same in all rows, such as a year, or if the plan declares
    it harmless. A column that is constant only within each area or other category is not explained: its number may have
    been computed from suppressed cells of the area. In perturbed tables every cell counts as suppressed, and a column
    computed from published numbers is explained. A file with true values is internal and not checked.

    Args:
        reading: The published values and intervals.
        measures: Columns that are audited as values of separate tables.
        others: Other tables of the same audit.
    """
    others = [one for one in others if one.plan.table.value == plan.table.value]
    changed = plan.perturbation is not None
    suppressed = np.isnan(reading.exact) | changed
    internal = plan.table.value in columns and _style(columns, plan) is not None
    hidden = suppressed.any() or any(np.isnan(one.reading.exact).any() for one in others)
    further = {} if internal or not hidden else _further(columns, plan, reading, dimensions)
    if not further:
        return ()
    published = _published_cells(columns, plan, reading, dimensions, others)
    summed = derivable_columns(
        reading.exact, [np.where(own.has_number, own.numbers, np.nan) for own in further.values()]
    )
    answers = []
    for place, (name, own) in enumerate(further.items()):
        next_to_suppressed = suppressed & own.has_number
        found = _relation(published, own, place in summed, changed)
        if found is not None and changed and found.text in COMPUTED and own.plain_numbers:
            continue
        if found is None or (name in measures and found.text not in COMPUTED):
            harmless = name in measures or not next_to_suppressed.any()
            if harmless or _is_constant(own, columns, plan):
                continue
        if found is None or next_to_suppressed.any() or found.cells.any() or found.text == SHARES:
            cells = () if found is None else tuple(published.names[row] for row in np.flatnonzero(found.cells))
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
        if (
            name not in known
            and texts not in seen
            and ((own := _column(texts)).has_number.any() or own.are_text_lengths)
        ):
            further[name] = own
            seen.add(texts)
    return further


def _relation(published: PublishedCells, own: _Column, summed: bool, changed: bool) -> Relation | None:
    """Return the relation of a column to the values; None if its numbers show none."""
    more = len(published.values) - len(own.numbers)
    numbers = np.append(own.numbers, np.full(more, np.nan))
    found = relation_to(published, numbers)
    if own.are_text_lengths:
        return found if found is not None and found.text in COMPUTED else None
    hidden = np.isnan(published.values)
    if found is None and summed:
        return Relation(SUM, hidden & np.append(own.has_number, np.zeros(more, bool)))
    if found is None and not changed and may_share_totals(published, numbers):
        return Relation(SHARES, np.zeros(len(hidden), bool))
    return found


def _column(texts: tuple[str, ...]) -> _Column:
    cells = column_cells([normalize("NFKC", text) for text in texts])
    numbers = np.array([cell.number for cell in cells], np.float64)
    has_number = ~np.isnan(numbers) | np.array([cell.is_range for cell in cells], bool)
    if not has_number.any():
        return _Column(
            texts,
            np.array([len(text) for text in texts], np.float64),
            has_number,
            plain_numbers=False,
            are_text_lengths=True,
        )
    return _Column(
        texts, numbers, has_number, all(is_number(text) for text, own in zip(texts, has_number, strict=True) if own)
    )


def _is_constant(own: _Column, columns: TextColumns, plan: TablePlan) -> bool:
    """Return whether a column has one text in all rows of each group of a plan."""
    return all(len({own.texts[row] for row in rows}) == 1 for _, rows in grouped(plan, columns))


def _published_cells(
    columns: TextColumns,
    plan: TablePlan,
    reading: ParsedTable,
    dimensions: Mapping[str, Dimension],
    others: Sequence[ReleasedTable],
) -> PublishedCells:
    """Return the published values of a table and of others, with its totals and their parts in all tables."""
    if not dimensions:
        return PublishedCells(reading.exact, (), (), columns.text("id"))
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
    return PublishedCells(exact, tuple(above), pairs, names)


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
