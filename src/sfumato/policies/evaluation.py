"""Evaluate a policy on a file: each clause satisfied, failed or open, with the measurement; never "compliant"."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from sfumato.policies.policy import Clause, Policy
from sfumato.values import Value

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
    notes: tuple[str, ...] = ()

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
    remarks: Sequence[str] = (),
) -> PolicyVerdict:
    """Evaluate a policy.

    Args:
        measured: The measurements, by metric; attested: who attests a clause, by its name.
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
