"""Attack results for policy clauses: measured if original rows are available, or read from the release folder."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.microdata.plan.model import Plan
from sfumato.pipelines.attacks.attack import attack
from sfumato.pipelines.policies.rows_evidence import Roles
from sfumato.policies.evaluation import Measurement
from sfumato.policies.policy import Policy

# The kind of attack for each risk metric.
ATTACKS = {"linking-risk": "linking", "inference-risk": "inference"}
NOT_ATTACKED = (
    "No attack was run. Provide the original rows (--raw FILE), or attack the folder: sfumato attack DIR --save."
)


def measure_attacks(
    policy: Policy, release: Any, roles: Roles, plan: Plan | None, raw: Any, control: Any
) -> dict[str, Measurement]:
    """Measure the risks of the attacks that clauses require.

    Args:
        release: A release folder, a file or a frame.
        plan: The plan behind it, or None.
        raw: The raw rows, or None if they are not available.
        control: Rows that were never published, or None.
    """
    metrics = [clause.metric for clause in policy.clauses if clause.metric in ATTACKS]
    if not metrics:
        return {}
    figures = _saved(release) if raw is None else _attacked(release, roles, plan, raw, control)
    if figures is None:
        return dict.fromkeys(metrics, Measurement(None, NOT_ATTACKED))
    return {metric: _risk(figures, ATTACKS[metric]) for metric in metrics}


def _attacked(release: Any, roles: Roles, plan: Plan | None, raw: Any, control: Any) -> Mapping[str, Any]:
    columns: dict[str, Any] = (
        {"quasi_identifiers": roles.quasi_identifiers, "sensitive": roles.sensitive} if plan is None else {}
    )
    return attack(release, raw, control=control, plan=plan, **columns).to_dict()


def _saved(release: Any) -> Mapping[str, Any] | None:
    """Return the attack results in the report of a release folder, or None."""
    path = release / "report.json" if isinstance(release, Path) else None
    if path is None or not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8")).get("attack")
    return content if isinstance(content, dict) else None


def _risk(figures: Mapping[str, Any], kind: str) -> Measurement:
    """Return the greatest risk of attacks of a kind; failed attacks count as risk 0."""
    attacks = [one for one in figures["attacks"] if one["attack"] == kind and one["counted"] and one["attempts"]]
    if not attacks:
        reasons = [one["why"] for one in figures["not_run"] if one["attack"] == kind]
        return Measurement(None, "not attacked: " + (" ".join(reasons) or "there was nothing to try."))
    risks = [one["risk"] for one in attacks if one["evidence"]]
    what = f"{len(risks)} of {len(attacks)} attacks succeeded: a measurement, no proof."
    return Measurement(max(risks, default=0.0), what)
