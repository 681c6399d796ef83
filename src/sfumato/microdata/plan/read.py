"""Read a plan: YAML, JSON or a mapping becomes a requested plan, or all its issues are reported at once."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.errors import PlanError, PlanIssue, did_you_mean
from sfumato.microdata.column_transforms.perturbation import Microaggregate, SwapHouseholds
from sfumato.microdata.missing_codes import code_texts
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.listed_values import faults_of, in_one_text
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.models.model_names import is_delta_presence, is_estimated, is_k_map
from sfumato.microdata.models.registry import located
from sfumato.microdata.plan.builder import Plan
from sfumato.microdata.plan.differential_privacy_checks import sampled_data, sampling_faults
from sfumato.microdata.plan.linked_files_checks import relation_faults
from sfumato.microdata.plan.local_suppression_checks import cell_faults, level_faults
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
from sfumato.microdata.plan.model import Plan as ResolvedPlan
from sfumato.microdata.plan.model import RequestedPlan, Role
from sfumato.microdata.plan.plan_schema import CHOSEN_BY_POLICY, PLAN
from sfumato.schema import files
from sfumato.schema.composite import JsonSchema, kind_of
from sfumato.schema.issues import PlanIssues, Refused

WHAT_A_PLAN_IS = (
    "A plan is a YAML or JSON file that says what each column is; one is proposed for a file of rows by: "
    "sfumato suggest ROWS --out plan.yaml"
)
# Column names that can be used unchanged in folder names.
FOLDER = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)


def read_plan(plan: RequestedPlan | Mapping[str, Any] | str | Path, folder: Path | None = None) -> Plan:
    """Read a plan from a file, a mapping, or Python objects; all its issues are reported at once.

    Args:
        folder: Where the relative paths of a mapping start; the working folder by default.

    >>> plan = read_plan({"version": 1, "columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
    ...                   "privacy": [{"model": "k-anonymity", "k": 2}]})
    >>> plan.quasi_identifiers
    ('sex',)
    """
    if isinstance(plan, RequestedPlan):
        return _checked(plan)
    if isinstance(plan, Mapping):
        return _read(plan, folder or Path())
    if not isinstance(plan, str | Path):
        raise PlanError(
            f"a plan is a file, a mapping or a sf.Plan, and this is {kind_of(plan)}.",
            "Let one be proposed: sf.suggest(frame).",
            "no-plan",
        )
    path = Path(plan)
    return _read(files.load_plan(path, WHAT_A_PLAN_IS), path.parent)


def _checked(plan: RequestedPlan) -> Plan:
    """Return a plan made in Python, with the values listed in its models as canonical texts."""
    if faults := faults_between(plan):
        raise PlanError(faults, code="faults")
    privacy = tuple(_in_one_text(model, plan) for model in plan.privacy)
    method = Microaggregation() if plan.microaggregated and not plan.text else plan.method
    data = sampled_data(plan)
    same = (privacy, method, data) == (plan.privacy, plan.method, plan.data)
    return Plan.of(plan if same else replace(plan, privacy=privacy, method=method, data=data))


def _read(value: object, folder: Path) -> Plan:
    _refuse_tables(value)
    faults = PlanIssues()
    plan: RequestedPlan | None = None
    if isinstance(value, Mapping) and "policy" not in value:
        for key in (key for key in CHOSEN_BY_POLICY if key not in value):
            faults.refuse(key, "is missing.")
    with suppress(Refused):
        plan = PLAN.read(value, "", faults)
    plan = None if faults.entries else plan
    whole = plan if plan is not None else _salvaged(value)
    text = dict(value) if isinstance(value, Mapping) else {}
    if whole is not None:
        whole = replace(whole, text=text)
        unsure = () if plan is not None else ("columns",) if whole.method.name else ("columns", "method.name")
        faults.entries.extend(fault for fault in faults_between(whole) if fault.path not in unsure)
    if faults.entries or plan is None:
        raise PlanError(faults.entries, code="faults")
    privacy = tuple(_resolved(model, plan, folder) for model in plan.privacy)
    method = Microaggregation() if plan.microaggregated and "method" not in text else plan.method
    data = sampled_data(plan)
    return Plan.of(replace(plan, folder=folder, text=text, privacy=privacy, method=method, data=data))


def _salvaged(value: object) -> RequestedPlan | None:
    from sfumato.microdata.plan.partial_plan import salvaged

    return salvaged(value, PLAN)


def _refuse_tables(value: object) -> None:
    """Refuse the plan of a table with one clear message instead of key by key."""
    if isinstance(value, Mapping) and {"table", "tables"} & value.keys() and not {"privacy", "policy"} & value.keys():
        raise PlanError(
            "this is the plan of a table, not of rows.",
            "Tables are protected by: sfumato protect PLAN --out FOLDER, and judged by: sfumato audit.",
            "of-a-table",
        )


def _resolved(model: PrivacyModel, plan: RequestedPlan, folder: Path) -> PrivacyModel:
    """Return a model with its paths resolved, and its values as canonical texts."""
    return located(_in_one_text(model, plan), folder)


def _in_one_text(model: PrivacyModel, plan: RequestedPlan) -> PrivacyModel:
    column = plan.columns.get(_named_column(model) or "")
    return model if column is None else in_one_text(model, column.type)


def faults_between(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues between parts of a plan; only an unresolved plan may leave columns and models open."""
    faults = _previous_faults(plan)
    chosen_later = plan.policy is not None and not isinstance(plan, ResolvedPlan)
    if not plan.privacy and not chosen_later:
        faults.append(
            PlanIssue(
                "privacy", "no privacy model is requested.", "Request a privacy model: sf.Plan(sf.KAnonymity(5), …)."
            )
        )
    if not plan.quasi_identifiers and not chosen_later:
        faults.append(PlanIssue("columns", "no column is a quasi-identifier.", "Give at least one that role."))
    for name in plan.quasi_identifiers:
        if (
            plan.columns[name].hierarchy is None
            and isinstance(plan.method, FullDomain | Auto | SafePub)
            and not plan.microaggregated
        ):
            faults.append(
                PlanIssue(f"columns.{name}", "a quasi-identifier needs a hierarchy.", "At least {type: any}.")
            )
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
    for place, model in enumerate(plan.privacy):
        faults.extend(_promise_faults(plan, model, f"privacy[{place}]"))
    faults.extend(_column_faults(plan, plan.utility.target, "utility.target"))
    faults.extend(_partition_faults(plan))
    faults.extend(_subset_faults(plan))
    if plan.output.class_column in plan.columns:
        faults.append(PlanIssue("output.class_column", "is the name of a column of the data.", "Choose another name."))
    if len(plan.named("person")) > 1:
        faults.append(PlanIssue("columns", "more than one column names the person.", "Give one of them that role."))
    faults.extend(_sample_faults(plan))
    if plan.person is not None and plan.data.on_missing == "any":
        faults.append(PlanIssue("data.on_missing", "any does not go with a person column.", "Use category or drop."))
    if plan.data.on_missing == "any" and any(model.name != "k-anonymity" for model in plan.guarantees):
        faults.append(PlanIssue("data.on_missing", "any goes with k-anonymity alone.", "Use category or drop."))
    return faults


def _protection_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of quasi-identifiers that are protected against disclosure by the others."""
    if not plan.protections:
        return []
    faults = []
    if not isinstance(plan.method, FullDomain | Auto | Local | Mondrian) or plan.microaggregated:
        do = "Use optimal, samarati, greedy, exhaustive, local, mondrian or auto."
        faults.append(PlanIssue("method.name", f"{plan.method.name} does not go with protect.", do))
    if plan.person is not None or plan.files:
        faults.append(PlanIssue("columns", "protect goes with neither person nor files.", "Leave protect out."))
    if len(plan.quasi_identifiers) < 2:
        faults.append(PlanIssue("columns", "protect needs another quasi-identifier.", "Make the column sensitive."))
    return faults


def _previous_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan that continues earlier releases."""
    if not plan.previous:
        return []
    faults = []
    if plan.person is None:
        do = "Give the column that names the person of a row that role: earlier releases are compared by persons."
        faults.append(PlanIssue("previous", "needs a column of role person.", do))
    for name, operation in plan.perturbations.items():
        if not operation.repeats:
            what = f"{operation.name} is drawn again in each release, and comparing them undoes it."
            faults.append(PlanIssue(f"columns.{name}.publish", what, "Use noise or pram without group or strata."))
    if plan.publishes_keys:
        do = "Keys that stay would tie the releases together, keys that change would hide nobody: leave publish out."
        faults.append(PlanIssue("previous", "does not go with publish: key.", do))
    if not isinstance(plan.method, FullDomain | Auto) or isinstance(plan.method, Local):
        do = "The recoding of the earlier release is kept: use optimal, samarati, greedy, exhaustive or auto."
        faults.append(PlanIssue("method.name", f"{plan.method.name} does not go with previous.", do))
    if plan.subset is not None or plan.output.suppressed == "star":
        faults.append(PlanIssue("previous", "goes with neither delta-presence nor suppressed: star.", "Leave one out."))
    return faults


def _sample_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of how the rows were sampled."""
    faults = []
    for role in ("weight", "household"):
        if len(plan.named(role)) > 1:
            faults.append(PlanIssue("columns", f"more than one column is the {role}.", "Give one of them that role."))
    if plan.weight is not None and plan.person is not None:
        faults.append(
            PlanIssue("columns", "weight does not go with person.", "Weights are those of rows: take one off.")
        )
    for place, model in enumerate(plan.privacy):
        estimated = is_estimated(model)
        if estimated and plan.weight is None and not _population_told(model):
            do = "Give a column the role weight, or the promise its sampling_fraction."
            faults.append(PlanIssue(f"privacy[{place}]", f"{model.name} needs to know the population.", do))
        if estimated and plan.subset is not None:
            faults.append(PlanIssue(f"privacy[{place}]", f"{model.name} does not go with delta-presence.", "Drop one."))
    return faults


def _population_told(model: PrivacyModel) -> bool:
    """Return whether a model of the population states its size itself."""
    return getattr(model, "sampling_fraction", None) is not None or getattr(model, "population_size", None) is not None


def _column_faults(
    plan: RequestedPlan,
    name: str | None,
    at: str,
    roles: tuple[Role, ...] = ("sensitive", "insensitive"),
    do: str = "It must be published as it is.",
) -> list[PlanIssue]:
    """Return issues of a part that names a column, which must have one of some roles."""
    if name is None:
        return []
    if name not in plan.columns:
        return [PlanIssue(at, f'there is no column "{name}" in the plan.', did_you_mean(name, plan.columns))]
    role = plan.columns[name].role
    return [] if role in roles else [PlanIssue(at, f'the column "{name}" is {role}.', do)]


def _promise_faults(plan: RequestedPlan, model: PrivacyModel, at: str) -> list[PlanIssue]:
    """Return issues of a model: its column, and the values it lists."""
    name = _named_column(model)
    faults = _column_faults(plan, name, f"{at}.column", ("sensitive",), "Give it the role sensitive.")
    column = plan.columns.get(name or "")
    if column is None:
        return faults
    return [*faults, *faults_of(model, at, column.type, (*plan.data.missing, *code_texts(column.missing)))]


def _named_column(model: PrivacyModel) -> str | None:
    """Return the column that a model refers to, or that marks the rows it refers to."""
    return model.subset.column if is_delta_presence(model) else model.column


def _subset_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan that publishes only a subset of the rows."""
    if plan.subset is None:
        return []
    faults = []
    if not isinstance(plan.method, FullDomain) or isinstance(plan.method, Local):
        what = f"{plan.method.name} does not go with delta-presence."
        do = "Classes of their own stand for nobody of the list: use optimal, samarati, greedy or exhaustive."
        faults.append(PlanIssue("method.name", what, do))
    if plan.data.on_missing == "drop":
        faults.append(PlanIssue("data.on_missing", "drop does not go with delta-presence.", "Use category."))
    if plan.person is not None:
        # Some rows of a person may be in the subset and others not, and the list would be counted by rows.
        do = "The list needs one row a person: name the column that names them an identifier."
        faults.append(PlanIssue("columns", "delta-presence does not go with a person column.", do))
    if sum(is_delta_presence(model) or is_k_map(model) for model in plan.privacy) > 1:
        faults.append(PlanIssue("privacy", "there can be one list or population of persons.", "Leave one model out."))
    if any(plan.subset.column in (model.column, plan.utility.target) for model in plan.privacy):
        faults.append(
            PlanIssue("privacy", "the column that marks the subset is not published.", "Request another model.")
        )
    return faults


def _partition_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of the columns by which files are split into folders."""
    faults = []
    for name in plan.output.partition:
        if name not in plan.columns:
            faults.append(
                PlanIssue("output.partition", f'there is no column "{name}".', did_you_mean(name, plan.columns))
            )
        elif not FOLDER.fullmatch(name):
            what = f'folders cannot be named after "{name}".'
            faults.append(
                PlanIssue("output.partition", what, "Rename the column: letters from a to z, digits, _ and -.")
            )
    if plan.output.partition and plan.person is not None:
        what = "does not go with a person column: persons are recorded in the order of the rows."
        faults.append(PlanIssue("output.partition", what, "Leave one out."))
    if plan.output.partition and len(set(plan.output.partition)) == len(plan.columns):
        faults.append(PlanIssue("output.partition", "no column is left for the files.", "Leave one out."))
    return faults


def _loss_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of the target column of the loss."""
    name = getattr(plan.method, "class_column", None)
    if getattr(plan.method, "loss", None) != "classification":
        return (
            [] if name is None else [PlanIssue("method.class", "goes with the loss classification alone.", "Drop it.")]
        )
    if name is None:
        return [PlanIssue("method.class", "is missing.", "Name the column in which classes should agree.")]
    return _column_faults(plan, name, "method.class")


def _k_optimize_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan for K-Optimize."""
    faults = []
    for place, model in enumerate(plan.privacy):
        if not isinstance(model, KAnonymity):
            what = f"{model.name} does not go with k-optimize."
            faults.append(PlanIssue(f"privacy[{place}].model", what, "Its proof is for k-anonymity alone."))
    for name in plan.quasi_identifiers:
        if plan.columns[name].max_level is not None:
            faults.append(PlanIssue(f"columns.{name}.max_level", "does not go with k-optimize.", "It merges freely."))
    if plan.data.on_missing == "any":
        faults.append(PlanIssue("data.on_missing", "any does not go with k-optimize.", "Use category or drop."))
    return faults


def _perturbation_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of perturbed columns, and of related settings."""
    faults = _aggregation_faults(plan)
    for name, operation in plan.perturbations.items():
        at = f"columns.{name}.publish"
        if any(model.column == name for model in plan.privacy) or name in (plan.utility.target, _class_column(plan)):
            faults.append(
                PlanIssue(
                    at,
                    "a privacy model or measure refers to this column.",
                    "Perturb another column, or request a weaker model.",
                )
            )
        named = (*getattr(operation, "strata", ()), *getattr(operation, "similar", ()))
        for other in named:
            faults.extend(_named_faults(plan, other, at))
    if plan.perturbations and plan.output.partition:
        faults.append(PlanIssue("output.partition", "does not go with perturbation.", "Leave one out."))
    if plan.swaps_households and plan.household is None:
        faults.append(PlanIssue("columns", "swap_households needs a column of role household.", "Name it."))
    if plan.swaps_households and plan.person is not None:
        faults.append(PlanIssue("columns", "swap_households does not go with a person column.", "Leave one out."))
    kinds: dict[tuple[str, str | None], object] = {}
    for name, operation in plan.perturbations.items():
        if operation.group or isinstance(operation, Microaggregate | SwapHouseholds):
            other = kinds.setdefault((operation.name, operation.group), operation)
            if other != operation:
                faults.append(
                    PlanIssue(f"columns.{name}.publish", "differs from others of its group.", "Say the same.")
                )
    return faults


def _class_column(plan: RequestedPlan) -> str | None:
    return getattr(plan.method, "class_column", None)


def _named_faults(plan: RequestedPlan, name: str, at: str) -> list[PlanIssue]:
    """Return issues of a column that a perturbation uses: it must be published."""
    if name not in plan.columns:
        return [PlanIssue(at, f'there is no column "{name}" in the plan.', did_you_mean(name, plan.columns))]
    hidden = name in plan.removed_columns
    return [PlanIssue(at, f'the column "{name}" is not published.', "Name another.")] if hidden else []


def _aggregation_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of microaggregated quasi-identifiers: all of them in one grouping, or none."""
    asked = [name for name in plan.quasi_identifiers if plan.columns[name].perturbation is not None]
    named = isinstance(plan.method, Microaggregation)
    if not asked:
        return (
            [PlanIssue("method.name", "no quasi-identifier is microaggregated.", "Say so in publish.")] if named else []
        )
    faults = []
    if not plan.microaggregated:
        what = "quasi-identifiers are microaggregated all together in one grouping, or not at all."
        faults.append(PlanIssue("columns", what, "Give all the same publish: {microaggregate: k}, or another role."))
    if not named and ("method" in plan.text or plan.method != Optimal()):
        faults.append(
            PlanIssue("method", "the microaggregation of all quasi-identifiers is the method.", "Leave it out.")
        )
    for place, model in enumerate(plan.privacy):
        if not isinstance(model, KAnonymity) or model.subsets.entries:
            faults.append(PlanIssue(f"privacy[{place}]", "microaggregation keeps k-anonymity alone.", "Leave it out."))
    if plan.person is not None or plan.data.on_missing == "any":
        faults.append(
            PlanIssue("columns", "microaggregation goes with neither person nor on_missing: any.", "Drop it.")
        )
    return faults


def plan_schema() -> JsonSchema:
    """Return the JSON Schema of a plan."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Sfumato plan"}
    return head | PLAN.schema() | {"anyOf": [{"required": list(CHOSEN_BY_POLICY)}, {"required": ["policy"]}]}
