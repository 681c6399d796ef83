"""The policies that come with Sfumato: one file each in `presets`, loaded on demand."""

import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sfumato.errors import PlanError, did_you_mean
from sfumato.localization.messages import Message
from sfumato.policies.policy import SHAPE, Clause, Policy
from sfumato.schema import files
from sfumato.schema.composite import read

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
            raise PlanError(
                "no-clause.has_no_clause_with_a", hint=did_you_mean(key, settable), name=policy.id, word=key
            )
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
