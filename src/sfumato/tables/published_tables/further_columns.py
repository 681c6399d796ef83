"""Further columns of a published table: each is explained by the file itself, or may reveal suppressed cells."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.argus.statuses import masked_of
from sfumato.tables.attack.findings import UnexplainedColumn
from sfumato.tables.build.build import dimensions_of, grouped, lines_of
from sfumato.tables.cell_labels import NAMES, Language, Unit, complement, inference, primary
from sfumato.tables.cells.cells import Mask, Numbers, Places
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.constraints import describe
from sfumato.tables.crosstabs.published_cells import column_cells
from sfumato.tables.plan.crossing import Dimension
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.published_tables.additive_columns import told_by_sums
from sfumato.tables.published_tables.category_columns import Grouping, is_of_categories
from sfumato.tables.published_tables.column_relations import COMPUTED, Relation, Shown, may_share_totals, relation_to
from sfumato.tables.published_tables.parse_cells import Reading, statuses_in

SUM = "With other columns it adds up to the published values."
SHARES = "It may hold shares of suppressed totals."
_LANGUAGES: tuple[Language, ...] = ("en", "de")


@dataclass(frozen=True, slots=True)
class _Column:
    """A further column: its texts, its numbers, and where it has a number or a range."""

    texts: tuple[str, ...]
    numbers: Numbers
    says: Mask


def unexplained_columns(
    columns: Columns,
    plan: TablePlan,
    reading: Reading,
    dimensions: Mapping[str, Dimension],
    measures: Collection[str] = (),
) -> tuple[UnexplainedColumn, ...]:
    """Return the columns with numbers next to suppressed cells that nothing in the file explains.

    A column is explained if the audit reads it, if categories without one dimension determine it, or if the plan names
    it harmless. In perturbed tables every cell counts as suppressed, and what is computed from published numbers is
    explained. A file with true values is internal and not checked.

    Args:
        columns: The columns of the file.
        plan: The plan of the table.
        reading: What the file shows of the values.
        dimensions: The dimensions of the table.
        measures: Columns that are audited as values of tables of their own.
    """
    changed = plan.perturbation is not None
    suppressed = np.isnan(reading.exact) | changed
    internal = plan.table.value in columns and _style(columns, plan) is not None
    further = {} if internal or not suppressed.any() else _further(columns, plan, reading, dimensions)
    if not further:
        return ()
    shown, groupings = _shown(columns, plan, reading, dimensions)
    summed = told_by_sums(reading.exact, [own.numbers for own in further.values()])
    answers = []
    for place, (name, own) in enumerate(further.items()):
        beside = suppressed & own.says
        found = _relation(shown, own, place in summed, changed)
        if found is not None and changed and found.text in COMPUTED:
            continue
        if found is None or (name in measures and found.text not in COMPUTED):
            harmless = name in measures or not beside.any()
            if harmless or is_of_categories(own.texts, own.numbers, beside, reading.exact, groupings):
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
    columns: Columns, plan: TablePlan, reading: Reading, dimensions: Mapping[str, Dimension]
) -> dict[str, _Column]:
    """Return the columns with numbers that are neither read nor harmless; of identical ones the first."""
    known = {*_read_columns(columns, plan, reading, dimensions), *plan.table.harmless}
    seen = {columns.texts[name] for name in known if name in columns}
    further = {}
    for name, texts in columns.texts.items():
        if name not in known and texts not in seen and (own := _column(texts)).says.any():
            further[name] = own
            seen.add(texts)
    return further


def _relation(shown: Shown, own: _Column, summed: bool, changed: bool) -> Relation | None:
    """Return how a column relates to the values, as far as numbers show it."""
    found = relation_to(shown, own.numbers)
    hidden = np.isnan(shown.values)
    if found is None and summed:
        return Relation(SUM, hidden & own.says)
    if found is None and not changed and may_share_totals(shown, own.numbers):
        return Relation(SHARES, np.zeros(len(hidden), bool))
    return found


def _column(texts: tuple[str, ...]) -> _Column:
    cells = column_cells(texts)
    numbers = np.array([cell.number for cell in cells], np.float64)
    return _Column(texts, numbers, ~np.isnan(numbers) | np.array([cell.is_range for cell in cells], bool))


def _shown(
    columns: Columns, plan: TablePlan, reading: Reading, dimensions: Mapping[str, Dimension]
) -> tuple[Shown, list[Grouping]]:
    """Return the shown values with their totals, and the groupings of rows by categories."""
    if not dimensions:
        return Shown(reading.exact, (), columns.text("id")), []
    trees, keys = dimensions_of(dimensions, columns, plan.folder)
    above = [np.full(len(keys), -1, np.int64) for _ in (*trees, None)]
    for _, rows in grouped(plan, columns):
        own = [keys[row] for row in rows]
        grand = [row for row, key in zip(rows, own, strict=True) if key == tuple(tree.root for tree in trees)]
        above[-1][rows] = grand[0] if grand else -1
        for line, places in zip(above, lines_of(trees, own), strict=False):
            line[rows] = np.where(places >= 0, rows[places], -1)
    names = tuple(describe(trees, key) for key in keys)
    return Shown(reading.exact, tuple(above), names), list(_groupings(columns, plan, dimensions))


def _groupings(columns: Columns, plan: TablePlan, dimensions: Mapping[str, Dimension]) -> Iterator[Grouping]:
    """Yield the groupings: all rows together, by each key column, and by all key columns except those of one
    dimension.
    """
    keys = {name: one.total for one in dimensions.values() for name in (*one.levels, one.column) if name}
    sets = [(), *((name,) for name in keys)]
    for one in dimensions.values():
        rest = tuple(name for name in keys if name not in (*one.levels, one.column))
        sets += [rest] if rest else []
    for chosen in dict.fromkeys(sets):
        names = (*plan.table.group_by, *chosen)
        others = [name for name in keys if name not in chosen]
        total = np.ones(len(columns), bool)
        for name in others:
            total &= np.array([text == keys[name] for text in columns.text(name)], bool)
        yield Grouping(_numbered(columns, names), _numbered(columns, (*plan.table.group_by, *others)), total)


def _numbered(columns: Columns, names: Sequence[str]) -> Places:
    """Return a number for the combination of texts of each row in some columns."""
    rows = list(zip(*(columns.text(name) for name in names), strict=True)) or [()] * len(columns)
    numbers = {key: place for place, key in enumerate(dict.fromkeys(rows))}
    return np.array([numbers[key] for key in rows], np.int64)


def _read_columns(
    columns: Columns, plan: TablePlan, reading: Reading, dimensions: Mapping[str, Dimension]
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


def _style(columns: Columns, plan: TablePlan) -> list[str] | None:
    """Return the names of the published columns in the file; None if values are suppressed in the value column
    itself.
    """
    prefix = plan.output.prefix or plan.table.value
    named = ([prefix + ending for ending in endings] for endings in NAMES.values())
    return next((names for names in named if names[0] in columns), None)


def _are_reasons(columns: Columns, name: str, dimensions: Mapping[str, Dimension]) -> bool:
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
        *(text for one in _LANGUAGES for text in (primary(True, one), primary(False, one), complement(one))),
        *(inference(unit, one) for one in _LANGUAGES for unit in units),
    }
    return known.issuperset(columns.text(name))
