"""Tables given directly by cells and relations: the format of the instances, and of linked tables."""

import numpy as np

from sfumato.errors import DataError
from sfumato.plan.tables import TablePlan
from sfumato.tables.build import in_rows
from sfumato.tables.cells import Mask, Numbers, Relations, Status, Table, make_relations
from sfumato.tables.judging import Bounds, alone_in, costs_of, facts_of, overruled
from sfumato.tables.parts import Part
from sfumato.tables.primary import Facts, Judgment, combine
from sfumato.tables.relations import check
from sfumato.tables.source import Columns, read_columns
from sfumato.tables.widths import reach

MARKS = {"u": Status.UNSAFE, "s": Status.SAFE, "z": Status.PUBLISH}
# Sums are often stored with fewer digits than they were added with.
ROUNDING = 1e-6
# The noise of a sum, as a share of what is added, and the width up to which a range counts as one value.
NOISE = 1e-13
EXACT = 1e-6


def given_part(plan: TablePlan, columns: Columns) -> Part:
    """The table of cells (id, value, status, cost, lb, ub, lpl, upl) and relations (relation, cell_id, coef).

    Primary rules of the plan come on top of the statuses; a protection of the plan replaces lpl and upl.

    Raises:
        DataError: An id stands twice, a relation names no cell, a total does not add up.
    """
    values = columns.numbers(plan.table.value)
    relations = relations_of(plan, columns)
    check(relations, values, plan.table.tolerance or ROUNDING)
    facts = facts_of(plan, columns, values, relations)
    floor, ceiling = optional_bounds(columns, values)
    rows, names = np.arange(len(columns)), tuple(f"cell {text}" for text in columns.text("id"))
    table = in_rows(lambda: _table(plan, facts, relations, (floor, ceiling)), rows, names)
    return Part(rows, table.with_columns(names=names), floor=floor, ceiling=ceiling)


def relations_of(plan: TablePlan, columns: Columns) -> Relations:
    """The relations of the plan's file, over the cells of the table.

    Raises:
        DataError: An id stands twice, or a relation names no cell.
    """
    places = {text: place for place, text in enumerate(columns.text("id"))}
    if len(places) < len(columns):
        raise DataError("an id stands twice.", "Each cell may stand once.", "duplicate-cell", column="id")
    return _relations(plan, places)


def optional_bounds(columns: Columns, values: Numbers) -> Bounds:
    """The bounds that the table gives, or nothing negative unless something is."""
    least = np.full(len(values), -np.inf if (values < 0).any() else 0.0)
    return _given(columns, "lb", least), _given(columns, "ub", np.full(len(values), np.inf))


def marked_unsafe(columns: Columns) -> Mask:
    """The cells whose status says that they are unsafe; none where there is no status."""
    return _status(columns) == Status.UNSAFE if "status" in columns else np.zeros(len(columns), bool)


def _table(plan: TablePlan, facts: Facts, relations: Relations, bounds: Bounds) -> Table:
    columns, values = facts.columns, facts.values
    found = _judgment(plan, facts)
    status = np.where(found.unsafe, Status.UNSAFE, _status(columns)).astype(np.int8)
    lower, upper = np.maximum(bounds[0], found.floor), np.minimum(bounds[1], found.ceiling)
    down, up = reach(
        values, found.unsafe, (lower, upper), (found.down, found.up), _within_noise(facts, relations, found)
    )
    return Table(
        values=values,
        status=status,
        costs=columns.numbers("cost") if plan.method.cost == "value" and "cost" in columns else costs_of(plan, facts),
        lower=lower,
        upper=upper,
        need_down=down,
        need_up=up,
        relations=relations,
        names=("",) * len(values),
        alone=alone_in(facts),
    )


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
    rows: dict[str, tuple[list[int], list[float]]] = {}
    coefs = columns.numbers("coef")
    for name, cell, coef in zip(columns.text("relation"), columns.text("cell_id"), coefs, strict=True):
        if cell not in places:
            raise DataError("a relation names a cell that is not there.", code="missing-parent", values=[cell])
        cells, weights = rows.setdefault(name, ([], []))
        cells.append(places[cell])
        weights.append(float(coef))
    return make_relations(rows.values(), [f"relation {name}" for name in rows])
