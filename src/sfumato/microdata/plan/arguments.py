"""Parse the arguments of the plan builder like a plan file, or refuse them with a hint what to write instead."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, get_args

from sfumato.errors import PlanError, PlanIssue, issue
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.methods import Method
from sfumato.microdata.plan.model import REMOVED_ROLES, ColumnPlan, RequestedPlan
from sfumato.microdata.plan.parts import OutputPlan, PolicyPlan, UtilityPlan
from sfumato.microdata.plan.write import PLAN
from sfumato.microdata.questions.question import PurposePlan
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
    "purpose": ((PurposePlan,), "Say plan.asking(…)."),
}


def given_parts(
    promises: Iterable[object], columns: Mapping[str, object], values: Mapping[str, object], plain: Mapping[str, object]
) -> dict[str, Any]:
    """Return the plain parts of a plan as a plan file has them, if all arguments are valid.

    Args:
        values: Parts given as objects; None means not given.
        plain: Parts given as in a plan file; None means not given.

    Raises:
        PlanError: The arguments have issues; the error lists all of them.
    """
    faults = PlanIssues([*promise_faults(promises), *_column_faults(columns), *_value_faults(values)])
    parts: dict[str, Any] = {}
    for key, value in plain.items():
        if value is not None:
            with suppress(Refused):
                parts[key] = value if isinstance(value, PolicyPlan) else PLAN.keys[key].shape.read(value, key, faults)
    if faults.entries:
        raise PlanError.listing(faults.entries)
    return parts


def refuse_promises(promises: Iterable[object]) -> None:
    """Refuse arguments that are no privacy models."""
    faults = promise_faults(promises)
    if faults:
        raise PlanError.listing(faults)


def promise_faults(promises: Iterable[object]) -> list[PlanIssue]:
    """Return issues of arguments that should be privacy models."""
    return [
        issue(f"privacy[{place}]", "must_be_a_promise", kind=kind_of(promise))
        for place, promise in enumerate(promises)
        if isinstance(promise, type) or not hasattr(promise, "violating")
    ]


def _column_faults(columns: Mapping[str, object]) -> list[PlanIssue]:
    faults: list[PlanIssue] = []
    for name, column in columns.items():
        if not isinstance(column, ColumnPlan):
            faults.append(issue(f"columns.{name}", "must_be_a_column", kind=kind_of(column), name=name))
    return faults


def _value_faults(values: Mapping[str, object]) -> list[PlanIssue]:
    """Return issues of parts that must be objects and not names, mappings or classes."""
    faults: list[PlanIssue] = []
    for key, value in values.items():
        kinds, way = VALUES[key]
        if value is not None and not isinstance(value, kinds):
            faults.append(issue(key, "must_be_a_value", kind=kind_of(value), way=way))
    return faults


@contextmanager
def at_column(name: str) -> Iterator[None]:
    """Within this context, issues are reported with the path of a column."""
    try:
        yield
    except PlanError as error:
        faults = [
            issue(
                f"columns.{name}" + fault.path.removeprefix(ColumnPlan.__name__), message=fault.message, hint=fault.hint
            )
            for fault in error.issues
        ]
        raise PlanError.listing(faults) from None


def refuse_contradictions(plan: RequestedPlan) -> None:
    """Refuse models of columns that are published in another role; those of removed columns are needless."""
    about = [(name, plan.columns[name].role) for one in plan.privacy if (name := one.column) in plan.columns and name]
    faults = [
        issue(f"columns.{name}", "about", name=role)
        for name, role in about
        if role not in ("sensitive", *REMOVED_ROLES)
    ]
    if faults:
        raise PlanError.listing(faults)
