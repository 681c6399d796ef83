"""Audits of tables that anyone published: what a file shows, and what its plan promises, become a publication."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.errors import PlanError
from sfumato.plan.tables import TablePlan, read_table_plan
from sfumato.tables.audit import Audit, Finding
from sfumato.tables.build import Part, build, build_unvalued
from sfumato.tables.cells import Numbers
from sfumato.tables.insight import attack
from sfumato.tables.masking import insiders, promise_of
from sfumato.tables.primary import Range
from sfumato.tables.protect import NAMES, ProtectedTable
from sfumato.tables.publication import Knowledge, Promise, Publication, false_ranges
from sfumato.tables.source import Columns, read_columns

_RANGE = re.compile(r"^\s*(-?\d+(?:\.\d+)?)\s*[-–]\s*(-?\d+(?:\.\d+)?)\s*$")
_PRIMARY = ("primär", "primary")


@dataclass(frozen=True, slots=True)
class Review:
    """The audit of a published table, group by group."""

    audits: tuple[Audit, ...]

    @property
    def passed(self) -> bool:
        return all(audit.passed for audit in self.audits)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(finding for audit in self.audits for finding in audit.findings)

    @property
    def leaks(self) -> tuple[Finding, ...]:
        return tuple(finding for audit in self.audits for finding in audit.leaks)

    def counts(self) -> dict[str, int]:
        """Masked cells checked, recovered exactly, narrowed too far, and contradicted by their own table."""
        return {
            "checked": sum(audit.checked for audit in self.audits),
            "exact": sum(audit.exact for audit in self.audits),
            "too_narrow": sum(audit.too_narrow for audit in self.audits),
            "contradictory": sum(len(audit.contradictions) for audit in self.audits),
        }


def audit(
    table: Any,
    plan: str | Path | Mapping[str, Any] | TablePlan | None = None,
    *,
    integer: bool | None = None,
    own_contribution: bool | None = None,
) -> Review:
    """Attack a published table.

    Args:
        table: What `protect` returned, or a frame or the path of a CSV file, with the plan's dimensions and what was
            published: columns `<value>_published`, `_lower`, `_upper` (or the original's), or the value column itself
            with masks in it.
        plan: The plan with the dimensions and rules; not needed for what `protect` returned.
        integer: Whether the attacker knows that values are whole; as the plan says by default.
        own_contribution: Whether single respondents attack with their own value; as the plan says by default.

    Raises:
        PlanError: The plan is not one, or a column is missing.
        DataError: The published totals do not add up.
    """
    if isinstance(table, ProtectedTable):
        table, plan = table.columns, plan or table.plan
    if plan is None:
        raise PlanError("the audit needs the plan.", "Name it: it says which cells add up.", "no-plan")
    made = _attacked_by(read_table_plan(plan), integer, own_contribution)
    columns = _columns(table, made)
    seen = _Seen.of(columns, made)
    parts = build(made, columns) if seen.valued else build_unvalued(made, columns, seen.exact)
    return Review(tuple(_review(part, made, seen) for part in parts))


def _attacked_by(plan: TablePlan, integer: bool | None, own_contribution: bool | None) -> TablePlan:
    attacker = plan.attacker if integer is None else replace(plan.attacker, integer=integer)
    method = plan.method if own_contribution is None else replace(plan.method, insiders=own_contribution)
    return replace(plan, attacker=attacker, method=method)


def _columns(table: Any, plan: TablePlan) -> Columns:
    if isinstance(table, Columns):
        return table
    if isinstance(table, str | Path):
        return read_columns(Path(table), plan.table.separator)
    from sfumato.engines.tabulation import columns_of

    return Columns(columns_of(table))


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a file shows of each row: value or not a number, range and case, and whether true values stand beside."""

    exact: Numbers
    low: Numbers
    high: Numbers
    case: tuple[str, ...]
    valued: bool

    @classmethod
    def of(cls, columns: Columns, plan: TablePlan) -> "_Seen":
        prefix = plan.output.prefix or plan.table.value
        style = next((names for names in NAMES.values() if prefix + names[0] in columns), None)
        if style is None:
            texts = columns.text(plan.table.value)
            cases = tuple("primary" if "–" in text else "" for text in texts)
            return cls(_exact(texts), *_spans(texts), cases, valued=False)
        texts = columns.text(prefix + style[0])
        low, high = _spans(texts)
        if prefix + style[1] in columns and prefix + style[2] in columns:
            low = np.fmax(low, columns.optional(prefix + style[1]))
            high = np.fmin(high, columns.optional(prefix + style[2]))
        cases = columns.text(prefix + style[3]) if prefix + style[3] in columns else ("",) * len(texts)
        return cls(_exact(texts), low, high, cases, valued=plan.table.value in columns)


def _exact(texts: tuple[str, ...]) -> Numbers:
    return Columns({"": texts}).optional("")


def _spans(texts: tuple[str, ...]) -> tuple[Numbers, Numbers]:
    found = [_RANGE.match(text) for text in texts]
    low = [float(match.group(1)) if match else np.nan for match in found]
    high = [float(match.group(2)) if match else np.nan for match in found]
    return np.array(low), np.array(high)


def _review(part: Part, plan: TablePlan, seen: _Seen) -> Audit:
    rows, table = part.rows, part.table
    publication = Publication(
        exact=seen.exact[rows],
        range_low=seen.low[rows],
        range_high=seen.high[rows],
        floor=table.lower,
        ceiling=table.upper,
        relations=table.relations,
        names=table.names,
    )
    promise = promise_of(table) if seen.valued else _promise_by_rule(part, plan, seen)
    alone = table.alone & table.unsafe if seen.valued and insiders(plan) else None
    knowledge = Knowledge(plan.attacker.integer, alone, table.values, plan.table.tolerance)
    found = attack(publication, promise, knowledge, part, [seen.case[row] for row in rows])
    return found.with_contradictions(false_ranges(publication, table.values)) if seen.valued else found


def _promise_by_rule(part: Part, plan: TablePlan, seen: _Seen) -> Promise:
    """Without true values only the range rule says what was promised: the whole range of every primary cell."""
    low, high = (np.full(len(part.rows), np.nan) for _ in range(2))
    for rule in plan.primary:
        if not isinstance(rule, Range):
            raise PlanError(
                "without true values only the promise of rule range is known.",
                f'Add the column "{plan.table.value}" with true values.',
                "no-values",
            )
        masked = np.isnan(seen.exact[part.rows])
        shown = (seen.low[part.rows] == rule.min) & (seen.high[part.rows] == rule.max)
        marked = np.array([seen.case[row] in _PRIMARY for row in part.rows], bool)
        primary = masked & part.finest & (marked | shown)
        low[primary], high[primary] = rule.min, rule.max
    return Promise(low, high)
