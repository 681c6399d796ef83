"""Resolve a plan: fill in what it leaves open for the given data, and check the result again."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

from sfumato.errors import PlanError
from sfumato.microdata.plan.model import ColumnPlan, Plan, RequestedPlan
from sfumato.microdata.plan.read import faults_between, read_plan
from sfumato.values import replace


def resolve(plan: RequestedPlan, columns: Iterable[str] = ()) -> Plan:
    """Return the plan as carried out: the columns of the data that it leaves to `other` have that role.

    The checks of reading a plan are repeated, because a role may contradict other parts of the plan. What a
    policy chooses must have been chosen before.

    Args:
        columns: Names of the columns of the data.

    Raises:
        PlanError: With all faults.
    """
    resolved = _made(plan.with_others(columns))
    if faults := faults_between(resolved):
        raise PlanError.listing(faults)
    return resolved if resolved.secret else resolved.with_secret()


def for_measuring(plan: RequestedPlan, columns: Mapping[str, ColumnPlan]) -> Plan:
    """Return a plan of some columns without models: rows are measured by it, and nothing is published or evaluated."""
    return _made(replace(plan, columns=columns, privacy=(), other=None, policy=None))


def released_plan(folder: Path) -> Plan:
    """Return the plan in a release folder.

    Raises:
        PlanError: With all faults.
    """
    return resolve(read_plan(folder / "plan.yaml"))


def _made(plan: RequestedPlan) -> Plan:
    return Plan(**{part.name: getattr(plan, part.name) for part in fields(plan)})
