"""Apply the safety rules of a batch file to a table: statuses 3 to 9 and protection levels."""

from collections.abc import Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import PlanError
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.argus.statuses import ArgusStatus, unsafe_of
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import tidied
from sfumato.tables.cells.system import BoolArray, Numbers
from sfumato.tables.formats.batch_file import RuleCall
from sfumato.tables.plan.rule_inputs import RuleInputs
from sfumato.tables.plan.rules import Dominance, PriorPosterior, RuleResult, ZeroUnsafe

# Default safety margin of manually sensitive cells, in percent.
MANUAL_PERCENT = 20.0


@dataclass(frozen=True, slots=True)
class Requests:
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
            "rule.rule_needs_the_largest_contributions_of",
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
        raise PlanError("rule.rule_req_needs_the")
    share = 100.0 * np.abs(table.largest[0]) / np.maximum(np.abs(table.values), 1e-300)
    limits = {requests.first: numbers[0], requests.second: numbers[1] if len(numbers) > 1 else numbers[0]}
    limit = np.array([limits.get(code, np.inf) if code else np.inf for code in requests.codes])
    least = numbers[2] if len(numbers) > 2 else 0.0
    unsafe = (share >= limit) & (_respondents(table) > 0) & (_respondents(table) >= min(least, 1.0))
    margin = np.abs(table.values) * (numbers[3] if len(numbers) > 3 else 10.0) / 100.0
    return unsafe, margin, margin, ArgusStatus.UNSAFE_REQUEST


def _respondents(table: ArgusTable) -> Numbers:
    if table.frequency is None:
        raise PlanError("rule.the_rule_needs_the")
    return table.frequency


def _holdings(table: ArgusTable) -> Numbers:
    if table.holdings is None:
        raise PlanError("rule.second_freq_counts_holdings")
    return table.holdings


def _facts(table: ArgusTable) -> RuleInputs:
    finest = np.ones(len(table), bool)
    return RuleInputs(table.values, table.frequency, table.holdings, table.largest, finest, False, TextColumns({}))
