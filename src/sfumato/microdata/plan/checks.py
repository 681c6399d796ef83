"""Checks across the parts of a plan: what differential privacy, local suppression and linked files exclude."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from sfumato.errors import PlanIssue, did_you_mean, issue
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.k_anonymity import SetSizes, least_sizes
from sfumato.microdata.perturbation.plan import ShiftDays
from sfumato.microdata.plan.methods import Auto, Exhaustive, Greedy, LocalSuppression, Optimal, SafePub
from sfumato.microdata.plan.model import ColumnPlan, RequestedPlan
from sfumato.microdata.plan.parts import OutputPlan, file_faults
from sfumato.values import replace

if TYPE_CHECKING:
    from sfumato.microdata.models.differential_privacy import DifferentialPrivacy


def sampled_data(plan: RequestedPlan) -> DataPlan:
    """Return how to read rows that may be sampled: invalid values drop rows, since a refusal would reveal them."""
    if plan.data.on_invalid != "error" or not any(model.judges == "sampling" for model in plan.privacy):
        return plan.data
    return replace(plan.data, on_invalid="drop")


def sampling_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan with differential privacy, or with sampled rows."""
    promises = [cast("DifferentialPrivacy", model) for model in plan.privacy if model.judges == "sampling"]
    if isinstance(plan.method, SafePub) != bool(promises):
        return [issue("method.name", "differential_privacy_and_safepub")]
    if not promises or not isinstance(plan.method, SafePub):
        return []
    faults = [*_level_faults(plan, plan.method, promises[0]), *_private_column_faults(plan)]
    if len(plan.privacy) > 1:
        faults.append(issue("privacy", "differential_privacy_alone"))
    if plan.output.suppressed != "drop":
        faults.append(issue("output.suppressed", "suppressed_rows_not_counted"))
    if plan.output.order != "shuffle":
        faults.append(issue("output.order", "order_tells_who_was_drawn"))
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
        return [] if promise.search else [issue("method.levels", "no_epsilon_for_levels")]
    faults = [
        issue("method.levels", "is_no_quasi_identifier", hint=did_you_mean(name, plan.quasi_identifiers), name=name)
        for name in method.levels
        if name not in plan.quasi_identifiers
    ]
    faults.extend(
        issue("method.levels", "level_missing", column=name)
        for name in plan.quasi_identifiers
        if name not in method.levels
    )
    if promise.search:
        faults.append(issue("privacy.search", "levels_that_are_named"))
    return faults


def _private_column_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of published columns that are no quasi-identifiers: they would add to the disclosure."""
    faults = []
    published = plan.columns.keys() - plan.removed_columns - {*plan.quasi_identifiers}
    for name, column in plan.columns.items():
        at = f"columns.{name}"
        if name in published:
            faults.append(issue(at, "is_published_its_values", name=column.role))
        if column.role == "person":
            faults.append(issue(at, "names_persons_who_may"))
        if column.hierarchy is not None and not column.hierarchy.is_rule_based:
            faults.append(issue(at, "hierarchy_depends_on_data"))
    return faults


def cell_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan for local suppression, and of keys that only this method supports."""
    if not isinstance(plan.method, LocalSuppression):
        faults = [
            issue(f"columns.{name}.importance", "cells_alone")
            for name in plan.quasi_identifiers
            if plan.columns[name].importance != 1.0
        ]
        asked = [place for place, model in enumerate(plan.privacy) if getattr(model, "subsets", SetSizes()).entries]
        return faults + [issue(f"privacy[{at}].subsets", "only_local_suppression") for at in asked]
    faults = [
        issue(f"privacy[{place}].model", "cells_promise", name=model.name)
        for place, model in enumerate(plan.privacy)
        if "local-suppression" not in model.supported_by
    ]
    faults += _set_faults(plan)
    if plan.data.on_missing == "any":
        faults.append(issue("data.on_missing", "any_does_not_go"))
    if plan.person is not None:
        faults.append(issue("columns", "cells_does_not_go"))
    return faults + level_faults(plan)


def _set_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of models on sets of more columns than there are."""
    width = len(plan.quasi_identifiers)
    return [
        issue(f"privacy[{place}].subsets", "there_are_no_sets", count=columns, most=width)
        for place, model in enumerate(plan.privacy)
        for columns, _ in least_sizes([model])
        if columns > width
    ]


def level_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of columns with levels if the method has none."""
    return [
        issue(f"columns.{name}", "min_level_and_max")
        for name in plan.quasi_identifiers
        if plan.columns[name].min_level or plan.columns[name].max_level is not None
    ]


METHODS = (Auto, Optimal, Greedy, Exhaustive)
ROLES = ("identifier", "undecided", "quasi-identifier", "sensitive", "insensitive")


def relation_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of several files, and of shifted dates."""
    if not plan.files:
        shifts = any(isinstance(part, ShiftDays) for part in plan.perturbations.values())
        return [issue("columns", "shift_days_needs_persons")] if shifts and plan.person is None else []
    faults = file_faults(plan.files)
    if not isinstance(plan.method, METHODS):
        do = Message("hint.methods_of_files", names=", ".join(kind.name for kind in METHODS))
        faults.append(issue("method.name", "does_not_go_with_files", hint=do, name=plan.method.name))
    for place, model in enumerate(plan.privacy):
        if "linked-files" not in model.supported_by or least_sizes([model]):
            do = Message("hint.models_of_files")
            faults.append(issue(f"privacy[{place}]", "does_not_go_with_files", hint=do, name=model.name))
    faults += [fault for name, column in plan.columns.items() for fault in _linked_column_faults(name, column)]
    own = plan.output
    if own != OutputPlan(format=own.format, order=own.order, formulas=own.formulas):
        faults.append(issue("output", "only_format_and_order"))
    if plan.data.source is not None or plan.previous or plan.policy is not None or plan.other is not None:
        faults.append(issue("files", "data_source_other_policy"))
    if plan.data.on_missing != "category" or plan.data.on_invalid != "error":
        faults.append(issue("data", "with_files_missing_values"))
    return faults


def _linked_column_faults(name: str, column: ColumnPlan) -> list[PlanIssue]:
    faults = []
    if column.role not in ROLES:
        faults.append(issue(f"columns.{name}", "role_not_with_files", role=column.role))
    if column.publish is not None and column.shift_days is None:
        faults.append(issue(f"columns.{name}.publish", "only_shift_days_goes"))
    return faults
