"""A table plan in plain values, resolved for the folder that it is written to."""

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sfumato.tables.plan.perturbation import PERTURBATIONS
from sfumato.tables.plan.plan import METHOD, TablePlan


def table_plan_dict(plan: TablePlan, folder: Path) -> dict[str, Any]:
    """The plan in plain values, resolved for a folder: its relative paths start there, open choices are filled in.

    >>> from sfumato.tables.plan.plan import read_table_plan
    >>> plan = read_table_plan({"version": 1, "table": {"value": "n", "source": "n.csv"},
    ...     "dimensions": {"area": {"column": "area"}}, "primary": [{"rule": "range", "min": 1, "max": 3}]})
    >>> table_plan_dict(plan, Path("out"))["table"]["source"]
    '../n.csv'
    """
    plain = {key: dict(part) if isinstance(part, Mapping) else part for key, part in plan.plain.items()}
    for key in ("source", "cells", "relations", "microdata", "metadata"):
        if key in plain["table"]:
            plain["table"][key] = _moved(plain["table"][key], plan.folder, folder)
    if "dimensions" in plain:
        plain["dimensions"] = {
            name: _with_hierarchy(dimension, plan.folder, folder) for name, dimension in plain["dimensions"].items()
        }
    if "tables" in plain:
        plain["tables"] = [_crossing(crossing, plan.folder, folder) for crossing in plain["tables"]]
    if "previous" in plain:
        plain["previous"] = [_moved(path, plan.folder, folder) for path in plain["previous"]]
    # The method with every choice that was left open.
    return plain | {"method": _method_dict(plan)}


def _method_dict(plan: TablePlan) -> dict[str, Any]:
    chosen = plan.perturbation or plan.method
    record = METHOD if plan.perturbation is None else PERTURBATIONS[chosen.name]
    # Of several words for one choice, our own.
    keys = {record.attribute(key): key for key in sorted(record.keys, key=lambda key: record.attribute(key) == key)}
    options = {keys[name]: value for name, value in asdict(chosen).items() if value is not None and name != "secret"}
    return {"name": chosen.name} | options


def _crossing(crossing: Mapping[str, Any], old: Path, new: Path) -> dict[str, Any]:
    moved = {"source": _moved(crossing["source"], old, new)} if "source" in crossing else {}
    dimensions = {name: _with_hierarchy(part, old, new) for name, part in crossing["dimensions"].items()}
    return dict(crossing) | moved | {"dimensions": dimensions}


def _with_hierarchy(dimension: Mapping[str, Any], old: Path, new: Path) -> dict[str, Any]:
    moved = {"hierarchy": _moved(dimension["hierarchy"], old, new)} if "hierarchy" in dimension else {}
    return dict(dimension) | moved


def _moved(path: str, old: Path, new: Path) -> str:
    """A path that was relative to one folder, relative to another; on another drive it stays whole."""
    if Path(path).is_absolute():
        return path
    whole = (old / path).resolve()
    try:
        return Path(os.path.relpath(whole, new.resolve())).as_posix()
    except ValueError:
        return str(whole)
