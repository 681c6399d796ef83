"""Entry point of the full-domain methods: one level per column."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.counts.persons import person_view
from sfumato.microdata.methods.full_domain import exhaustive, optimal
from sfumato.microdata.methods.full_domain.best_first import search_greedily
from sfumato.microdata.methods.full_domain.problem import Judgments, LatticeProblem, NodeSolution, problem_of
from sfumato.microdata.methods.full_domain.unattainable import releasable
from sfumato.microdata.methods.search_result import NodeEvaluation, ProgressCallback, Result
from sfumato.microdata.models.equivalence_classes import BoolArray
from sfumato.microdata.models.model import checks_published
from sfumato.microdata.models.persons import against_raw
from sfumato.microdata.plan.methods import FullDomain, Suppression
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import LevelRecoding, Recoding, at_node
from sfumato.values import Value, replace

# Number of nodes to draw from, including the optimum.
CANDIDATES = 8
NEAR = 1e-9
_SEARCHES: dict[str, Callable[[LatticeProblem], NodeSolution]] = {
    "optimal": optimal.search,
    "samarati": optimal.search_by_height,
    "greedy": search_greedily,
    "exhaustive": exhaustive.search,
}


def search(plan: Plan, method: FullDomain, table: FrequencyTable, progress: ProgressCallback | None) -> Result:
    """Return the recoding at the node that the method finds."""
    problem = problem_of(plan, method, table, progress)
    found = _SEARCHES[method.name](problem)
    solution = releasable(problem, _proved(problem, found))
    if method.hide_minimality:
        solution = near_least(problem, solution, plan.drawing_seed)
    return result_of(problem, method.loss, solution, _details(method, table, solution))


def result_of(
    problem: LatticeProblem, loss: str, solution: NodeSolution, details: Mapping[str, Any] | None = None
) -> Result:
    """Return the recoding at the node of a solution."""
    table = problem.table
    grouped, owners = problem.grouper.rolled_with_owners(solution.best.node)
    failing: BoolArray = problem.violating(grouped)
    return Result(
        at_node(table, problem.grouper, grouped, owners, failing),
        loss,
        solution.best.loss,
        problem.loss.per_column(grouped, failing),
        solution.proved_optimal,
        solution.checked,
        solution.total,
        dict(zip(table.columns, solution.best.node, strict=True)),
        solution.nodes,
        solution.notes,
        details or {},
        solution.cut_short,
    )


def _proved(problem: LatticeProblem, solution: NodeSolution) -> NodeSolution:
    """Return a solution with its proof of optimality.

    The classes that a model checked on published rows suppresses are not unique, and a node may have other
    ways to satisfy it than the one that was evaluated. Models that refer to the original table alone require less:
    their minimum loss is a lower bound.
    """
    if not solution.proved_optimal or not problem.limit or not any(map(checks_published, problem.models)):
        return solution
    models = tuple(against_raw(model) if checks_published(model) else model for model in problem.models)
    raw = optimal.search(replace(problem, models=models, time_limit=problem.deadline.left))
    least = raw.best.loss if raw.bound is None else raw.bound
    if solution.best.loss <= least + NEAR * max(1.0, least):
        return solution
    return replace(solution, proved_optimal=False, bound=least)


def _details(method: FullDomain, table: FrequencyTable, solution: NodeSolution) -> dict[str, Any]:
    """Return further details of a search for the report."""
    details: dict[str, Any] = {}
    if method.name == "exhaustive":
        details["satisfying_nodes"] = sum(node.satisfied for node in solution.nodes)
    if solution.bound is not None:
        details |= {"bound": solution.bound, "gap": solution.best.loss - solution.bound}
    if solution.better is not None:
        levels = dict(zip(table.columns, solution.better.node, strict=True))
        by = solution.best.loss - solution.better.loss
        details["better"] = {"levels": levels, "loss": solution.better.loss, "by": by}
    return details


# Anyone who knows that a release has the least loss knows of every finer node that it violated a model, which may
# reveal information about persons (Wong, R. et al. (2007). Minimality attack in privacy preserving data publishing,
# https://www.vldb.org/conf/2007/papers/research/p543-wong.pdf). This module therefore draws, by the seed, one of the
# best few nodes within two levels of the optimum, each with the same probability.
def near_least(problem: LatticeProblem, solution: NodeSolution, seed: int) -> NodeSolution:
    """Return one of the best nodes near a solution."""
    judgments = Judgments(problem)
    nearby = [judgments[node] for node in sorted(_nearby(problem, solution.best.node))]
    candidates = sorted((node for node in nearby if problem.offers(node)), key=lambda node: node.rank)[:CANDIDATES]
    drawn = int(np.random.default_rng(seed).integers(len(candidates)))
    checked = solution.checked + len(nearby)
    return replace(solution, best=candidates[drawn], proved_optimal=False, checked=checked)


def _nearby(problem: LatticeProblem, node: Node) -> set[Node]:
    """Return a node, the coarser ones within two levels, and those one level coarser here and one finer there."""
    coarser = set(problem.neighbors(node, 1))
    further = {other for one in coarser for step in (1, -1) for other in problem.neighbors(one, step)}
    return {node} | coarser | further


BUDGETS = (0.0, 0.01, 0.02, 0.05, 0.10)
# Beyond this size (nodes times combinations) other limits are not searched: a report must not take minutes.
MOST_WORK = 300_000_000
MOST_COMBINATIONS = 1_000_000


class TradeOffPoint(Value):
    """A possible release that was not chosen.

    Attributes:
        levels: The level of each column.
        loss: The information loss of the node.
        suppressed_rows: The number of rows the node suppresses.
        changed: The column that is one level finer than in the release, for a neighbor; None for another limit.
        suppression_limit: The suppression limit, if it differs from the plan's.
    """

    levels: dict[str, int]
    loss: float
    suppressed_rows: int
    changed: str | None = None
    suppression_limit: float | None = None

    def to_dict(self) -> dict[str, Any]:
        more = {"finer": self.changed} if self.changed is not None else {"budget": self.suppression_limit}
        return {"levels": self.levels, "loss": self.loss, "suppressed_rows": self.suppressed_rows} | more


def alternatives(plan: Plan, table: FrequencyTable, recoding: Recoding) -> tuple[TradeOffPoint, ...]:
    """Return alternatives with other suppression limits and finer neighbors; none without levels or if too slow."""
    method = plan.method
    if not isinstance(method, FullDomain) or not isinstance(recoding, LevelRecoding):
        return ()
    plan, table = person_view(plan, table)
    problem = problem_of(plan, method, table)
    if len(table.counts) > MOST_COMBINATIONS:
        return ()
    entries = _neighbors(problem, recoding)
    if problem.size * len(table.counts) <= MOST_WORK:
        entries = [*_budgets(table, problem), *entries]
    return tuple(entries)


def _neighbors(problem: LatticeProblem, recoding: LevelRecoding) -> list[TradeOffPoint]:
    """Return the nodes one level finer in one column."""
    node = recoding.node
    entries = []
    for column, level in enumerate(node):
        if level > problem.lowest[column]:
            judgment = problem.evaluate((*node[:column], level - 1, *node[column + 1 :]))
            entries.append(_alternative(problem, judgment, changed=problem.table.columns[column]))
    return entries


def _budgets(table: FrequencyTable, problem: LatticeProblem) -> list[TradeOffPoint]:
    """Return the best node for each of a few other suppression limits."""
    entries = []
    for share in BUDGETS:
        limit = Suppression(share=share).limit(table.rows)
        if limit != problem.limit:
            try:
                best = optimal.search(problem.with_limit(limit)).best
                entries.append(_alternative(problem, best, suppression_limit=share))
            except UnattainableError:
                continue
    return entries


def _alternative(problem: LatticeProblem, judgment: NodeEvaluation, **more: Any) -> TradeOffPoint:
    levels = dict(zip(problem.table.columns, judgment.node, strict=True))
    return TradeOffPoint(levels, judgment.loss, judgment.suppressed_rows, **more)
