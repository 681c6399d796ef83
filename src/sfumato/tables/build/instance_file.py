"""Tables given directly by cells and relations: the format of benchmark instances and linked tables."""

from dataclasses import replace

import numpy as np

from sfumato.errors import DataError, UnattainableError
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.cells.constraints import check
from sfumato.tables.cells.system import (
    BoolArray,
    Bounds,
    CellStatus,
    LinearConstraints,
    Numbers,
    ProtectionLevels,
    Statuses,
    Table,
    make_constraints,
    public_floor,
)
from sfumato.tables.cells.table_part import TablePart, in_part
from sfumato.tables.formats.solver_file import read_jj
from sfumato.tables.plan.rule_inputs import RuleInputs
from sfumato.tables.plan.rules import RuleResult, nothing
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
    reader_bounds,
    terms_of,
    with_attackers,
    with_parts,
)

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
    status = np.where(judgment.unsafe, CellStatus.SENSITIVE, _status(columns)).astype(np.int8)
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
    return _status(columns) == CellStatus.SENSITIVE if "status" in columns else np.zeros(len(columns), bool)


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
    status, none = _status(columns), np.zeros(len(columns))
    return replace(
        nothing(len(columns)),
        unsafe=status == CellStatus.SENSITIVE,
        reach=ProtectionLevels(_column(columns, "lpl", none), _column(columns, "upl", none)),
        published=status == CellStatus.PUBLISH,
    )


def _status(columns: TextColumns) -> Statuses:
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
    if path.suffix.lower() == ".jj":
        return read_jj(path, plan.table.encoding).relations()
    columns = read_columns(path, plan.table.dialect)
    rows: dict[str, dict[int, float]] = {}
    coefs = columns.numbers("coef")
    for name, cell, coef in zip(columns.text("relation"), columns.text("cell_id"), coefs, strict=True):
        if cell not in places:
            raise DataError("missing-parent.a_relation_names_a").about(values=[cell])
        row = rows.setdefault(name, {})
        if places[cell] in row or coef == 0:
            what = "with coefficient 0" if coef == 0 else "twice"
            raise DataError("relation", what=what).about(values=[name, cell])
        row[places[cell]] = float(coef)
    named = [f"relation {name}" for name in rows]
    return make_constraints([(list(row), list(row.values())) for row in rows.values()], named)
