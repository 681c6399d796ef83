"""Entry point of the full-domain methods: one level per column."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.lattice.problem import Judgments, LatticeProblem, NodeSolution
from sfumato.microdata.methods.full_domain.make_problem import problem_of
from sfumato.microdata.methods.full_domain.timeout_result import releasable
from sfumato.microdata.methods.search_result import ProgressCallback, Result
from sfumato.microdata.models.equivalence_classes import BoolArray
from sfumato.microdata.models.model import checks_published
from sfumato.microdata.models.persons import against_raw
from sfumato.microdata.plan.methods import FullDomain
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import at_node

# Number of nodes to draw from, including the optimum.
CANDIDATES = 8
NEAR = 1e-9


def search(plan: Plan, method: FullDomain, table: FrequencyTable, progress: ProgressCallback | None) -> Result:
    """Return the recoding at the node that the method finds."""
    problem = problem_of(plan, method, table, progress)
    # The module has the name of its method.
    found: NodeSolution = import_module(f"sfumato.microdata.methods.full_domain.{method.name}").search(problem)
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
