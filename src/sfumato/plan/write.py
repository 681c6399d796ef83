"""Writing a plan: the resolved plan as plain values or YAML that read back to the same."""

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from sfumato.plan.methods import Suppression
from sfumato.plan.model import ColumnPlan, Plan

# Builders of hierarchies, by class, and their names in a plan.
HIERARCHIES = {
    "Dates": "date",
    "Digits": "digits",
    "Intervals": "intervals",
    "Tree": "tree",
    "Order": "order",
    "AnyValue": "any",
    "HierarchyFile": "file",
}
# Attributes whose key in a plan is no name that Python allows.
KEYS = {("Digits", "side"): "from"}


def plan_dict(plan: Plan, folder: Path | None = None) -> dict[str, Any]:
    """The plan in plain values, with what it left open filled in.

    Args:
        folder: Where the plan will lie; relative paths are made to start there.
    """
    data = _plain(plan.data)
    if "source" in data:
        data["source"] = _moved(data["source"], plan.folder, folder)
    return {
        "version": plan.version,
        "data": data,
        "columns": {name: _column(column, plan, folder) for name, column in plan.columns.items()},
        "privacy": [{"model": model.name} | _plain(model) for model in plan.privacy],
        "method": {"name": plan.method.name} | _plain(plan.method),
        "seed": plan.seed,
        "output": _plain(plan.output),
    }


def plan_text(plan: Plan, folder: Path | None = None) -> str:
    """The plan as YAML."""
    import yaml

    return str(yaml.safe_dump(plan_dict(plan, folder), sort_keys=False, allow_unicode=True, width=120))


def _column(column: ColumnPlan, plan: Plan, folder: Path | None) -> dict[str, Any]:
    plain: dict[str, Any] = _plain(column)
    if column.hierarchy is None:
        return plain
    kind = type(column.hierarchy).__name__
    hierarchy = {"type": HIERARCHIES[kind]} | _plain(column.hierarchy)
    if "path" in hierarchy:
        hierarchy["path"] = _moved(hierarchy["path"], plan.folder, folder)
    return plain | {"hierarchy": hierarchy}


def _plain(value: Any) -> Any:
    """A value of the plan as YAML has it; what is None or empty is left out."""
    if isinstance(value, Suppression):
        return value.share if value.rows is None else {"rows": value.rows}
    if is_dataclass(value):
        kind = type(value).__name__
        entries = {KEYS.get((kind, field.name), field.name): getattr(value, field.name) for field in fields(value)}
        return {key: _plain(entry) for key, entry in entries.items() if entry is not None and entry != ()}
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value


def _moved(path: str, old: Path, new: Path | None) -> str:
    """A path that was relative to one folder, relative to another."""
    if new is None:
        return path
    return Path(os.path.relpath(old / path, new)).as_posix()
