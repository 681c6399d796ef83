"""Apply suppression or perturbation to a table in the formats of statistical offices, with statuses and levels."""

from collections.abc import Sequence

import numpy as np

from sfumato.errors import DataError, PlanError, UnattainableError, ViolationError
from sfumato.localization.messages import Message
from sfumato.schema.paths import PlanPath
from sfumato.tables.argus.office_table import (
    ArgusStatus,
    ArgusTable,
    choices_of,
    floor_of,
    masked_of,
    secondary_of,
    unsafe_of,
)
from sfumato.tables.attack.findings import known_line
from sfumato.tables.cell_labels import cells_named
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import check, precision_of, tidied
from sfumato.tables.cells.system import AttackerKnowledge, BoolArray, Bounds, Numbers, Places, ProtectionLevels, Table
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.formats.argus_outputs import Protected
from sfumato.tables.formats.batch_file import RuleCall
from sfumato.tables.linked.cells import same_respondents
from sfumato.tables.linked.from_office import ZeroPattern, presence_of
from sfumato.tables.linked.joint import joined
from sfumato.tables.plan.rules import Dominance, PriorPosterior, RuleInputs, RuleResult, ZeroUnsafe
from sfumato.tables.plan.sections import MethodChoice, TableSource
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.protection_levels.inference import with_own_contributions
from sfumato.tables.protection_levels.insiders import attainable
from sfumato.tables.protection_levels.resolve_plan import with_attackers, with_parts
from sfumato.tables.suppress_table import SuppressedCells, mask_part
from sfumato.values import Value, replace


def office_part(
    table: ArgusTable,
    tolerance: float = 0.0,
    singletons: bool = True,
    unshown: BoolArray | None = None,
    step: float | None = None,
    inferred: bool | None = None,
) -> TablePart:
    """Convert a table to the form that the methods need: attacker knowledge and protection levels of each cell.

    Args:
        tolerance: How far totals may differ from the sum of their parts.
        singletons: Whether respondents attack as insiders.
        unshown: Hidden cells, which only link other cells.
        step: The precision; derived from the values by default.
        inferred: Whether lower bounds are inferred from what is shown; by default if the table gives none.

    Raises:
        DataError: Totals are missing or do not add up.
        UnattainableError: Known bounds leave a sensitive cell a single value.
    """
    relations, values = table.relations(), table.values
    step = precision_of(values) if step is None else step
    check(relations, values, tolerance, step)
    low = floor_of(table) if table.low is None else table.low
    high = np.full(len(table), np.inf) if table.high is None else table.high
    bounds = with_parts(Bounds(low, high), relations, values)
    none, unsafe = np.zeros(len(table)), unsafe_of(table.statuses)
    wished = ProtectionLevels(
        none if table.lower is None else table.lower, none if table.upper is None else table.upper
    )
    made = Table(
        values=values,
        status=choices_of(table.statuses),
        costs=np.abs(values) if table.costs is None else table.costs,
        bounds=bounds,
        protection_levels=attainable(values, unsafe, bounds, wished, step).at(unsafe),
        constraints=relations,
        names=table.names(),
    )
    knowledge = AttackerKnowledge(rounding=tolerance, precision=step)
    before = secondary_of(table.statuses)
    part = TablePart(
        np.arange(len(table)),
        made,
        bounds,
        table.trees,
        table.keys,
        knowledge=knowledge,
        requested=wished,
        inferred=table.low is None if inferred is None else inferred,
        suppressed_before=before,
        hidden=unshown if unshown is not None and unshown.any() else None,
    )
    return _with_attackers(part, table) if singletons else part


def _with_attackers(part: TablePart, table: ArgusTable) -> TablePart:
    """Add insiders if the table has respondents: holdings with all their cells if named, otherwise respondents."""
    if table.frequency is None:
        return part
    largest, holders = _holders(table) if table.holders else (table.largest, TextColumns({}))
    names = tuple(f"top{place}" for place in range(len(largest)))
    source = TableSource(
        value="value",
        frequency="freq",
        contributions=names,
        contributors=tuple(holders.texts),
        cells=PlanPath("-"),
        relations=PlanPath("-"),
    )
    facts = RuleInputs(table.values, table.frequency, table.holdings, largest, part.finest, not names, holders)
    return with_own_contributions(with_attackers(TablePlan(table=source), part, facts))


def _holders(table: ArgusTable) -> tuple[tuple[Numbers, ...], TextColumns]:
    """Return the contributions of the largest holdings to each cell, and their names."""
    ranks = range(max(1, *map(len, table.holders)))
    filled = [[*own, *[("", 0.0)] * (len(ranks) - len(own))] for own in table.holders]
    amounts = tuple(np.array([own[rank][1] for own in filled]) for rank in ranks)
    return amounts, TextColumns({f"holder{rank}": tuple(own[rank][0] for own in filled) for rank in ranks})


def mask_office(table: ArgusTable, method: str, deadline: Deadline, tolerance: float = 0.0) -> Protected:
    """Add secondary suppression to the table, as status 11.

    Raises:
        UnattainableError: A sensitive cell cannot be protected.
        ViolationError: The audit finds a disclosed cell.
    """
    return _protected(table, _masked(office_part(table, tolerance), method, deadline))


def _masked(part: TablePart, method: str, deadline: Deadline) -> SuppressedCells:
    """Suppress the part; the error for a cell that cannot be protected names the remedies of batch files."""
    try:
        return mask_part(part, MethodChoice(name="fast" if method == "fast" else "optimal"), "en", deadline)
    except UnattainableError as error:
        if error.code == f"{error.kind}.unprotectable":
            error.hint = Message("hint.join_categories")
        raise


def _protected(table: ArgusTable, masked: SuppressedCells, shown: BoolArray | None = None) -> Protected:
    if not masked.audit.passed:
        raise ViolationError(
            "audit.narrowed_cells_named",
            count=len(masked.audit.failing),
            named=cells_named(masked.audit.failing),
        )
    new = masked.suppressed & ~unsafe_of(table.statuses) & ~secondary_of(table.statuses)
    statuses = np.where(new, int(ArgusStatus.SECONDARY), table.statuses)
    ranges = tidied(masked.ends.low), tidied(masked.ends.high)
    wished = secondary_of(table.statuses) if shown is None else secondary_of(table.statuses) & shown
    open_ = int((wished & ~masked.suppressed).sum())
    warnings = (Message("note.open_cells", count=open_),) if open_ else ()
    known = masked.audit.inherently_disclosed
    remarks = (*warnings, *([known_line(known)] if known else []))
    lower, upper = _promised(table, masked)
    made = table.with_columns(statuses=statuses, lower=lower, upper=upper)
    return Protected(made, "masks", ranges=ranges, notes=remarks, warnings=warnings)


def _promised(table: ArgusTable, masked: SuppressedCells) -> tuple[Numbers | None, Numbers | None]:
    """Return the protection levels, lowered for ends that everyone can infer whatever is suppressed."""
    levels = {"lower": table.lower, "upper": table.upper}
    for end in masked.audit.inherently_disclosed:
        own = levels[end.end]
        if not end.attacker and own is not None:
            own = own.copy()
            own[end.cell] = min(own[end.cell], end.promised)
            levels[end.end] = own
    return levels["lower"], levels["upper"]


def mask_linked(
    tables: Sequence[ArgusTable], method: str, deadline: Deadline, presences: Sequence[ZeroPattern] = ()
) -> list[Protected]:
    """Suppress several tables jointly: a cell that occurs in several of them is suppressed in all or in none.

    Args:
        method: The suppression method.
        presences: Tables of other values of the same records, which show that cells are empty.

    Raises:
        DataError: Cells with the same codes have different values.
        UnattainableError: A sensitive cell cannot be protected, or codes of the tables differ in too many ways.
        ViolationError: The audit finds a disclosed cell.
    """
    joint = joined(tables, presences=presences)
    if joint.differing:
        raise DataError("tables-differ.cells_of_the_same", count=joint.differing)
    inferred = all(table.low is None for table in tables)
    part = office_part(joint.whole, unshown=joint.crossed, step=joint.precision, inferred=inferred)
    masked = _masked(part, method, deadline)
    done = _protected(joint.whole, masked, joint.shown)
    said = tuple(Message("note.not_audited", what=what) for what in joint.left_out)
    warned = (*done.warnings, *said)
    # Also without sensitive cells in the tables: an implicit cell may have few respondents.
    done = replace(done, notes=(*done.notes, *said), warnings=warned, attacked=not said)
    return [_share(table, done, own) for table, own in zip(tables, joint.places, strict=True)]


def mask_by_response(tables: Sequence[ArgusTable], method: str, deadline: Deadline) -> list[Protected]:
    """Suppress several tables, jointly for each response, using which cells tables of the same records show as empty.

    Raises:
        DataError: Cells with the same codes have different values.
        UnattainableError: A sensitive cell cannot be protected, or codes of the tables differ in too many ways.
        ViolationError: The audit finds a disclosed cell.
    """
    done: dict[int, Protected] = {}
    for response in dict.fromkeys(table.value for table in tables):
        own = [number for number, table in enumerate(tables) if table.value == response]
        linked = [tables[number] for number in own]
        others = [table for table in tables if table.value != response]
        presences = [presence_of(one) for one in others if any(same_respondents(one, two) for two in linked)]
        masked = mask_linked(linked, method, deadline, presences)
        done |= zip(own, masked, strict=True)
    return [done[number] for number in range(len(tables))]


def _share(table: ArgusTable, done: Protected, own: Places) -> Protected:
    """Extract one table from the joint result; cells that are sensitive in other tables are sensitive here too."""
    whole = done.table
    hidden = masked_of(whole.statuses[own]) & ~unsafe_of(table.statuses)
    changed = table.with_columns(
        statuses=np.where(hidden, whole.statuses[own], table.statuses),
        lower=None if whole.lower is None else whole.lower[own],
        upper=None if whole.upper is None else whole.upper[own],
    )
    ranges = None if done.ranges is None else (done.ranges[0][own], done.ranges[1][own])
    return replace(done, table=changed, ranges=ranges)


# Default safety margin of manually sensitive cells, in percent.
MANUAL_PERCENT = 20.0


class Requests(Value):
    """The request code of the largest contributor of each cell."""

    codes: tuple[str, ...]
    first: str
    second: str


def with_rules(
    table: ArgusTable, rules: Sequence[RuleCall], requests: Requests | None = None, missing: BoolArray | None = None
) -> ArgusTable:
    """Return the table with statuses and protection levels by the rules.

    With MAN alone, or without rules, the statuses of the file remain.

    Raises:
        PlanError: A rule needs data that the table does not have.
    """
    frequencies = [rule for rule in rules if rule.name == "FREQ"]
    statuses = table.statuses.copy()
    lower = np.zeros(len(table)) if table.lower is None else table.lower.copy()
    upper = np.zeros(len(table)) if table.upper is None else table.upper.copy()
    for rule in reversed(active_rules(rules)):
        # As in τ-ARGUS, the second FREQ of a batch file counts holdings.
        of_holdings = any(rule is one for one in frequencies[1:])
        unsafe, down, up, status = _judged(table, rule, requests, of_holdings)
        free = ~np.isin(statuses, (ArgusStatus.PROTECTED, ArgusStatus.SAFE_MANUAL))
        hit = unsafe & free
        statuses[hit] = int(status)
        lower[hit], upper[hit] = np.maximum(lower, down)[hit], np.maximum(upper, up)[hit]
    if missing is not None and any(rule.name == "MIS" and rule.numbers[:1] == (1.0,) for rule in rules):
        statuses[missing & unsafe_of(statuses)] = int(ArgusStatus.SAFE)
    return with_margins(table.with_columns(statuses=statuses, lower=tidied(lower), upper=tidied(upper)), rules)


def with_margins(table: ArgusTable, rules: Sequence[RuleCall]) -> ArgusTable:
    """Add protection levels to manually sensitive cells that have none."""
    manual = next((rule.numbers[0] for rule in rules if rule.name == "MAN" and rule.numbers), MANUAL_PERCENT)
    lower = np.zeros(len(table)) if table.lower is None else table.lower
    upper = np.zeros(len(table)) if table.upper is None else table.upper
    bare = unsafe_of(table.statuses) & (lower == 0) & (upper == 0)
    margin = tidied(np.abs(table.values) * manual / 100.0)
    return table.with_columns(lower=np.where(bare, margin, lower), upper=np.where(bare, margin, upper))


def active_rules(rules: Sequence[RuleCall]) -> list[RuleCall]:
    """Return the rules that classify cells as sensitive and are not switched off by zeros."""
    return [rule for rule in rules if rule.name in ("P", "NK", "FREQ", "ZERO", "REQ") and any(rule.numbers[:1])]


def _judged(
    table: ArgusTable, rule: RuleCall, requests: Requests | None, of_holdings: bool
) -> tuple[BoolArray, Numbers, Numbers, ArgusStatus]:
    facts, numbers = _facts(table), rule.numbers
    if rule.name == "FREQ":
        number = _holdings(table) if of_holdings else _respondents(table)
        unsafe = (number > 0) & (number < numbers[0])
        margin = np.abs(table.values) * (numbers[1] if len(numbers) > 1 else 0.0) / 100.0
        return unsafe, margin, margin, ArgusStatus.UNSAFE_FREQUENCY
    if rule.name == "REQ":
        return _requested(table, numbers, requests)
    _check_largest(table, rule)
    judgment, status = _by_values(rule, facts)
    return judgment.unsafe, judgment.reach.lower, judgment.reach.upper, status


def _check_largest(table: ArgusTable, rule: RuleCall) -> None:
    """Refuse a rule that needs more contributions than the table has."""
    own = {"P": int(rule.numbers[-1]) + 1 if len(rule.numbers) > 1 else 2, "NK": int(rule.numbers[0])}
    needed = own.get(rule.name, 0)
    if needed > len(table.largest):
        numbers = ",".join(f"{number:g}" for number in rule.numbers)
        raise PlanError(
            "rule.needs_largest_contributions",
            name=rule.name,
            one=numbers,
            count=needed,
            number=len(table.largest),
        )


def _by_values(rule: RuleCall, facts: RuleInputs) -> tuple[RuleResult, ArgusStatus]:
    numbers = rule.numbers
    if rule.name == "ZERO":
        return ZeroUnsafe(numbers[0]).apply(facts), ArgusStatus.UNSAFE_ZERO
    if rule.name == "NK":
        return Dominance(int(numbers[0]), numbers[1]).apply(facts), ArgusStatus.UNSAFE
    many = int(numbers[-1]) if len(numbers) > 1 else 1
    q = numbers[1] if len(numbers) == 3 else 100.0
    return PriorPosterior(numbers[0], q, max(many, 1)).apply(facts), ArgusStatus.UNSAFE


def _requested(
    table: ArgusTable, numbers: tuple[float, ...], requests: Requests | None
) -> tuple[BoolArray, Numbers, Numbers, ArgusStatus]:
    """Apply REQ(percent for the first request code, for the second, minimum respondents, margin in percent)."""
    if requests is None or not table.largest:
        raise PlanError("rule.needs_requests")
    share = 100.0 * np.abs(table.largest[0]) / np.maximum(np.abs(table.values), 1e-300)
    limits = {requests.first: numbers[0], requests.second: numbers[1] if len(numbers) > 1 else numbers[0]}
    limit = np.array([limits.get(code, np.inf) if code else np.inf for code in requests.codes])
    least = numbers[2] if len(numbers) > 2 else 0.0
    unsafe = (share >= limit) & (_respondents(table) > 0) & (_respondents(table) >= min(least, 1.0))
    margin = np.abs(table.values) * (numbers[3] if len(numbers) > 3 else 10.0) / 100.0
    return unsafe, margin, margin, ArgusStatus.UNSAFE_REQUEST


def _respondents(table: ArgusTable) -> Numbers:
    if table.frequency is None:
        raise PlanError("rule.needs_respondents")
    return table.frequency


def _holdings(table: ArgusTable) -> Numbers:
    if table.holdings is None:
        raise PlanError("rule.second_freq_counts_holdings")
    return table.holdings


def _facts(table: ArgusTable) -> RuleInputs:
    finest = np.ones(len(table), bool)
    return RuleInputs(table.values, table.frequency, table.holdings, table.largest, finest, False, TextColumns({}))
