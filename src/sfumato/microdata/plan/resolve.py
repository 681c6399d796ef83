"""Resolve a plan: fill in what it leaves open for the given data, and check the result again."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields

from sfumato.errors import PlanError, PlanIssue, did_you_mean, issue
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import code_texts
from sfumato.microdata.models.k_anonymity import least_sizes
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.models.registry import faults_of
from sfumato.microdata.perturbation.plan import Microaggregate, SwapHouseholds
from sfumato.microdata.plan.checks import cell_faults, level_faults, relation_faults, sampling_faults
from sfumato.microdata.plan.methods import (
    Auto,
    FullDomain,
    KOptimize,
    Local,
    Microaggregation,
    Mondrian,
    Optimal,
    SafePub,
)
from sfumato.microdata.plan.model import REMOVED_ROLES, ColumnPlan, Plan, RequestedPlan, Role
from sfumato.microdata.questions.question import unknown_columns
from sfumato.values import replace

# Column names that can be used unchanged in folder names.
FOLDER = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)


def resolve(plan: RequestedPlan, columns: Iterable[str] = ()) -> Plan:
    """Return the plan as carried out: the columns of the data that it leaves to `other` have that role.

    The checks of reading a plan are repeated, because a role may contradict other parts of the plan. What a
    policy chooses must have been chosen before. Models of removed columns are left out.

    Args:
        columns: Names of the columns of the data.

    Raises:
        PlanError: The plan has issues; the error lists all of them.
    """
    complete = plan.with_others(columns)
    needless = needless_models(complete)
    resolved = _made(replace(complete, privacy=tuple(model for model in complete.privacy if model not in needless)))
    if faults := faults_between(resolved):
        raise PlanError.listing(faults)
    return resolved if resolved.secret else resolved.with_secret()


def for_measuring(plan: RequestedPlan, columns: Mapping[str, ColumnPlan]) -> Plan:
    """Return a plan of some columns without privacy models, used only to measure the rows."""
    return _made(replace(plan, columns=columns, privacy=(), other=None, policy=None))


def _made(plan: RequestedPlan) -> Plan:
    return Plan(**{part.name: getattr(plan, part.name) for part in fields(plan)})


def faults_between(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues between parts of a plan; only an unresolved plan may leave columns and models open."""
    faults = _previous_faults(plan)
    chosen_later = plan.policy is not None and not isinstance(plan, Plan)
    if not plan.privacy and not chosen_later:
        faults.append(issue("privacy", "no_promise"))
    if not plan.quasi_identifiers and not chosen_later:
        faults.append(issue("columns", "no_quasi"))
    if isinstance(plan, Plan):  # until then the data may give them one
        faults.extend(issue(f"columns.{name}", "needs_ladder") for name in without_hierarchy(plan))
    if isinstance(plan.method, Mondrian):
        faults.extend(level_faults(plan))
    faults.extend(_loss_faults(plan))
    if isinstance(plan.method, KOptimize):
        faults.extend(_k_optimize_faults(plan))
    faults.extend(cell_faults(plan))
    faults.extend(_perturbation_faults(plan))
    faults.extend(sampling_faults(plan))
    faults.extend(relation_faults(plan))
    faults.extend(_protection_faults(plan))
    needless = needless_models(plan)
    for place, model in enumerate(plan.privacy):
        if model not in needless:
            faults.extend(_promise_faults(plan, model, f"privacy[{place}]"))
    faults.extend(_column_faults(plan, plan.utility.target, "utility.target"))
    faults.extend(_purpose_faults(plan))
    faults.extend(_partition_faults(plan))
    faults.extend(_subset_faults(plan))
    if plan.output.class_column in plan.columns:
        faults.append(issue("output.class_column", "name_of_a_column"))
    if len(plan.named("person")) > 1:
        faults.append(issue("columns", "persons"))
    faults.extend(_sample_faults(plan))
    if plan.person is not None and plan.data.on_missing == "any":
        faults.append(issue("data.on_missing", "any_person"))
    if plan.data.on_missing == "any" and any(model.judges != "sizes" for model in plan.guarantees):
        faults.append(issue("data.on_missing", "any_alone"))
    return faults


def without_hierarchy(plan: RequestedPlan) -> list[str]:
    """Return the quasi-identifiers that need a hierarchy for the method of the plan and have none."""
    if plan.microaggregated or not isinstance(plan.method, FullDomain | Auto | SafePub):
        return []
    return [name for name in plan.quasi_identifiers if plan.columns[name].hierarchy is None]


def needless_models(plan: RequestedPlan) -> tuple[PrivacyModel, ...]:
    """Return the models of columns that the plan removes: nothing of these is published that they could protect."""
    removed = plan.named(*REMOVED_ROLES)
    return tuple(model for model in plan.privacy if model.column in removed and model.published_subset is None)


def _protection_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of quasi-identifiers that are protected against disclosure by the others."""
    if not plan.protections:
        return []
    faults = []
    if not isinstance(plan.method, FullDomain | Auto | Local | Mondrian) or plan.microaggregated:
        faults.append(issue("method.name", "protect_method", method=plan.method.name))
    if plan.person is not None or plan.files:
        faults.append(issue("columns", "protect_person"))
    if len(plan.quasi_identifiers) < 2:
        faults.append(issue("columns", "protect_alone"))
    return faults


def _previous_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan that continues earlier releases."""
    if not plan.previous:
        return []
    faults = []
    if plan.person is None:
        faults.append(issue("previous", "needs_person_column"))
    for name, operation in plan.perturbations.items():
        if not operation.repeats:
            faults.append(issue(f"columns.{name}.publish", "drawn_again", operation=operation.name))
    if plan.publishes_keys:
        faults.append(issue("previous", "not_with_publish_key"))
    if not isinstance(plan.method, FullDomain | Auto) or isinstance(plan.method, Local):
        faults.append(issue("method.name", "does_not_go_with_previous", name=plan.method.name))
    if plan.subset is not None or plan.output.suppressed == "star":
        faults.append(issue("previous", "goes_with_neither_delta"))
    return faults


def _sample_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of how the rows were sampled."""
    faults = []
    for role in ("weight", "household"):
        if len(plan.named(role)) > 1:
            faults.append(issue("columns", "role_once", name=role))
    for place, model in enumerate(plan.privacy):
        estimated = model.needs == "weights"
        if estimated and plan.weight is not None and plan.person is not None:
            faults.append(issue(f"privacy[{place}]", "weight_does_not_go"))
        if estimated and plan.weight is None and not model.states_population:
            faults.append(issue(f"privacy[{place}]", "population", name=model.name))
        if estimated and plan.subset is not None:
            faults.append(issue(f"privacy[{place}]", "does_not_go_with_delta", name=model.name))
    return faults


def _column_faults(
    plan: RequestedPlan,
    name: str | None,
    at: str,
    roles: tuple[Role, ...] = ("sensitive", "insensitive"),
    do: str = "published_unchanged",
) -> list[PlanIssue]:
    """Return issues of a part that names a column, which must have one of some roles."""
    if name is None:
        return []
    if name not in plan.columns:
        return [issue(at, "no_such_column", hint=did_you_mean(name, plan.columns), name=name)]
    role = plan.columns[name].role
    return [] if role in roles else [issue(at, "column_role", hint=Message(f"hint.{do}"), name=name, other=role)]


def _promise_faults(plan: RequestedPlan, model: PrivacyModel, at: str) -> list[PlanIssue]:
    """Return issues of a model: its column, and the values it lists."""
    name = named_column(model)
    faults = _column_faults(plan, name, f"{at}.column", ("sensitive",), "role_sensitive")
    if plan.person is not None and not model.counts_persons and model.judges == "values":
        faults.append(issue(at, "model_needs_one_row", name=model.name))
    column = plan.columns.get(name or "")
    if column is None:
        return faults
    return [*faults, *faults_of(model, at, column.type, (*plan.data.missing, *code_texts(column.missing)))]


def named_column(model: PrivacyModel) -> str | None:
    """Return the column that a model refers to, or that marks the rows it refers to."""
    return model.column if model.published_subset is None else model.published_subset.column


def _subset_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan that publishes only a subset of the rows."""
    if plan.subset is None:
        return []
    faults = []
    if not isinstance(plan.method, FullDomain) or isinstance(plan.method, Local):
        what = Message("error.part.does_not_go_with_delta", name=plan.method.name)
        faults.append(issue("method.name", message=what, hint=Message("hint.methods_of_delta_presence")))
    if plan.data.on_missing == "drop":
        faults.append(issue("data.on_missing", "drop_does_not_go"))
    if plan.person is not None:
        # Some rows of a person may be in the subset and others not, and the list would be counted by rows.
        do = Message("error.part.list_needs_one_row")
        faults.append(issue("columns", "delta_presence_and_person", hint=do))
    if sum(model.judges == "population" for model in plan.privacy) > 1:
        faults.append(issue("privacy", "there_can_be_one"))
    if any(plan.subset.column in (model.column, plan.utility.target) for model in plan.privacy):
        faults.append(issue("privacy", "the_column_that_marks"))
    return faults


def _purpose_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of questions: columns that do not exist, or rows in several files."""
    questions = plan.purpose.questions
    if not questions:
        return []
    if plan.files:
        return [issue("purpose.questions", "questions_of_one_file")]
    if plan.other is not None or (plan.policy is not None and not isinstance(plan, Plan)):
        return []  # columns of the data are not known yet
    return unknown_columns(questions, plan.columns, "purpose.questions")


def _partition_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of the columns by which files are split into folders."""
    faults = []
    for name in plan.output.partition:
        if name not in plan.columns:
            faults.append(
                issue("output.partition", "there_is_no_column", hint=did_you_mean(name, plan.columns), column=name)
            )
        elif not FOLDER.fullmatch(name):
            faults.append(issue("output.partition", "folder_name", name=name))
    if plan.output.partition and plan.person is not None:
        what = Message("error.part.partition_persons")
        faults.append(issue("output.partition", message=what, hint=Message("hint.leave_one_out")))
    if plan.output.partition and len(set(plan.output.partition)) == len(plan.columns):
        faults.append(issue("output.partition", "no_column_is_left"))
    return faults


def _loss_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of the target column of the loss."""
    name = getattr(plan.method, "class_column", None)
    if getattr(plan.method, "loss", None) != "classification":
        return [] if name is None else [issue("method.class", "goes_with_the_loss")]
    if name is None:
        return [issue("method.class", "missing_class_column")]
    return _column_faults(plan, name, "method.class")


def _k_optimize_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan for K-Optimize."""
    faults = []
    for place, model in enumerate(plan.privacy):
        if "k-optimize" not in model.supported_by:
            faults.append(issue(f"privacy[{place}].model", "does_not_go_k", name=model.name))
    for name in plan.quasi_identifiers:
        if plan.columns[name].max_level is not None:
            faults.append(issue(f"columns.{name}.max_level", "does_not_go_with_k"))
    if plan.data.on_missing == "any":
        faults.append(issue("data.on_missing", "any_with_k_optimize"))
    return faults


def _perturbation_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of perturbed columns, and of related settings."""
    faults = _aggregation_faults(plan)
    for name, operation in plan.perturbations.items():
        at = f"columns.{name}.publish"
        if any(model.column == name for model in plan.privacy) or name in (plan.utility.target, _class_column(plan)):
            faults.append(issue(at, "a_promise_or_measure"))
        named = (*getattr(operation, "strata", ()), *getattr(operation, "similar", ()))
        for other in named:
            faults.extend(_named_faults(plan, other, at))
    if plan.perturbations and plan.output.partition:
        faults.append(issue("output.partition", "does_not_go_with_perturbation"))
    if plan.swaps_households and plan.household is None:
        faults.append(issue("columns", "swap_households_needs_household"))
    if plan.swaps_households and plan.person is not None:
        faults.append(issue("columns", "swap_households_with_persons"))
    kinds: dict[tuple[str, str | None], object] = {}
    for name, operation in plan.perturbations.items():
        if operation.group or isinstance(operation, Microaggregate | SwapHouseholds):
            other = kinds.setdefault((operation.name, operation.group), operation)
            if other != operation:
                faults.append(issue(f"columns.{name}.publish", "differs_within_group"))
    return faults


def _class_column(plan: RequestedPlan) -> str | None:
    return getattr(plan.method, "class_column", None)


def _named_faults(plan: RequestedPlan, name: str, at: str) -> list[PlanIssue]:
    """Return issues of a column that a perturbation uses: it must be published."""
    if name not in plan.columns:
        return [issue(at, "no_such_column", hint=did_you_mean(name, plan.columns), name=name)]
    hidden = name in plan.removed_columns
    return [issue(at, "unpublished_column", name=name)] if hidden else []


def _aggregation_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of microaggregated quasi-identifiers: all of them in one grouping, or none."""
    asked = [name for name in plan.quasi_identifiers if plan.columns[name].perturbation is not None]
    named = isinstance(plan.method, Microaggregation)
    if not asked:
        return [issue("method.name", "none_microaggregated")] if named else []
    faults = []
    if not plan.microaggregated:
        faults.append(issue("columns", "quasi_identifiers_microaggregated_all"))
    if not named and ("method" in plan.text or plan.method != Optimal()):
        faults.append(issue("method", "the_microaggregation_of_all"))
    for place, model in enumerate(plan.privacy):
        if "microaggregation" not in model.supported_by or least_sizes([model]):
            faults.append(issue(f"privacy[{place}]", "microaggregation_keeps_k_anonymity"))
    if plan.person is not None or plan.data.on_missing == "any":
        faults.append(issue("columns", "microaggregation_goes_with_neither"))
    return faults
