"""The search: from a plan and a frequency table to a recoding, with any method."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.persons import person_view
from sfumato.microdata.counts.survey_sample import weighted_view
from sfumato.microdata.methods.class_labels import (
    is_single_class,
    must_distinguish_rows,
    treat_fully_generalized_classes,
    with_protections,
)
from sfumato.microdata.methods.search_result import ProgressCallback, Result, out_of_time
from sfumato.microdata.models.model import suppress_skewed_classes
from sfumato.microdata.plan.methods import Greedy
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.expected_counts import classes_of, hides_sensitive
from sfumato.microdata.recoding.mapping import Recoding
from sfumato.microdata.recoding.reference import holding_population
from sfumato.values import replace


def search(plan: Plan, table: FrequencyTable, progress: ProgressCallback | None = None) -> Result:
    """Find the recoding that a plan requests; columns that are only measured do not influence it."""
    plan, steering = search_table(plan, table)
    result = find_recoding(plan, steering, progress)
    if table.persons:
        result = with_persons_kept(plan, steering, result)
    if getattr(plan.method, "hide_minimality", False):
        result = _with_cost(plan, steering, result)
    return result


def search_table(plan: Plan, table: FrequencyTable) -> tuple[Plan, FrequencyTable]:
    """Return the plan and table that the search may use: the models and their columns, in persons if counted."""
    return person_view(plan, weighted_view(table.holding(plan.promise_columns)))


def find_recoding(plan: Plan, table: FrequencyTable, progress: ProgressCallback | None) -> Result:
    """Return the recoding that the method of a plan finds, from the columns that the search may use."""
    # The module of a method is loaded on use, with its compiled loops.
    find: Callable[..., Result] = import_module(f"sfumato.microdata.methods.{plan.method.search}").search
    result = find(plan, plan.method, table, progress)
    if result.cut_short and must_distinguish_rows(plan, table) and is_single_class(result.recoding):
        result = _first_release(plan, table, result)
    recoding = treat_fully_generalized_classes(plan, table, result.recoding)
    if recoding is not result.recoding:
        _check_readers_view(plan, table, recoding)
    return with_protections(plan, table, replace(result, recoding=recoding))


def _first_release(plan: Plan, table: FrequencyTable, result: Result) -> Result:
    """Return the first releasable node if the search timed out before its classes distinguished any rows.

    Raises:
        EngineError: No node was found in time, either.
    """
    from sfumato.microdata.methods.full_domain import search as full_domain
    from sfumato.microdata.methods.full_domain import unattainable
    from sfumato.microdata.methods.full_domain.problem import problem_of

    asked: Any = plan.method
    shared = {name: getattr(asked, name) for name in ("suppression", "aggregate", "time_limit") if hasattr(asked, name)}
    method = Greedy(**{"aggregate": "mean"} | shared)
    problem = problem_of(plan, method, table)
    first = full_domain.result_of(problem, method.loss, unattainable.first_release(problem))
    return replace(first, details=result.details, method=result.method)


def with_persons_kept(plan: Plan, table: FrequencyTable, result: Result) -> Result:
    """Return the result with classes suppressed that have enough rows but too few persons.

    K-Optimize searches classes by their rows; all other methods have evaluated persons themselves.

    Raises:
        UnattainableError: No class is left.
    """
    recoding = result.recoding
    classes = holding_population(classes_of(table, recoding), table, recoding)
    failing = np.zeros(len(recoding.sizes), bool)
    for model in plan.privacy:
        failing |= model.violating(classes, table.whole)
    failing &= ~recoding.suppressed & (recoding.sizes > 0)
    if not failing.any():
        return result
    hidden = recoding.suppressed | failing
    if hidden.all() and result.cut_short:
        raise out_of_time(getattr(plan.method, "time_limit", 0.0))
    if hidden.all():
        raise UnattainableError("persons")
    rows = int(recoding.sizes[failing].sum())
    remark = Message("note.few_persons", rows=rows)
    return replace(
        result, recoding=replace(recoding, suppressed=hidden), proved_optimal=False, notes=(*result.notes, remark)
    )


def _check_readers_view(plan: Plan, table: FrequencyTable, recoding: Recoding) -> None:
    """Refuse a recoding whose classes, after some are published as `*`, violate a model for the remaining rows."""
    if not hides_sensitive(table, recoding, plan):
        return
    suppressed = suppress_skewed_classes(classes_of(table, recoding), table.whole, plan.privacy, recoding.suppressed)
    if (suppressed != recoding.suppressed).any():
        raise UnattainableError("reader")


def _with_cost(plan: Plan, table: FrequencyTable, result: Result) -> Result:
    """Return a near-optimal release with its additional loss compared with the optimum of the method."""
    drawn: Any = result.method or plan.method
    least = find_recoding(replace(plan, method=replace(drawn, hide_minimality=False)), table, None)
    cost = result.loss - least.loss
    remark = Message("note.near_least", loss=result.loss, less=least.loss)
    details = {**result.details, "minimality": {"least_loss": least.loss, "cost": cost}}
    return replace(result, details=details, notes=(*result.notes, remark), proved_optimal=False)
