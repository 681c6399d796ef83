"""The search: from a plan and a frequency table to a recoding, whichever the method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from sfumato.errors import PlanError
from sfumato.microdata.classes import Mask
from sfumato.microdata.frequencies import FrequencyTable
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.problem import Found, Judged, Problem
from sfumato.microdata.methods.tops import with_tops
from sfumato.microdata.methods.unattainable import only_top
from sfumato.microdata.recoding import Recoding, at_node
from sfumato.plan.methods import FullDomain, Greedy, KOptimize, Local, Mondrian, Optimal
from sfumato.plan.model import Plan

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Result:
    """What a method hands over.

    Attributes:
        levels: The level of each column, for methods that choose one.
        nodes: Judged nodes, where the answer includes them; checked and total count them.
        details: More for the report, by name.
    """

    recoding: Recoding
    loss_name: str
    loss: float
    per_column: Mapping[str, float]
    proved_optimal: bool
    checked: int
    total: int
    levels: Mapping[str, int] = field(default_factory=dict)
    nodes: tuple[Judged, ...] = ()
    remarks: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


# Method -> the module whose function `search` finds a node for it.
FULL_DOMAIN = {
    "exhaustive": "sfumato.microdata.methods.exhaustive",
    "samarati": "sfumato.microdata.methods.samarati",
    "optimal": "sfumato.microdata.methods.optimal",
    "greedy": "sfumato.microdata.methods.greedy",
}


def search(plan: Plan, table: FrequencyTable, progress: Progress | None = None) -> Result:
    """Find the recoding that a plan asks for; what is only measured must not steer it."""
    judged = table.holding(plan.judged)
    found = _found(plan, judged, progress)
    return replace(found, recoding=with_tops(plan, judged, found.recoding))


def _found(plan: Plan, table: FrequencyTable, progress: Progress | None) -> Result:
    if isinstance(plan.method, Mondrian):
        from sfumato.microdata.methods import mondrian

        return mondrian.search(plan, plan.method, table)
    if isinstance(plan.method, Local):
        from sfumato.microdata.methods import local

        return local.search(plan, plan.method, table, progress)
    if isinstance(plan.method, FullDomain):
        return _full_domain(plan, plan.method, table, progress)
    if isinstance(plan.method, KOptimize):
        from sfumato.microdata.methods import k_optimize

        return k_optimize.search(plan, plan.method, table, progress)
    raise PlanError(f"method.name: {plan.method.name} is not known.", code="method")


def _full_domain(plan: Plan, method: FullDomain, table: FrequencyTable, progress: Progress | None) -> Result:
    problem = full_domain_problem(plan, method, table, progress)
    found: Found = import_module(FULL_DOMAIN[method.name]).search(problem)
    empty = only_top(problem, found.best)
    if empty is not None:
        raise empty
    grouped, owners = problem.grouper.rolled_with_owners(found.best.node)
    failing: Mask = problem.failing(grouped)
    return Result(
        at_node(table, problem.grouper, grouped, owners, failing),
        method.loss,
        found.best.loss,
        problem.loss.per_column(grouped, failing),
        found.proved_optimal,
        found.checked,
        found.total,
        dict(zip(table.columns, found.best.node, strict=True)),
        found.nodes,
        found.remarks,
        _details(method, table, found),
    )


def _details(method: FullDomain, table: FrequencyTable, found: Found) -> dict[str, Any]:
    """What else the report says of a search."""
    details: dict[str, Any] = {}
    if method.name == "exhaustive":
        details["satisfying_nodes"] = sum(node.holds for node in found.nodes)
    if found.bound is not None:
        details |= {"bound": found.bound, "gap": found.best.loss - found.bound}
    if found.better is not None:
        levels = dict(zip(table.columns, found.better.node, strict=True))
        by = found.best.loss - found.better.loss
        details["better"] = {"levels": levels, "loss": found.better.loss, "by": by}
    return details


def full_domain_problem(
    plan: Plan, method: FullDomain, table: FrequencyTable, progress: Progress | None = None
) -> Problem:
    """The problem that a full-domain method solves."""
    columns = [plan.columns[name] for name in table.columns]
    tops = [ladder.height - 1 for ladder in table.ladders]
    for name, column, top in zip(table.columns, columns, tops, strict=True):
        for key, level in (("min_level", column.min_level), ("max_level", column.max_level or 0)):
            if level > top:
                raise PlanError(f"columns.{name}.{key}: the hierarchy's highest level is {top}.", code="level")
    k = max((model.least_rows for model in plan.privacy), default=1)
    weights = tuple(column.weight for column in columns)
    return Problem(
        table,
        plan.privacy,
        prepare(method.loss, table, weights, method.aggregate, k, method.class_column),
        method.suppression.limit(table.rows),
        tuple(column.min_level for column in columns),
        tuple(top if column.max_level is None else column.max_level for column, top in zip(columns, tops, strict=True)),
        missing_matches=plan.data.on_missing == "any",
        time_limit=method.time_limit if isinstance(method, Optimal) else 60.0,
        upwards=isinstance(method, Greedy) and method.direction == "bottom-up",
        **({"progress": progress} if progress else {}),
    )
