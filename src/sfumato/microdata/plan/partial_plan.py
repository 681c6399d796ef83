"""Read a plan that has issues as far as possible, so that issues between its parts are found at the same time.

A part that cannot be read is replaced by a valid one, so that only certain issues are reported.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.hierarchies.lists import SuppressAll
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.plan.model import ColumnPlan, OutputPlan, RequestedPlan, UtilityPlan
from sfumato.schema.composite import RecordSchema, Schema
from sfumato.schema.issues import PlanIssues, Refused


@dataclass(frozen=True, slots=True)
class Unread:
    """A method that could not be read: nothing is known about its requirements."""

    name: str = ""


def salvaged(value: object, shape: RecordSchema[RequestedPlan]) -> RequestedPlan | None:
    """Return a plan with everything that could be read; None if its columns are no mapping."""
    if not isinstance(value, Mapping) or not isinstance(value.get("columns"), Mapping):
        return None
    parts = {name: shape.keys[name].shape for name in ("data", "output", "utility")}
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
