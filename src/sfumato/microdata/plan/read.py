"""Read a plan: YAML, JSON or a mapping becomes a requested plan, or all its issues are reported at once."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sfumato.errors import PlanError
from sfumato.hierarchies.lists import SuppressAll
from sfumato.localization.messages import Message
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.models.registry import in_one_text, located
from sfumato.microdata.plan.builder import Plan
from sfumato.microdata.plan.checks import sampled_data
from sfumato.microdata.plan.decisions import DECIDE, decided
from sfumato.microdata.plan.methods import Microaggregation
from sfumato.microdata.plan.model import ColumnPlan, RequestedPlan
from sfumato.microdata.plan.model import Plan as ResolvedPlan
from sfumato.microdata.plan.parts import OutputPlan, UtilityPlan
from sfumato.microdata.plan.resolve import faults_between, named_column, resolve
from sfumato.microdata.plan.write import CHOSEN_BY_POLICY, PLAN
from sfumato.microdata.questions.question import PurposePlan
from sfumato.schema import files
from sfumato.schema.composite import JsonSchema, RecordSchema, Schema, kind_of
from sfumato.schema.issues import PlanIssues, Refused
from sfumato.values import Value, replace


class Unread(Value):
    """A method that could not be read, so its requirements are unknown.

    A part that cannot be read is replaced by a valid one, so that only certain issues are reported.
    """

    name: str = ""


def salvaged(value: object, shape: RecordSchema[RequestedPlan]) -> RequestedPlan | None:
    """Return a plan with everything that could be read; None if its columns are no mapping."""
    if not isinstance(value, Mapping) or not isinstance(value.get("columns"), Mapping):
        return None
    parts = {name: shape.keys[name].shape for name in ("data", "output", "utility", "purpose")}
    models, of_models = value.get("privacy"), getattr(shape.keys["privacy"].shape, "item", None)
    columns: Any = getattr(shape.keys["columns"].shape, "value", None)
    return RequestedPlan(
        {str(name): _column(column, columns) for name, column in value["columns"].items()},
        tuple(_or(of_models, model, KAnonymity(1)) for model in models) if isinstance(models, list | tuple) else (),
        data=_record(parts["data"], value.get("data"), DataPlan()),
        method=_or(shape.keys["method"].shape, value["method"], Unread())
        if "method" in value
        else RequestedPlan({}, ()).method,
        output=_record(parts["output"], value.get("output"), OutputPlan()),
        utility=_record(parts["utility"], value.get("utility"), UtilityPlan()),
        purpose=_record(parts["purpose"], value.get("purpose"), PurposePlan()),
    )


def _or(shape: Any, value: object, instead: Any) -> Any:
    """Return a value as its schema reads it, or a replacement."""
    with suppress(Refused):
        faults = PlanIssues()
        entry = shape.read(value, "", faults)
        return instead if faults.entries else entry
    return instead


def _record(shape: Any, value: object, instead: Any) -> Any:
    """Return a record from those of its keys that can be read."""
    if not isinstance(value, Mapping):
        return instead
    return _or(shape, {key: entry for key, entry in value.items() if _readable(shape, key, entry)}, instead)


def _readable(shape: RecordSchema[Any], key: object, entry: object) -> bool:
    lost = object()
    return key in shape.keys and _or(shape.keys[str(key)].shape, entry, lost) is not lost


def _column(value: object, shape: Schema[ColumnPlan]) -> ColumnPlan:
    """Return a column; an unknown role becomes sensitive, an unknown hierarchy some valid one."""
    column = _record(shape, value, None)
    if not isinstance(column, ColumnPlan):
        return ColumnPlan("sensitive")
    lost = isinstance(value, Mapping) and "hierarchy" in value and column.hierarchy is None
    return ColumnPlan(column.role, column.type, SuppressAll()) if lost and column.role == "quasi-identifier" else column


def read_plan(plan: RequestedPlan | Mapping[str, Any] | str | Path, folder: Path | None = None) -> Plan:
    """Read a plan from a file, a mapping, or Python objects; all its issues are reported at once.

    Args:
        folder: The base of relative paths in a mapping; the working folder by default.

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
        raise PlanError("no-plan.is_no_plan", kind=kind_of(plan))
    path = Path(plan)
    return _read(files.load_plan(path, Message("hint.what_a_plan_is")), path.parent)


def _checked(plan: RequestedPlan) -> Plan:
    """Return a plan made in Python, with the values listed in its models as canonical texts."""
    if faults := faults_between(plan):
        raise PlanError.listing(faults)
    privacy = tuple(_in_one_text(model, plan) for model in plan.privacy)
    method = Microaggregation() if plan.microaggregated and not plan.text else plan.method
    data = sampled_data(plan)
    same = (privacy, method, data) == (plan.privacy, plan.method, plan.data)
    return Plan.of(plan if same else replace(plan, privacy=privacy, method=method, data=data))


def _read(value: object, folder: Path) -> Plan:
    _refuse_tables(value)
    faults = PlanIssues()
    plan: RequestedPlan | None = None
    text = dict(value) if isinstance(value, Mapping) else {}
    value = decided(value, faults) if isinstance(value, Mapping) else value
    if isinstance(value, Mapping) and "policy" not in value:
        for key in (key for key in CHOSEN_BY_POLICY if key not in value):
            faults.refuse(key, "missing_key")
    with suppress(Refused):
        plan = PLAN.read(value, "", faults)
    plan = None if faults.entries else plan
    whole = plan if plan is not None else _salvaged(value)
    if whole is not None:
        whole = replace(whole, text=text)
        unsure = () if plan is not None else ("columns",) if whole.method.name else ("columns", "method.name")
        faults.entries.extend(fault for fault in faults_between(whole) if fault.path not in unsure)
    if faults.entries or plan is None:
        raise PlanError.listing(faults.entries)
    privacy = tuple(_resolved(model, plan, folder) for model in plan.privacy)
    method = Microaggregation() if plan.microaggregated and "method" not in text else plan.method
    data = sampled_data(plan)
    return Plan.of(replace(plan, folder=folder, text=text, privacy=privacy, method=method, data=data))


def _salvaged(value: object) -> RequestedPlan | None:
    return salvaged(value, PLAN)


def _refuse_tables(value: object) -> None:
    """Refuse the plan of a table with one clear message instead of key by key."""
    if isinstance(value, Mapping) and {"table", "tables"} & value.keys() and not {"privacy", "policy"} & value.keys():
        raise PlanError("of-a-table")


def _resolved(model: PrivacyModel, plan: RequestedPlan, folder: Path) -> PrivacyModel:
    """Return a model with its paths resolved, and its values as canonical texts."""
    return located(_in_one_text(model, plan), folder)


def _in_one_text(model: PrivacyModel, plan: RequestedPlan) -> PrivacyModel:
    column = plan.columns.get(named_column(model) or "")
    return model if column is None else in_one_text(model, column.type)


def plan_schema() -> JsonSchema:
    """Return the JSON Schema of a plan."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Sfumato plan"}
    schema: dict[str, Any] = dict(PLAN.schema())
    schema["properties"]["decide"] = DECIDE.schema()
    return head | schema | {"anyOf": [{"required": list(CHOSEN_BY_POLICY)}, {"required": ["policy"]}]}


def released_plan(folder: Path) -> ResolvedPlan:
    """Return the plan in a release folder.

    Raises:
        PlanError: The plan has issues; the error lists all of them.
    """
    return resolve(read_plan(folder / "plan.yaml"))
