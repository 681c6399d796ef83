"""Checks of plans for differential privacy: what the guarantee requires of the plan for the published file."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.errors import PlanIssue, did_you_mean
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
        return [PlanIssue("method.name", "differential privacy and safepub go together.", do)]
    if not promises or not isinstance(plan.method, SafePub):
        return []
    faults = [*_level_faults(plan, plan.method, promises[0]), *_column_faults(plan)]
    if len(plan.privacy) > 1:
        do = "Its classes are large anyway; others would choose by the data what is withheld."
        faults.append(PlanIssue("privacy", "differential privacy cannot be combined with another privacy model.", do))
    if plan.output.suppressed != "drop":
        faults.append(PlanIssue("output.suppressed", "suppressed rows must not be counted in the file.", "Use drop."))
    if plan.output.order != "shuffle":
        faults.append(PlanIssue("output.order", "the order of the rows must not tell who was drawn.", "Use shuffle."))
    if plan.policy is not None:
        do = "Leave the policy out; hold the release against it with: sfumato check FILE --policy NAME."
        faults.append(
            PlanIssue("policy", "chooses and judges by the rows: it does not go with differential privacy.", do)
        )
    if plan.output.class_column is not None:
        faults.append(PlanIssue("output.class_column", "is published and no quasi-identifier.", "Leave it out."))
    if plan.data.on_missing == "any":
        faults.append(
            PlanIssue("data.on_missing", "any does not go with differential privacy.", "Use category or drop.")
        )
    data = plan.text.get("data")
    if isinstance(data, Mapping) and data.get("on_invalid") == "error":
        what = "a refusal would reveal the row whose value does not fit."
        faults.append(PlanIssue("data.on_invalid", what, "Use drop or missing; unless given it is drop."))
    return faults


def _level_faults(plan: RequestedPlan, method: SafePub, promise: "DifferentialPrivacy") -> list[PlanIssue]:
    """Return issues of the levels: named for all quasi-identifiers, or drawn with a part of epsilon."""
    if not method.levels:
        do = "Name method.levels, or give privacy.search a share of epsilon."
        return [] if promise.search else [PlanIssue("method.levels", "levels are drawn with no part of epsilon.", do)]
    faults = [
        PlanIssue("method.levels", f'"{name}" is no quasi-identifier.', did_you_mean(name, plan.quasi_identifiers))
        for name in method.levels
        if name not in plan.quasi_identifiers
    ]
    faults.extend(
        PlanIssue("method.levels", f'the level of "{name}" is missing.', "Name all of them, or none.")
        for name in plan.quasi_identifiers
        if name not in method.levels
    )
    if promise.search:
        faults.append(PlanIssue("privacy.search", "levels that are named cost no epsilon.", "Say search: 0."))
    return faults


def _column_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of published columns that are no quasi-identifiers: they would add to the disclosure."""
    faults = []
    published = plan.columns.keys() - plan.removed_columns - {*plan.quasi_identifiers}
    for name, column in plan.columns.items():
        at = f"columns.{name}"
        if name in published:
            do = "Every published column must be a quasi-identifier with a hierarchy; withhold others (identifier)."
            faults.append(
                PlanIssue(at, f"is {column.role} and published: its values reveal which rows were drawn.", do)
            )
        if column.role == "person":
            do = "The promise is about rows. Make one row of each person first, or leave the role out and say so."
            faults.append(PlanIssue(at, "names persons, who may have several rows.", do))
        if column.hierarchy is not None and not column.hierarchy.is_rule_based:
            faults.append(PlanIssue(at, "its hierarchy looks at the data.", "Name its start and end, or its length."))
    return faults
