"""Perturb a table, compute what a data user can infer, and only then publish."""

import secrets
import time
from collections.abc import Callable
from typing import Any

from sfumato.errors import PlanError
from sfumato.pipelines.tables.perturbation.perturbed_table import PerturbedTable
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.deadline import never, within
from sfumato.tables.perturbation.apply_method import PerturbationContext, change_part
from sfumato.tables.perturbation.parts import perturbed_parts
from sfumato.tables.perturbation.perturbed import check_readers
from sfumato.tables.plan.sections import Adjustment, Perturbation, Rounding
from sfumato.tables.plan.table_plan import TablePlan
from sfumato.tables.suppression.solver_check import check_installed

# Seconds for the feasibility intervals if the method itself needs no time.
READERS = 20.0


def perturb(
    plan: TablePlan, columns: TextColumns, like: Any = None, asked: Callable[[], bool] | None = None
) -> PerturbedTable:
    """Perturb a table as its plan requests, if its protection intervals are satisfied.

    Args:
        plan: A plan with a perturbation method.
        like: The frame that was passed in.
        asked: Returns whether the caller wants the current result.

    Raises:
        ViolationError: A data user can compute a sensitive cell more closely than the rules allow.
        UnattainableError: The method has no answer.
    """
    check_installed()
    table = kept(change(plan, columns, like, asked))
    table.check(table.external)
    return table


def change(
    plan: TablePlan, columns: TextColumns, like: Any = None, asked: Callable[[], bool] | None = None
) -> PerturbedTable:
    """Perturb a table without checking the protection intervals, for comparison only, not for publication."""
    method = method_of(plan)
    start = time.perf_counter()
    deadline = within(seconds_for(method), asked or never)
    parts = perturbed_parts(plan, columns)
    secret = secret_of(method)
    built = time.perf_counter()
    left, done = sum(len(part.table) for part in parts), []
    for part in parts:
        share = deadline.share(len(part.table) / max(left, 1))
        left -= len(part.table)
        done.append(
            change_part(
                part, PerturbationContext(method, columns.rows(part.rows), plan.table, plan.folder, secret), share
            )
        )
    seconds = {"check": built - start, "perturb": time.perf_counter() - built}
    return PerturbedTable(plan, columns, tuple(done), seconds, like)


def method_of(plan: TablePlan) -> Perturbation:
    """Return the plan's perturbation method."""
    if plan.perturbation is None:
        raise PlanError("method")
    return plan.perturbation


def secret_of(method: Perturbation) -> str:
    """Return the secret of the plan, or a random one."""
    return (None if isinstance(method, Adjustment) else method.secret) or secrets.token_hex(32)


def seconds_for(method: Perturbation) -> float:
    """Return the time limit for search and feasibility intervals together."""
    return method.time_limit if isinstance(method, Rounding | Adjustment) else READERS


def kept(table: PerturbedTable) -> PerturbedTable:
    """Return the table if its protection intervals are satisfied.

    Raises:
        ViolationError: They are not.
    """
    check_readers(table.parts)
    return table
