"""An office's table, with its statuses and protection levels, through the methods that mask or change cells."""

from collections.abc import Sequence

import numpy as np

from sfumato.errors import PromiseError
from sfumato.tables.cells.cells import Bounds, Numbers, Places, Reach, Status, Table, make_relations
from sfumato.tables.cells.columns import Columns
from sfumato.tables.cells.knowledge import Knowledge
from sfumato.tables.cells.parts import Part
from sfumato.tables.cells.precision import step_of, tidied
from sfumato.tables.cells.relations import check
from sfumato.tables.deadline import Deadline
from sfumato.tables.formats.outputs import Protected
from sfumato.tables.masking import Masked, mask_part
from sfumato.tables.office.office_table import OfficeTable
from sfumato.tables.office.statuses import CellStatus, choices_of, masked_of, secondary_of, unsafe_of
from sfumato.tables.plan.facts import Facts
from sfumato.tables.plan.plan import MethodChoice, TablePlan, TableSource
from sfumato.tables.promises.resolution import with_attackers
from sfumato.tables.promises.widths import attainable

COMPUTED = (
    "safe cells that were to be masked (m, ml or status 11, 12) are computed from the others: "
    "make them unsafe (u) where they must stay hidden."
)


def office_part(table: OfficeTable, tolerance: float = 0.0, singletons: bool = True) -> Part:
    """The table as the methods take it: what is known of each cell, and what must stay open.

    Raises:
        DataError: Totals are missing or do not add up.
        UnattainableError: Known bounds leave an unsafe cell a single value.
    """
    relations, values = table.relations(), table.values
    step = step_of(values)
    check(relations, values, tolerance, step)
    low = -np.inf if (values < 0).any() else 0.0
    bounds = Bounds(
        np.full(len(table), low) if table.low is None else table.low,
        np.full(len(table), np.inf) if table.high is None else table.high,
    )
    none, unsafe = np.zeros(len(table)), unsafe_of(table.statuses)
    wished = Reach(none if table.lower is None else table.lower, none if table.upper is None else table.upper)
    made = Table(
        values=values,
        status=choices_of(table.statuses),
        costs=np.abs(values) if table.costs is None else table.costs,
        bounds=bounds,
        reach=attainable(values, unsafe, bounds, wished, step).at(unsafe),
        relations=relations,
        names=table.names(),
    )
    knowledge = Knowledge(rounding=tolerance, step=step)
    before = secondary_of(table.statuses)
    part = Part(np.arange(len(table)), made, bounds, table.trees, table.keys, knowledge=knowledge, masked_before=before)
    return _with_attackers(part, table) if singletons else part


def _with_attackers(part: Part, table: OfficeTable) -> Part:
    """The part with single respondents who attack with their own value, where respondents are told."""
    if table.frequency is None:
        return part
    names = tuple(f"top{place}" for place in range(len(table.largest)))
    source = TableSource(value="value", frequency="freq", contributions=names, cells="-", relations="-")
    finest = part.finest
    facts = Facts(table.values, table.frequency, table.holdings, table.largest, finest, not names, Columns({}))
    return with_attackers(TablePlan(table=source), part, facts)


def mask_office(table: OfficeTable, method: str, deadline: Deadline, tolerance: float = 0.0) -> Protected:
    """The table with further masks: cells that protect others have status 11.

    Raises:
        UnattainableError: An unsafe cell cannot be protected.
        PromiseError: The attacker still gets through.
    """
    masked = mask_part(office_part(table, tolerance), _choice(method), "en", deadline)
    return _protected(table, masked)


def _choice(method: str) -> MethodChoice:
    return MethodChoice(name="fast" if method == "fast" else "optimal")


def _protected(table: OfficeTable, masked: Masked) -> Protected:
    if not masked.audit.passed:
        raise PromiseError(
            f"the attacker still narrows {len(masked.audit.leaks)} masked cells below what is promised.",
            "Lower the protection levels, or let more cells be masked.",
            "audit",
        )
    new = masked.mask & ~unsafe_of(table.statuses) & ~secondary_of(table.statuses)
    statuses = np.where(new, int(CellStatus.SECONDARY), table.statuses)
    ranges = tidied(masked.ends.low), tidied(masked.ends.high)
    open_ = int((secondary_of(table.statuses) & ~masked.mask).sum())
    warnings = (f"{open_} {COMPUTED}",) if open_ else ()
    return Protected(table.with_columns(statuses=statuses), "masks", ranges=ranges, remarks=warnings, warnings=warnings)


def mask_linked(tables: Sequence[OfficeTable], method: str, deadline: Deadline) -> list[Protected]:
    """Several tables masked together: a cell that stands in several of them is one cell, masked in all or in none."""
    whole, places = joined(tables)
    done = mask_office(whole, method, deadline)
    return [_share(table, done, own) for table, own in zip(tables, places, strict=True)]


def _share(table: OfficeTable, done: Protected, own: Places) -> Protected:
    """One of several tables with what was made of its cells: unsafe cells of others are unsafe in it, too."""
    whole = done.table
    hidden = masked_of(whole.statuses[own]) & ~unsafe_of(table.statuses)
    changed = table.with_columns(
        statuses=np.where(hidden, whole.statuses[own], table.statuses),
        lower=None if whole.lower is None else whole.lower[own],
        upper=None if whole.upper is None else whole.upper[own],
    )
    ranges = None if done.ranges is None else (done.ranges[0][own], done.ranges[1][own])
    return Protected(changed, "masks", ranges=ranges, remarks=done.remarks, warnings=done.warnings)


def joined(tables: Sequence[OfficeTable]) -> tuple[OfficeTable, list[Places]]:
    """Several tables as one, and where each one's cells are in it."""
    numbers: dict[frozenset[tuple[str, str]], int] = {}
    places, rows = [], list[tuple[list[int], list[float]]]()
    for table in tables:
        own = np.array([numbers.setdefault(_identity(table, cell), len(numbers)) for cell in range(len(table))])
        relations = table.relations()
        for place in range(len(relations)):
            cells, coefs = relations.row(place)
            rows.append((own[cells].tolist(), coefs.tolist()))
        places.append(own)
    size = len(numbers)
    unique = {frozenset(zip(cells, coefs, strict=True)): (cells, coefs) for cells, coefs in rows}

    def gathered(name: str, most: bool) -> Numbers:
        column = np.zeros(size)
        for table, own in zip(tables, places, strict=True):
            numbers_ = getattr(table, name)
            numbers_ = np.zeros(len(table)) if numbers_ is None else numbers_
            column[own] = np.maximum(column[own], numbers_) if most else numbers_
        return column

    return (
        OfficeTable(
            tables[0].value,
            (),
            (),
            gathered("values", False),
            _statuses(tables, places, size),
            lower=gathered("lower", True),
            upper=gathered("upper", True),
            costs=gathered("costs", True) if any(table.costs is not None for table in tables) else None,
            frequency=gathered("frequency", True) if _all_have(tables, "frequency") else None,
            holdings=gathered("holdings", True) if _all_have(tables, "holdings") else None,
            largest=_largest(tables, places, size),
            given=make_relations(unique.values(), [f"relation {place}" for place in range(len(unique))]),
        ),
        places,
    )


def _statuses(tables: Sequence[OfficeTable], places: Sequence[Places], size: int) -> Places:
    """The strongest status of each cell in any table: unsafe, then masked, then to be published, then the rest."""
    statuses, strengths = np.full(size, int(CellStatus.SAFE), np.int64), np.full(size, -1)
    for table, own in zip(tables, places, strict=True):
        fixed = choices_of(table.statuses) == Status.PUBLISH
        strength = np.select([unsafe_of(table.statuses), secondary_of(table.statuses), fixed], [3, 2, 1], 0)
        stronger = strength > strengths[own]
        statuses[own] = np.where(stronger, table.statuses, statuses[own])
        strengths[own] = np.maximum(strength, strengths[own])
    return statuses


def _all_have(tables: Sequence[OfficeTable], name: str) -> bool:
    return all(getattr(table, name) is not None for table in tables)


def _largest(tables: Sequence[OfficeTable], places: Sequence[Places], size: int) -> tuple[Numbers, ...]:
    """The largest contributions to each cell, as many as all tables tell."""
    columns = []
    for rank in range(min(len(table.largest) for table in tables)):
        column = np.zeros(size)
        for table, own in zip(tables, places, strict=True):
            column[own] = np.maximum(column[own], table.largest[rank])
        columns.append(column)
    return tuple(columns)


def _identity(table: OfficeTable, cell: int) -> frozenset[tuple[str, str]]:
    pairs = zip(table.trees, table.keys[cell], strict=True)
    return frozenset((tree.name.lower(), code[0]) for tree, code in pairs if code != tree.root)
