"""Tables given directly by cells and relations: the format of the instances, and of linked tables."""

import numpy as np

from sfumato.errors import DataError
from sfumato.plan.tables import TablePlan
from sfumato.tables.build import Part, alone_in, costs_of, facts_of, overruled
from sfumato.tables.cells import Numbers, Relations, Status, Table, make_relations
from sfumato.tables.primary import Facts, Judgment, combine
from sfumato.tables.relations import check
from sfumato.tables.source import Columns, read_columns

MARKS = {"u": Status.UNSAFE, "s": Status.SAFE, "z": Status.PUBLISH}
# Sums are often stored with fewer digits than they were added with.
ROUNDING = 1e-6


def given_part(plan: TablePlan, columns: Columns) -> Part:
    """The table of cells (id, value, status, cost, lb, ub, lpl, upl) and relations (relation, cell_id, coef).

    Primary rules of the plan come on top of the statuses; a protection of the plan replaces lpl and upl.

    Raises:
        DataError: An id stands twice, a relation names no cell, a total does not add up.
    """
    places = {text: place for place, text in enumerate(columns.text("id"))}
    if len(places) < len(columns):
        raise DataError("an id stands twice.", "Each cell may stand once.", "duplicate-cell", column="id")
    values = columns.numbers(plan.table.value)
    relations = _relations(plan, places)
    check(relations, values, plan.table.tolerance or ROUNDING)
    facts = facts_of(plan, columns, values, relations)
    return Part(np.arange(len(columns)), _table(plan, facts, relations))


def _table(plan: TablePlan, facts: Facts, relations: Relations) -> Table:
    columns, values = facts.columns, facts.values
    found = _judgment(plan, facts)
    status = np.where(found.unsafe, Status.UNSAFE, _status(columns)).astype(np.int8)
    lower = np.maximum(
        _given(columns, "lb", np.full(len(values), 0.0 if (values >= 0).all() else -np.inf)), found.floor
    )
    upper = np.minimum(_given(columns, "ub", np.full(len(values), np.inf)), found.ceiling)
    return Table(
        values=values,
        status=status,
        costs=columns.numbers("cost") if plan.method.cost == "value" and "cost" in columns else costs_of(plan, facts),
        lower=lower,
        upper=upper,
        need_down=np.clip(found.down, 0.0, np.maximum(values - lower, 0.0)),
        need_up=np.clip(found.up, 0.0, np.maximum(upper - values, 0.0)),
        relations=relations,
        names=tuple(f"cell {text}" for text in columns.text("id")),
        alone=alone_in(facts),
    )


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
