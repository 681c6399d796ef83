"""Checks of plans for differential privacy: what the guarantee requires of the plan for the published file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.errors import PlanIssue, did_you_mean, issue
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.model_names import is_differential_privacy
from sfumato.microdata.plan.methods import SafePub
from sfumato.microdata.plan.model import RequestedPlan

if TYPE_CHECKING:
    from sfumato.microdata.models.differential_privacy import DifferentialPrivacy


def sampled_data(plan: RequestedPlan) -> DataPlan:
    """How rows are read that may be sampled: values that do not fit drop theirs, since a refusal would reveal them."""
    if plan.data.on_invalid != "error" or not any(map(is_differential_privacy, plan.privacy)):
        return plan.data
    return replace(plan.data, on_invalid="drop")


def sampling_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan with differential privacy, or with sampled rows."""
    promises = [model for model in plan.privacy if is_differential_privacy(model)]
    if isinstance(plan.method, SafePub) != bool(promises):
        do = "Use privacy: {model: differential-privacy, …} and method: {name: safepub} together."
        return [issue("method.name", "differential_privacy_and_safepub", hint=do)]
    if not promises or not isinstance(plan.method, SafePub):
        return []
    faults = [*_level_faults(plan, plan.method, promises[0]), *_column_faults(plan)]
    if len(plan.privacy) > 1:
        do = "Its classes are large anyway; others would choose by the data what is withheld."
        faults.append(issue("privacy", "differential_privacy_goes_with", hint=do))
    if plan.output.suppressed != "drop":
        faults.append(issue("output.suppressed", "withheld_rows_must_not"))
    if plan.output.order != "shuffle":
        faults.append(issue("output.order", "the_order_of_the"))
    if plan.policy is not None:
        do = Message("error.part.leave_the_policy_out")
        faults.append(issue("policy", "policy_judges_by_rows", hint=do))
    if plan.output.class_column is not None:
        faults.append(issue("output.class_column", "is_published_no_quasi"))
    if plan.data.on_missing == "any":
        faults.append(issue("data.on_missing", "any_does_not_go_with_differential"))
    data = plan.text.get("data")
    if isinstance(data, Mapping) and data.get("on_invalid") == "error":
        faults.append(issue("data.on_invalid", "sampling_invalid"))
    return faults


def _level_faults(plan: RequestedPlan, method: SafePub, promise: "DifferentialPrivacy") -> list[PlanIssue]:
    """Return issues of the levels: named for all quasi-identifiers, or drawn with a part of epsilon."""
    if not method.levels:
        return [] if promise.search else [issue("method.levels", "levels_are_drawn_with")]
    faults = [
        issue("method.levels", "is_no_quasi_identifier", hint=did_you_mean(name, plan.quasi_identifiers), name=name)
        for name in method.levels
        if name not in plan.quasi_identifiers
    ]
    faults.extend(
        issue("method.levels", "the_level_of_is", column=name)
        for name in plan.quasi_identifiers
        if name not in method.levels
    )
    if promise.search:
        faults.append(issue("privacy.search", "levels_that_are_named"))
    return faults


def _column_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of published columns that are no quasi-identifiers: they would add to the disclosure."""
    faults = []
    published = plan.columns.keys() - plan.removed_columns - {*plan.quasi_identifiers}
    for name, column in plan.columns.items():
        at = f"columns.{name}"
        if name in published:
            do = "Every published column must be a quasi-identifier with a hierarchy; withhold others (identifier)."
            faults.append(issue(at, "is_published_its_values", hint=do, name=column.role))
        if column.role == "person":
            do = "The promise is about rows. Make one row of each person first, or leave the role out and say so."
            faults.append(issue(at, "names_persons_who_may", hint=do))
        if column.hierarchy is not None and not column.hierarchy.is_rule_based:
            faults.append(issue(at, "its_hierarchy_looks_at"))
    return faults
