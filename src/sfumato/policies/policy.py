"""Policies: named, versioned lists of clauses, those that come with Sfumato, and their evaluation on a file."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from sfumato.errors import PlanError, did_you_mean
from sfumato.localization.messages import Message
from sfumato.schema import files
from sfumato.schema.composite import Integer, Text, UnionSchema, read
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.values import Value, field, replace

Op = Literal["<=", ">=", "=", "attested"]
# The evidence for a limit: a text about the document, or unverified.
Evidence = Literal["secondary", "unconfirmed"]
SMALL = UnionSchema((((str,), Text()), ((int,), Integer())), "what a small count is published as")


class Clause(Value):
    """One requirement of a policy.

    Attributes:
        name: The key with which a user overrides its value or attests it.
        metric: The metric that is measured.
        op: The comparison with `value`, or `attested`.
        scope: What it is measured on.
        action: How to satisfy it.
        says: The clause in words.
        value: The limit; None if the user must set one.
        evidence: Source of its limit, if it differs from the policy's.
    """

    name: str
    metric: str
    op: Op
    scope: str
    action: str
    says: str
    value: float | None = None
    evidence: Evidence | None = None

    def keeps(self, measured: float) -> bool:
        """Return whether a measured number satisfies the clause."""
        assert self.value is not None
        return {"<=": measured <= self.value, ">=": measured >= self.value, "=": measured == self.value}[self.op]


class CellRule(Value):
    """How a policy changes the counts of a table.

    Attributes:
        low: The smallest small count.
        high: The largest small count.
        small: The published text of small counts.
        base: The base to which other counts are rounded; 1 leaves them.
        complementary: Whether further cells are suppressed so that no small one can be computed.
    """

    low: Annotated[int, KeyInfo(minimum=0)]
    high: Annotated[int, KeyInfo(minimum=1)]
    small: Annotated[str | int, SMALL]
    base: Annotated[int, KeyInfo(minimum=1)] = 1
    complementary: bool = True


class Policy(Value):
    """A policy.

    Attributes:
        about: Whether it applies to rows or to tables of counts.
        source: The name of the document.
        evidence: The source of its limits.
        cells: How it changes the counts of a table, if it applies to tables.
        overrides: The original values of clauses for which the user has set others.
    """

    id: str
    version: int
    about: Literal["rows", "tables"]
    title: str
    source: str
    evidence: Evidence
    clauses: Annotated[tuple[Clause, ...], KeyInfo(at_least=1)]
    cells: CellRule | None = None
    aliases: tuple[str, ...] = ()
    note: str = ""
    overrides: dict[str, float | None] = field(default_factory=dict)

    def evidence_of(self, clause: Clause) -> Evidence:
        """Return the source of a clause's limit."""
        return clause.evidence or self.evidence

    def with_values(self, values: dict[str, float]) -> "Policy":
        """Return the policy with other values for some clauses, keeping the original ones."""
        clauses = tuple(
            replace(clause, value=values[clause.name]) if clause.name in values else clause for clause in self.clauses
        )
        before = {clause.name: clause.value for clause in self.clauses if clause.name in values}
        return replace(self, clauses=clauses, overrides=before)


SHAPE = record_of(Policy, make=Policy)


_FOLDER = Path(__file__).parent / "presets"


@cache
def policy_ids() -> tuple[str, ...]:
    """Return the ids of all policies."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


@cache
def policies() -> dict[str, Policy]:
    """Return all policies by id.

    >>> policies()["cms-11"].clauses[0].value
    11.0
    """
    return {path.stem: read(SHAPE, files.load(path), path.stem) for path in sorted(_FOLDER.glob("*.yaml"))}


@cache
def aliases() -> dict[str, str]:
    """Return further names of policies, with the id of each."""
    return {alias: policy.id for policy in policies().values() for alias in policy.aliases}


def policy_named(name: str, values: Mapping[str, float] | None = None) -> Policy:
    """Return a policy by its id or an alias, with the user's values for some clauses.

    Raises:
        PlanError: There is no such policy, or it has no such clause, or a value is invalid for it.

    >>> policy_named("nhs").id
    'nhs-hes'
    """
    policy = policies().get(aliases().get(name, name))
    if policy is None:
        raise PlanError("no-policy.is_not_a_policy", hint=did_you_mean(name, [*policies(), *aliases()]), name=name)
    settable = [clause.name for clause in policy.clauses if clause.op != "attested"]
    for key in values or {}:
        if key not in settable:
            raise PlanError("no-clause.without_value", hint=did_you_mean(key, settable), name=policy.id, word=key)
    for clause in policy.clauses:
        if clause.name in (values or {}):
            _check_value(clause, (values or {})[clause.name])
    return policy.with_values(dict(values)) if values else policy


def _check_value(clause: Clause, value: float) -> None:
    """Refuse a value that no metric of the clause can have.

    Raises:
        PlanError: It is negative or no number, or a share above 1.
    """
    most = 1.0 if clause.metric.endswith("-risk") else math.inf
    if not (0 <= value <= most and math.isfinite(value)):
        hint = Message("hint.for_example") if clause.value is None else Message("hint.policy_says", value=clause.value)
        raise PlanError("value.share" if most == 1 else "value.number", hint=hint, name=clause.name)


# The entry that denies a clause instead of attesting it.
DENIALS = ("no", "nein")
Status = Literal["satisfied", "failed", "open"]


class Measurement(Value):
    """The measurement for a clause.

    Attributes:
        figure: The number; None if it could not be measured, for the reason in `remark`.
        columns: The columns that violate it.
    """

    figure: float | None
    remark: str = ""
    columns: tuple[str, ...] = ()


class ClauseJudgment(Value):
    """The evaluation of one clause: the measured number, and who attests it if it cannot be measured."""

    clause: Clause
    status: Status
    measurement: Measurement

    def to_dict(self, policy: Policy) -> dict[str, Any]:
        clause, measured = self.clause, self.measurement
        figures = {
            "name": clause.name,
            "metric": clause.metric,
            "op": clause.op,
            "value": clause.value,
            "scope": clause.scope,
            "action": clause.action,
            "source": policy.source,
            "evidence": policy.evidence_of(clause),
            "says": clause.says,
            "status": self.status,
            "measured": measured.figure if math.isfinite(measured.figure or 0) else None,
            "columns": list(measured.columns),
            "remark": measured.remark,
        }
        if clause.name not in policy.overrides:
            return figures
        return figures | {"override": {"policy": policy.overrides[clause.name], "user": clause.value}}


class PolicyVerdict(Value):
    """The result of evaluating a policy on a file."""

    policy: Policy
    clauses: tuple[ClauseJudgment, ...]
    notes: tuple[Message, ...] = ()

    def __repr__(self) -> str:
        return f"PolicyVerdict({self.policy.id} {'holds' if self.satisfied else 'DOES NOT HOLD'}; {self.line})"

    def count(self, status: Status) -> int:
        """Return how many clauses have this status."""
        return sum(judgment.status == status for judgment in self.clauses)

    @property
    def satisfied(self) -> bool:
        """Whether no clause fails; open ones are for people to decide."""
        return not self.count("failed")

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the clauses that fail."""
        return tuple(judgment.clause.name for judgment in self.clauses if judgment.status == "failed")

    @property
    def line(self) -> str:
        """Return the result in a line."""
        opened = self.count("open")
        return f"clauses satisfied: {self.count('satisfied')} of {len(self.clauses)}" + (
            f", {opened} open" if opened else ""
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": self.policy.id,
            "version": self.policy.version,
            "title": self.policy.title,
            "source": self.policy.source,
            "evidence": self.policy.evidence,
            "note": self.policy.note,
            "passed": self.satisfied,
            "verdict": self.line,
            "satisfied": self.count("satisfied"),
            "failed": self.count("failed"),
            "open": self.count("open"),
            "clauses": [judgment.to_dict(self.policy) for judgment in self.clauses],
            "remarks": list(self.notes),
        }


def judge_policy(
    policy: Policy,
    measured: Mapping[str, Measurement],
    attested: Mapping[str, str],
    remarks: Sequence[Message] = (),
) -> PolicyVerdict:
    """Evaluate a policy.

    Args:
        policy: The policy.
        measured: The measurements, by metric.
        attested: The person who attests a clause, by the name of the clause.
        remarks: Notes for the verdict.
    """
    judgments = tuple(_judged(clause, measured, attested) for clause in policy.clauses)
    return PolicyVerdict(policy, judgments, tuple(remarks))


def _judged(clause: Clause, measured: Mapping[str, Measurement], attested: Mapping[str, str]) -> ClauseJudgment:
    if clause.op == "attested":
        return _attested(clause, attested.get(clause.name))
    measurement = measured.get(clause.metric, Measurement(None, "this is not measured on such a file."))
    if clause.value is None:
        remark = f"no value is set: {clause.name}=…"
        return ClauseJudgment(clause, "open", Measurement(measurement.figure, remark, measurement.columns))
    if measurement.figure is None:
        return ClauseJudgment(clause, "open", measurement)
    return ClauseJudgment(clause, "satisfied" if clause.keeps(measurement.figure) else "failed", measurement)


def _attested(clause: Clause, who: str | None) -> ClauseJudgment:
    """Return the evaluation of a clause that a person attests, or denies."""
    if who is None:
        return ClauseJudgment(
            clause, "open", Measurement(None, "Not attested. A responsible person must confirm this clause.")
        )
    if who.strip().lower() in DENIALS:
        return ClauseJudgment(clause, "failed", Measurement(None, "denied"))
    return ClauseJudgment(clause, "satisfied", Measurement(None, f"attested by {who}"))
