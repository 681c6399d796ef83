"""Build tables from a plan and its columns: codes, relations, sensitive cells, protection levels, costs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from sfumato.errors import DataError, PlanError, UnattainableError
from sfumato.localization.messages import Message
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.cells.constraints import Key, check, derive, describe
from sfumato.tables.cells.dimensions import Code, CodeTree, file_tree, flat_tree, level_codes, level_tree
from sfumato.tables.cells.system import (
    BoolArray,
    Bounds,
    CellStatus,
    LinearConstraints,
    Numbers,
    Places,
    ProtectionLevels,
    Statuses,
    Table,
    make_constraints,
    make_table,
    no_bounds,
    public_floor,
)
from sfumato.tables.cells.table_part import TablePart, in_group, in_part
from sfumato.tables.formats import JJ, format_of
from sfumato.tables.formats.argus_columns import office_columns
from sfumato.tables.formats.delimited_cells import read_delimited_cells
from sfumato.tables.formats.solver_file import read_jj
from sfumato.tables.groups import check_groups
from sfumato.tables.plan.rules import RuleInputs, RuleResult, check_marks, nothing
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.insiders import attainable
from sfumato.tables.protection_levels.resolve_plan import (
    costs_of,
    facts_of,
    judgment_of,
    knowledge_of,
    known_bounds,
    knows_cases,
    plan_precision,
    public_bounds,
    reader_bounds,
    terms_of,
    with_attackers,
    with_parts,
)
from sfumato.values import replace

MARKS = {"u": CellStatus.SENSITIVE, "s": CellStatus.SAFE, "z": CellStatus.PUBLISH}


def instance_part(plan: TablePlan, columns: TextColumns) -> TablePart:
    """Build a table from cells (id, value, status, cost, lb, ub, lpl, upl) and constraints (relation, cell_id, coef).

    Sensitivity rules of the plan add to the statuses; a protection in the plan replaces lpl and upl.

    Raises:
        DataError: A duplicate id, an invalid constraint, a total that does not add up, or a value outside its
            bounds.
    """
    values = columns.numbers(plan.table.value)
    relations = relations_of(plan, columns)
    check(relations, values, plan.table.tolerance, plan_precision(plan.table, values))
    facts = facts_of(plan.table, columns, values, relations)
    judgment = judgment_of(plan, facts, _marks(columns))
    status = np.where(judgment.unsafe, CellStatus.SENSITIVE, _marked_status(columns)).astype(np.int8)
    public = optional_bounds(columns, values, status != CellStatus.PUBLISH, plan)
    rows, names = np.arange(len(columns)), cell_names(columns)
    try:
        table = _table(plan, facts, relations, judgment, status, public)
    except UnattainableError as error:
        raise in_part(error, rows, names) from None
    shown, knowledge = reader_bounds(plan, judgment, public), knowledge_of(plan, values)
    part = TablePart(
        rows,
        table.with_columns(names=names),
        shown,
        knowledge=knowledge,
        terms=terms_of(plan, facts.counts),
        requested=judgment.reach,
        inferred="lb" not in columns,
    )
    return with_attackers(plan, part, facts)


def cell_names(columns: TextColumns) -> tuple[str, ...]:
    """Return the names of the cells in messages."""
    return tuple(f"cell {text}" for text in columns.text("id"))


def relations_of(plan: TablePlan, columns: TextColumns) -> LinearConstraints:
    """Read the constraints of the plan's file.

    Raises:
        DataError: A duplicate id, or a constraint names an unknown cell, a cell twice, or one with coefficient 0.
    """
    places = {text: place for place, text in enumerate(columns.text("id"))}
    if len(places) < len(columns):
        raise DataError("duplicate-cell.an_id_stands_twice").about(column="id")
    return _relations(plan, places)


def optional_bounds(columns: TextColumns, values: Numbers, hidden: BoolArray, plan: TablePlan) -> Bounds:
    """Return the a priori bounds: those of the table and the attacker, otherwise what such a table implies.

    Raises:
        DataError: A value lies outside its bounds; NaN does not.
    """
    attacker = plan.attacker
    least = -np.inf if "lb" in columns and attacker.lower is None else attacker.lower
    floor = public_floor(values, hidden, plan_precision(plan.table, values), least, plan.method.zeros)
    ceiling = np.full(len(values), np.inf if attacker.upper is None else attacker.upper)
    bounds = Bounds(floor, ceiling).within(Bounds(_column(columns, "lb", floor), _column(columns, "ub", ceiling)))
    outside = np.flatnonzero((values < bounds.low) | (values > bounds.high))
    if len(outside):
        raise DataError("bounds.a_value_lies_outside").about(rows=[int(cell) + 1 for cell in outside])
    return bounds


def marked_unsafe(columns: TextColumns) -> BoolArray:
    """Return the cells whose status is sensitive; none if there are no statuses."""
    return _marked_status(columns) == CellStatus.SENSITIVE if "status" in columns else np.zeros(len(columns), bool)


def _table(
    plan: TablePlan,
    facts: RuleInputs,
    relations: LinearConstraints,
    judgment: RuleResult,
    status: Statuses,
    public: Bounds,
) -> Table:
    columns, values = facts.columns, facts.values
    bounds = known_bounds(plan, facts, judgment, public)
    if knows_cases(plan):
        bounds = with_parts(bounds, relations, values)
    # Costs given by the table, unless the plan requests others.
    cost = "cost" if plan.method.cost == "value" and "cost" in columns else plan.method.cost
    return Table(
        values=values,
        status=status,
        costs=costs_of(replace(plan.method, cost=cost), facts),
        bounds=bounds,
        protection_levels=attainable(
            values, judgment.unsafe, bounds, judgment.reach, plan_precision(plan.table, values)
        ),
        constraints=relations,
        names=("",) * len(values),
    )


def _marks(columns: TextColumns) -> RuleResult:
    """Return statuses and levels given by the file."""
    status, none = _marked_status(columns), np.zeros(len(columns))
    return replace(
        nothing(len(columns)),
        unsafe=status == CellStatus.SENSITIVE,
        reach=ProtectionLevels(_column(columns, "lpl", none), _column(columns, "upl", none)),
        published=status == CellStatus.PUBLISH,
    )


def _marked_status(columns: TextColumns) -> Statuses:
    texts = columns.text("status")
    unknown = sorted(set(texts) - set(MARKS))
    if unknown:
        raise DataError("status").about(values=unknown, column="status")
    return np.array([MARKS[text] for text in texts], np.int8)


def _column(columns: TextColumns, name: str, default: Numbers) -> Numbers:
    return columns.numbers(name) if name in columns else default


def _relations(plan: TablePlan, places: dict[str, int]) -> LinearConstraints:
    assert plan.table.relations is not None  # it goes together with cells
    path = plan.table.relations.within(plan.folder)
    if format_of(path) is JJ:
        return read_jj(path, plan.table.encoding).relations()
    columns = read_columns(path, plan.table.dialect)
    rows: dict[str, dict[int, float]] = {}
    coefs = columns.numbers("coef")
    for name, cell, coef in zip(columns.text("relation"), columns.text("cell_id"), coefs, strict=True):
        if cell not in places:
            raise DataError("missing-parent.unknown_cell_in_relation").about(values=[cell])
        row = rows.setdefault(name, {})
        if places[cell] in row or coef == 0:
            what = "with coefficient 0" if coef == 0 else "twice"
            raise DataError("relation", what=what).about(values=[name, cell])
        row[places[cell]] = float(coef)
    named = [f"relation {name}" for name in rows]
    return make_constraints([(list(row), list(row.values())) for row in rows.values()], named)


Space = tuple[tuple[CodeTree, ...], list[Key]]


def read_source(plan: TablePlan) -> TextColumns:
    """Read the columns that the plan names.

    Raises:
        PlanError: The plan names no file.
    """
    name = plan.table.source or plan.table.cells
    if name is None:
        raise PlanError("no-source.source")
    described = None if plan.table.metadata is None else plan.table.metadata.within(plan.folder)
    office = office_columns(
        name.within(plan.folder), plan.table.value, described, False, plan.table.encoding, plan.table.tolerance
    )
    return read_delimited_cells(name.within(plan.folder), plan.table) if office is None else office


def build(plan: TablePlan, columns: TextColumns) -> list[TablePart]:
    """Build the tables of a plan and check that they add up.

    Raises:
        PlanError: A column that the plan names is missing.
        DataError: Duplicate cells, missing parents, values that are not numbers, or totals that do not add up.
    """
    if plan.table.cells is not None:
        return [instance_part(plan, columns)]
    check_marks(plan.primary, columns)
    space = dimensions_of(plan.dimensions, columns, plan.folder)
    parts = [_part(plan, columns, space, rows, group) for group, rows in grouped(plan, columns)]
    check_groups(plan, parts)
    return parts


def grouped(plan: TablePlan, columns: TextColumns) -> Iterator[tuple[tuple[str, ...], Places]]:
    """Yield each group with its rows."""
    groups = list(zip(*(columns.text(name) for name in plan.table.group_by), strict=True)) or [()] * len(columns)
    places: dict[tuple[str, ...], list[int]] = {}
    for place, group in enumerate(groups):
        places.setdefault(group, []).append(place)
    for group, rows in places.items():
        yield group, np.array(rows, np.int64)


def dimensions_of(dimensions: Mapping[str, Dimension], columns: TextColumns, folder: Path) -> Space:
    """Return the code trees of the dimensions, and the codes of each row.

    Raises:
        DataError: There is no row, or a row has no code.
    """
    if not len(columns):
        raise DataError("empty.no_cells")
    made = [_dimension(name, dimension, columns, folder) for name, dimension in dimensions.items()]
    keys = list(zip(*(codes for _, codes in made), strict=True))
    wrong = [place + 1 for place, key in enumerate(keys) if any("" in code for code in key)]
    if wrong:
        raise DataError(
            "no-code",
            message=Message("error.data.no-code.empty", row=wrong[0], more=len(wrong) - 1),
            hint=Message("hint.codes"),
        ).about(rows=wrong)
    return tuple(tree for tree, _ in made), keys


def _dimension(name: str, dimension: Dimension, columns: TextColumns, folder: Path) -> tuple[CodeTree, list[Code]]:
    if dimension.levels:
        codes = level_codes(columns, dimension.levels, dimension.total)
    else:
        codes = [(text,) for text in columns.text(dimension.column or "")]
    tree = tree_of(dimension.column or name, dimension.placed(folder), codes)
    return replace(tree, series=dimension.series), codes


def _part(
    plan: TablePlan,
    columns: TextColumns,
    space: Space,
    rows: Places,
    group: tuple[str, ...],
) -> TablePart:
    trees, codes = space
    own = columns.rows(rows)
    keys = tuple(codes[row] for row in rows)
    try:
        values = own.numbers(plan.table.value)
        relations = derive(trees, keys)
        check(relations, values, plan.table.tolerance, plan_precision(plan.table, values))
    except DataError as error:
        raise in_group(error, group, rows) from None
    names = tuple(describe(trees, key) for key in keys)
    lines = dict(zip(plan.dimensions, lines_of(trees, keys), strict=True))
    part = TablePart(rows, make_table(values, relations, names=names), no_bounds(len(rows)), trees, keys, group)
    try:
        return resolved(plan, part, facts_of(plan.table, own, values, relations, lines), heights_of(trees, keys))
    except UnattainableError as error:
        raise in_part(error, rows, names) from None


def resolved(plan: TablePlan, part: TablePart, facts: RuleInputs, heights: Numbers) -> TablePart:
    """Complete a part by the plan: sensitive cells, attacker knowledge, protection levels and costs."""
    relations, values = part.table.constraints, facts.values
    judgment = judgment_of(plan, facts)
    status = _status(judgment, facts, plan.method.zeros)
    hidden = status != CellStatus.PUBLISH
    public = public_bounds(plan, values, hidden if part.suppressed_before is None else hidden | part.suppressed_before)
    bounds = with_parts(known_bounds(plan, facts, judgment, public), relations, values)
    knowledge = knowledge_of(plan, values)
    table = part.table.with_columns(
        status=status,
        costs=costs_of(plan.method, facts) * plan.method.level_factor**heights,
        bounds=bounds,
        protection_levels=attainable(values, judgment.unsafe, bounds, judgment.reach, knowledge.precision),
    )
    shown = with_parts(reader_bounds(plan, judgment, public), relations, values)
    resolved = replace(
        part,
        table=table,
        public=shown,
        knowledge=knowledge,
        terms=terms_of(plan, facts.counts),
        requested=judgment.reach,
        inferred=True,
    )
    return with_attackers(plan, resolved, facts)


def _status(judgment: RuleResult, facts: RuleInputs, zeros: bool) -> Statuses:
    """Return the statuses; empty cells are published unless the plan allows otherwise, as they are often known."""
    status = np.where(judgment.published | (facts.empty & (not zeros)), CellStatus.PUBLISH, CellStatus.SAFE)
    return np.where(judgment.unsafe, CellStatus.SENSITIVE, status).astype(np.int8)


def lines_of(trees: Sequence[CodeTree], keys: Sequence[Key]) -> list[Places]:
    """Return for each dimension the position of the total that each cell is a part of; -1 if there is none."""
    place = {key: own for own, key in enumerate(keys)}
    above = [
        [
            -1 if key[own] == tree.root else place.get((*key[:own], tree.parents[key[own]], *key[own + 1 :]), -1)
            for key in keys
        ]
        for own, tree in enumerate(trees)
    ]
    return [np.array(column, np.int64) for column in above]


def heights_of(trees: Sequence[CodeTree], keys: Sequence[Key]) -> Numbers:
    """Return the number of levels of each cell above the finest, summed over all dimensions."""
    depths = np.array([[tree.height(code) for tree, code in zip(trees, key, strict=True)] for key in keys], np.float64)
    return np.asarray((depths.max(axis=0) - depths).sum(axis=1))


def tree_of(name: str, dimension: Dimension, codes: Sequence[Code]) -> CodeTree:
    """Build the tree of a dimension, whose hierarchy file has been located, for the codes of the rows."""
    if dimension.levels:
        return level_tree(name, codes, dimension.levels, dimension.total)
    texts = [code[0] for code in codes]
    if dimension.hierarchy is None:
        return flat_tree(name, texts, dimension.total)
    return file_tree(name, dimension.hierarchy.within(Path()), dimension.total, texts, dimension.encoding)
