"""Tables given directly by cells and relations: the format of the instances, and of linked tables."""

from dataclasses import replace

import numpy as np

from sfumato.errors import DataError
from sfumato.tables.cells.cells import Mask, Numbers, Relations, Status, Table, make_relations
from sfumato.tables.cells.columns import Columns, read_columns
from sfumato.tables.cells.parts import Part, in_rows
from sfumato.tables.cells.relations import check
from sfumato.tables.plan.plan import AttackerModel, TablePlan
from sfumato.tables.plan.rules import Facts, Judgment, combine
from sfumato.tables.promises.judging import (
    Bounds,
    alone_in,
    costs_of,
    facts_of,
    known_bounds,
    overruled,
    shown_bounds,
    shows_primaries,
)
from sfumato.tables.promises.widths import reach

MARKS = {"u": Status.UNSAFE, "s": Status.SAFE, "z": Status.PUBLISH}
# Sums are often stored with fewer digits than they were added with.
ROUNDING = 1e-6
# The noise of a sum, as a share of what is added, and the width up to which a range counts as one value.
NOISE = 1e-13
EXACT = 1e-6
# Totals of totals of ... are followed so far; weaker bounds only make promises harder to keep.
LEVELS = 20


def given_part(plan: TablePlan, columns: Columns) -> Part:
    """The table of cells (id, value, status, cost, lb, ub, lpl, upl) and relations (relation, cell_id, coef).

    Primary rules of the plan come on top of the statuses; a protection of the plan replaces lpl and upl.

    Raises:
        DataError: An id stands twice, a relation is none, a total does not add up, a value lies outside its bounds.
    """
    values = columns.numbers(plan.table.value)
    relations = relations_of(plan, columns)
    check(relations, values, plan.table.tolerance or ROUNDING)
    facts = facts_of(plan, columns, values, relations)
    found = _judgment(plan, facts)
    public = optional_bounds(columns, values, plan.attacker)
    rows, names = np.arange(len(columns)), tuple(f"cell {text}" for text in columns.text("id"))
    table = in_rows(lambda: _table(plan, facts, relations, found, public), rows, names)
    floor, ceiling = shown_bounds(plan, found, public)
    return Part(rows, table.with_columns(names=names), floor=floor, ceiling=ceiling)


def relations_of(plan: TablePlan, columns: Columns) -> Relations:
    """The relations of the plan's file, over the cells of the table.

    Raises:
        DataError: An id stands twice, or a relation names no cell, one cell twice, or one with coefficient 0.
    """
    places = {text: place for place, text in enumerate(columns.text("id"))}
    if len(places) < len(columns):
        raise DataError("an id stands twice.", "Each cell may stand once.", "duplicate-cell", column="id")
    return _relations(plan, places)


def optional_bounds(columns: Columns, values: Numbers, attacker: AttackerModel | None = None) -> Bounds:
    """What anyone knows: the bounds of the table and of the attacker, else nothing negative unless something is.

    Raises:
        DataError: A value lies outside; one that is not a number does not.
    """
    known = attacker or AttackerModel()
    least = -np.inf if (values < 0).any() or "lb" in columns else 0.0
    floor = np.full(len(values), least if known.lower is None else known.lower)
    ceiling = np.full(len(values), np.inf if known.upper is None else known.upper)
    lower, upper = np.maximum(floor, _given(columns, "lb", floor)), np.minimum(ceiling, _given(columns, "ub", ceiling))
    outside = np.flatnonzero((values < lower) | (values > upper))
    if len(outside):
        raise DataError(
            "a value lies outside its bounds.",
            "Correct lb and ub of the cell, or attacker.lower and upper.",
            "bounds",
            rows=[int(cell) + 1 for cell in outside],
        )
    return lower, upper


def marked_unsafe(columns: Columns) -> Mask:
    """The cells whose status says that they are unsafe; none where there is no status."""
    return _status(columns) == Status.UNSAFE if "status" in columns else np.zeros(len(columns), bool)


def _table(plan: TablePlan, facts: Facts, relations: Relations, found: Judgment, public: Bounds) -> Table:
    columns, values = facts.columns, facts.values
    status = np.where(found.unsafe, Status.UNSAFE, _status(columns)).astype(np.int8)
    lower, upper = known_bounds(plan, facts, found, public)
    if plan.attacker.rule or shows_primaries(plan):
        lower = _with_parts(lower, relations, values)
    down, up = reach(
        values, found.unsafe, (lower, upper), (found.down, found.up), _within_noise(facts, relations, found)
    )
    return Table(
        values=values,
        status=status,
        costs=_costs(plan, facts),
        lower=lower,
        upper=upper,
        need_down=down,
        need_up=up,
        relations=relations,
        names=("",) * len(values),
        alone=alone_in(facts),
    )


def _costs(plan: TablePlan, facts: Facts) -> Numbers:
    """The costs that the table gives, unless the plan asks for others."""
    given = plan.method.cost == "value" and "cost" in facts.columns
    return costs_of(replace(plan, method=replace(plan.method, cost="cost")) if given else plan, facts)


def _with_parts(lower: Numbers, relations: Relations, values: Numbers) -> Numbers:
    """Lower bounds of totals that are no less than those of their parts together; coarser totals after finer ones."""
    size = np.diff(relations.starts)
    owner = np.repeat(np.arange(len(relations)), size)
    part, total = relations.coefs == 1, relations.coefs == -1
    plain = (np.bincount(owner, part, len(size)) == size - 1) & (np.bincount(owner, total, len(size)) == 1)
    total &= plain[owner]
    raised = lower
    for _ in range(LEVELS):
        sums = np.bincount(owner, np.where(part, raised[relations.cells], 0.0), len(size))
        before, raised = raised, raised.copy()
        np.maximum.at(raised, relations.cells[total], sums[owner[total]])
        # Sums of rounded numbers may lie above a total.
        raised = np.minimum(raised, values)
        if np.array_equal(before, raised):
            break
    return raised


def _within_noise(facts: Facts, relations: Relations, found: Judgment) -> Mask:
    """Cells of value 0 for which the file asks nothing, and that nobody knows exactly anyway.

    Sums of large numbers with decimals carry noise of rounding, which hides such a cell; the audit judges it all the
    same.
    """
    matrix = abs(relations.matrix(len(facts.values)))
    noise = NOISE * (matrix @ np.abs(facts.values))
    whole = matrix @ (facts.values != np.round(facts.values)).astype(np.float64) == 0
    quiet = (noise > 0) & ((noise <= EXACT) | whole)
    known = matrix.T @ quiet.astype(np.float64) > 0
    return np.asarray(~known & (facts.values == 0) & (found.down + found.up == 0))


def _judgment(plan: TablePlan, facts: Facts) -> Judgment:
    """What the status column says, together with the rules of the plan."""
    columns, none = facts.columns, np.zeros(len(facts.values))
    status = _status(columns)
    unbounded = np.full(len(none), np.inf)
    given = Judgment(
        unsafe=status == Status.UNSAFE,
        down=_given(columns, "lpl", none),
        up=_given(columns, "upl", none),
        floor=-unbounded,
        ceiling=unbounded,
        waived=none > 0,
        published=status == Status.PUBLISH,
    )
    found = combine([given, *(rule.apply(facts) for rule in plan.primary)], len(none))
    return found if plan.protection is None else overruled(found, facts.values, plan.protection)


def _status(columns: Columns) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    texts = columns.text("status")
    unknown = sorted(set(texts) - set(MARKS))
    if unknown:
        raise DataError("the status of a cell is none of u, s, z.", code="status", column="status", values=unknown)
    return np.array([MARKS[text] for text in texts], np.int8)


def _given(columns: Columns, name: str, default: Numbers) -> Numbers:
    return columns.numbers(name) if name in columns else default


def _relations(plan: TablePlan, places: dict[str, int]) -> Relations:
    columns = read_columns(plan.folder / (plan.table.relations or ""), plan.table.separator)
    rows: dict[str, dict[int, float]] = {}
    coefs = columns.numbers("coef")
    for name, cell, coef in zip(columns.text("relation"), columns.text("cell_id"), coefs, strict=True):
        if cell not in places:
            raise DataError("a relation names a cell that is not there.", code="missing-parent", values=[cell])
        row = rows.setdefault(name, {})
        if places[cell] in row or coef == 0:
            what = "with coefficient 0" if coef == 0 else "twice"
            raise DataError(f"a relation names a cell {what}.", "Leave that line out.", "relation", values=[name, cell])
        row[places[cell]] = float(coef)
    named = [f"relation {name}" for name in rows]
    return make_relations([(list(row), list(row.values())) for row in rows.values()], named)
