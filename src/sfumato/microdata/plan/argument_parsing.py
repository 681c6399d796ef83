"""Parse the arguments of the plan builder like a plan file, or refuse them with a hint what to write instead."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, get_args

from sfumato.errors import PlanError, PlanIssue
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.methods import Method
from sfumato.microdata.plan.model import ColumnPlan, OutputPlan, RequestedPlan, UtilityPlan
from sfumato.microdata.plan.plan_schema import PLAN
from sfumato.microdata.plan.policy_plan import PolicyPlan
from sfumato.schema.composite import kind_of
from sfumato.schema.issues import PlanIssues, Refused
from sfumato.schema.release_plan import ReleasePlan

# Parts that must be objects, and how to write them.
VALUES: dict[str, tuple[tuple[type, ...], str]] = {
    "method": (get_args(Method), "Say sf.Local(), sf.Optimal(), …"),
    "data": ((DataPlan,), "Say sf.DataPlan(…)."),
    "output": ((OutputPlan,), "Say sf.OutputPlan(…)."),
    "utility": ((UtilityPlan,), "Say sf.UtilityPlan(…)."),
    "release": ((ReleasePlan,), "Say sf.ReleasePlan(…)."),
}


def given_parts(
    promises: Iterable[object], columns: Mapping[str, object], values: Mapping[str, object], plain: Mapping[str, object]
) -> dict[str, Any]:
    """Return the plain parts of a plan as a plan file has them, if all arguments are valid.

    Args:
        values: Parts given as objects; plain: those given as in a plan file. None means not given.

    Raises:
        PlanError: With all faults.
    """
    faults = PlanIssues([*promise_faults(promises), *_column_faults(columns), *_value_faults(values)])
    parts: dict[str, Any] = {}
    for key, value in plain.items():
        if value is not None:
            with suppress(Refused):
                parts[key] = value if isinstance(value, PolicyPlan) else PLAN.keys[key].shape.read(value, key, faults)
    if faults.entries:
        raise PlanError(faults.entries, code="faults")
    return parts


def refuse_promises(promises: Iterable[object]) -> None:
    """Refuse arguments that are no privacy models."""
    faults = promise_faults(promises)
    if faults:
        raise PlanError(faults, code="faults")


def promise_faults(promises: Iterable[object]) -> list[PlanIssue]:
    """Return issues of arguments that should be privacy models."""
    do = "Say sf.Plan(sf.KAnonymity(5)), or read a plan file or mapping: sf.read_plan."
    return [
        PlanIssue(f"privacy[{place}]", f"must be a privacy model, is {kind_of(promise)}.", do)
        for place, promise in enumerate(promises)
        if isinstance(promise, type) or not hasattr(promise, "violating")
    ]


def _column_faults(columns: Mapping[str, object]) -> list[PlanIssue]:
    faults: list[PlanIssue] = []
    for name, column in columns.items():
        if not isinstance(column, ColumnPlan):
            do = f'Say sf.Plan(…).identifiers("{name}") or .quasi("{name}"), or read a mapping: sf.read_plan({{…}}).'
            faults.append(PlanIssue(f"columns.{name}", f"must be a column, is {kind_of(column)}.", do))
    return faults


def _value_faults(values: Mapping[str, object]) -> list[PlanIssue]:
    """Return issues of parts that must be objects and not names, mappings or classes."""
    faults: list[PlanIssue] = []
    for key, value in values.items():
        kinds, way = VALUES[key]
        if value is not None and not isinstance(value, kinds):
            faults.append(
                PlanIssue(key, f"must be a value, is {kind_of(value)}.", f"{way} Mappings go to sf.read_plan.")
            )
    return faults


@contextmanager
def at_column(name: str) -> Iterator[None]:
    """Within this context, issues are reported with the path of a column."""
    try:
        yield
    except PlanError as error:
        faults = [
            PlanIssue(f"columns.{name}" + fault.path.removeprefix(ColumnPlan.__name__), fault.message, fault.hint)
            for fault in error.issues
        ]
        raise PlanError(faults, code="faults") from None


def refuse_contradictions(plan: RequestedPlan) -> None:
    """Refuse models of columns that have another role."""
    about = [(name, plan.columns[name].role) for one in plan.privacy if (name := one.column) in plan.columns and name]
    faults = [
        PlanIssue(
            f"columns.{name}",
            f"is {role}, but a privacy model refers to it.",
            "Make it sensitive, or request another model.",
        )
        for name, role in about
        if role != "sensitive"
    ]
    if faults:
        raise PlanError(faults, code="faults")
