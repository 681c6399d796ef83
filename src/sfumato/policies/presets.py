"""The policies that come with Sfumato: one file each in `presets`, read when they are asked for."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from sfumato.errors import PlanError, did_you_mean
from sfumato.policies.policy import SHAPE, Policy
from sfumato.shapes import files
from sfumato.shapes.shapes import read

_FOLDER = Path(__file__).parent / "presets"


@cache
def policy_ids() -> tuple[str, ...]:
    """The ids of all policies."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


@cache
def policies() -> dict[str, Policy]:
    """All policies by their ids.

    >>> policies()["cms-11"].clauses[0].value
    11.0
    """
    return {path.stem: read(SHAPE, files.load(path), path.stem) for path in sorted(_FOLDER.glob("*.yaml"))}


@cache
def aliases() -> dict[str, str]:
    """Further names of policies, with the id of each."""
    return {alias: policy.id for policy in policies().values() for alias in policy.aliases}


def policy_named(name: str, values: Mapping[str, float] | None = None) -> Policy:
    """A policy by its id or an alias, with the user's values for some clauses.

    Raises:
        PlanError: There is no such policy, or it has no such clause, or the clause has no value.

    >>> policy_named("nhs").id
    'nhs-hes'
    """
    policy = policies().get(aliases().get(name, name))
    if policy is None:
        raise PlanError(f'"{name}" is not a policy.', did_you_mean(name, [*policies(), *aliases()]), "no-policy")
    settable = [clause.name for clause in policy.clauses if clause.op != "attested"]
    for key in values or {}:
        if key not in settable:
            raise PlanError(
                f'{policy.id} has no clause "{key}" with a value.', did_you_mean(key, settable), "no-clause"
            )
    return policy.with_values(dict(values)) if values else policy
