"""Levels chosen for columns by hand: shown wherever they restrict the search."""

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from sfumato.web import components
from sfumato.web.microdata.area import Area

LIMITS = ("min_level", "max_level")


def _is_chosen(column: Mapping[str, Any]) -> bool:
    return "max_level" in column and column.get("min_level", 0) == column["max_level"]


def fixed_levels(plan: Mapping[str, Any]) -> dict[str, int]:
    """Return the levels that are fixed for columns; limits that leave a choice are ignored.

    >>> fixed_levels({"columns": {"age": {"min_level": 2, "max_level": 2}, "sex": {"max_level": 1}, "zip": {}}})
    {'age': 2}
    """
    return {name: column["max_level"] for name, column in plan["columns"].items() if _is_chosen(column)}


def free_columns(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a plan without their fixed levels.

    >>> free_columns({"columns": {"age": {"min_level": 2, "max_level": 2}, "sex": {"max_level": 1}}})
    {'age': {}, 'sex': {'max_level': 1}}
    """
    return {
        name: {key: value for key, value in column.items() if key not in LIMITS or not _is_chosen(column)}
        for name, column in plan["columns"].items()
    }


def build(area: Area, key: str) -> None:
    """Show the fixed levels with a button to release them; nothing if there are none."""
    workspace = area.workspace
    fixed = fixed_levels(workspace.plan)

    def let_go() -> None:
        workspace.change_plan({**workspace.plan, "columns": free_columns(workspace.plan)})
        area.refresh()

    if fixed:
        levels = ", ".join(f"{name} {level}" for name, level in fixed.items())
        with ui.row().classes("items-center"):
            ui.label(workspace.words[key].format(levels=levels)).props('role="status"')
            components.button(workspace.words["free_levels"], let_go).props("flat dense")
