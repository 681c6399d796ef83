"""The levels that a plan allows (`min_level`, `max_level`), if it restricts those of the hierarchies."""

from dataclasses import replace
from math import prod
from typing import Any

from sfumato.errors import PlanError
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.plan.model import Plan


def levels_allowed(plan: Plan, table: FrequencyTable) -> dict[str, Any]:
    """Return the finest and the coarsest level of each restricted column, and the number of remaining combinations."""
    ends = {name: _ends(plan, table, place) for place, name in enumerate(table.columns)}
    tops = {name: ladder.height - 1 for name, ladder in zip(table.columns, table.ladders, strict=True)}
    limited = {name: [low, high] for name, (low, high) in ends.items() if (low, high) != (0, tops[name])}
    combinations = prod(high - low + 1 for low, high in ends.values())
    return {"columns": limited, "combinations": combinations} if limited else {}


def check_levels(plan: Plan, table: FrequencyTable) -> None:
    """Refuse levels that a hierarchy does not have."""
    for name, ladder in zip(table.columns, table.ladders, strict=True):
        column, top = plan.columns[name], ladder.height - 1
        for key, level in (("min_level", column.min_level), ("max_level", column.max_level or 0)):
            if level > top:
                raise PlanError("level.columns_hierarchy_highest_level", name=name, key=key, top=top)


def _ends(plan: Plan, table: FrequencyTable, place: int) -> tuple[int, int]:
    column, top = plan.columns[table.columns[place]], table.ladders[place].height - 1
    return min(column.min_level, top), top if column.max_level is None else min(column.max_level, top)


def with_all_levels(plan: Plan) -> Plan:
    """Return the plan with every level of its columns allowed."""
    columns = {
        name: replace(column, min_level=0, max_level=None)
        if column.min_level or column.max_level is not None
        else column
        for name, column in plan.columns.items()
    }
    return replace(plan, columns=columns)
