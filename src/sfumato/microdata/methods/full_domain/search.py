"""The search of full-domain methods: one level a column."""

from dataclasses import replace
from importlib import import_module
from typing import Any

from sfumato.errors import PlanError
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.problem import Found, Problem
from sfumato.microdata.methods.full_domain.unattainable import only_top
from sfumato.microdata.methods.result import Progress, Result
from sfumato.microdata.models.classes import Mask
from sfumato.microdata.models.model import for_readers
from sfumato.microdata.plan.methods import FullDomain, Greedy, Optimal
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import at_node

NEAR = 1e-9
# Method -> the module whose function `search` finds a node for it.
FULL_DOMAIN = {
    "exhaustive": "sfumato.microdata.methods.full_domain.exhaustive",
    "samarati": "sfumato.microdata.methods.full_domain.samarati",
    "optimal": "sfumato.microdata.methods.full_domain.optimal",
    "greedy": "sfumato.microdata.methods.full_domain.greedy",
}


def search(plan: Plan, method: FullDomain, table: FrequencyTable, progress: Progress | None) -> Result:
    problem = full_domain_problem(plan, method, table, progress)
    run = import_module(FULL_DOMAIN[method.name]).search
    found = _proved(problem, run(problem))
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


def _proved(problem: Problem, found: Found) -> Found:
    """An answer with what is proved of it.

    Which classes a promise against the published rows costs is not settled class by class, and a node may have other
    ways to keep it than the one that was judged. Promises against the raw table alone ask for less: what they lose at
    least, nothing loses less than.
    """
    if not found.proved_optimal or not problem.limit or not any(map(for_readers, problem.models)):
        return found
    models = tuple(replace(model, against="raw") if for_readers(model) else model for model in problem.models)  # type: ignore[type-var]
    least = optimal.search(replace(problem, models=models)).best.loss
    if found.best.loss <= least + NEAR * max(1.0, least):
        return found
    return replace(found, proved_optimal=False, bound=least)


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
