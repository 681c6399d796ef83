"""A table plan in plain values, with paths relative to the folder that it is written to."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from sfumato.schema.paths import with_moved_paths
from sfumato.tables.plan.perturbation import PERTURBATIONS
from sfumato.tables.plan.plan import METHOD, PLAN, TablePlan


def table_plan_dict(plan: TablePlan, folder: Path) -> dict[str, Any]:
    """Return the plan as plain values, with paths relative to a folder, and defaults filled in.

    >>> from sfumato.tables.plan.plan import read_table_plan
    >>> plan = read_table_plan({"version": 1, "table": {"value": "n", "source": "n.csv"},
    ...     "dimensions": {"area": {"column": "area"}}, "primary": [{"rule": "range", "min": 1, "max": 3}]})
    >>> table_plan_dict(plan, Path("out"))["table"]["source"]
    '../n.csv'
    """
    # The method with all defaults.
    written: dict[str, Any] = with_moved_paths(PLAN, {**plan.plain, "method": _method_dict(plan)}, plan.folder, folder)
    return written


def _method_dict(plan: TablePlan) -> dict[str, Any]:
    chosen = plan.perturbation or plan.method
    record = METHOD if plan.perturbation is None else PERTURBATIONS[chosen.name]
    # Of several keys of one option, the primary one.
    keys = {record.attribute(key): key for key in sorted(record.keys, key=lambda key: record.attribute(key) == key)}
    options = {keys[name]: value for name, value in asdict(chosen).items() if value is not None and name != "secret"}
    return {"name": chosen.name} | options
