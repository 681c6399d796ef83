"""Check whether the pages can show a plan from a file."""

from collections.abc import Set
from typing import Any

from sfumato.hierarchies.registry import TYPES
from sfumato.microdata.models.registry import SHAPES
from sfumato.microdata.plan.methods import METHOD
from sfumato.microdata.plan.model import ROLES


def can_be_shown(plan: Any, columns: Set[str]) -> bool:
    """Return whether a plan fits these columns; missing values are allowed, because the pages report them.

    >>> plan = {"columns": {"age": {"role": "sensitive"}}, "privacy": [{"model": "k-anonymity"}]}
    >>> can_be_shown({**plan, "method": {"name": "optimal"}}, {"age"}), can_be_shown(plan, {"age"})
    (True, False)
    """
    parts = (plan.get("data") or {}, plan.get("columns"), plan.get("method"), plan.get("output") or {})
    if not all(isinstance(part, dict) for part in parts) or set(plan["columns"]) != columns:
        return False
    return all(map(_is_column, plan["columns"].values())) and _is_goal(plan.get("privacy"), plan["method"])


def _is_column(column: Any) -> bool:
    if not isinstance(column, dict) or column.get("role") not in ROLES:
        return False
    hierarchy = column.get("hierarchy", {"type": "any"})
    return isinstance(hierarchy, dict) and hierarchy.get("type") in TYPES


def _is_goal(privacy: Any, method: dict[str, Any]) -> bool:
    promises = privacy if isinstance(privacy, list) else []
    models = [entry.get("model") for entry in promises if isinstance(entry, dict)]
    return 0 < len(models) == len(promises) and set(models) <= set(SHAPES) and method.get("name") in METHOD.variants
