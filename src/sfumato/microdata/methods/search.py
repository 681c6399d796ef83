"""The search: from a plan and a frequency table to a recoding, whichever the method."""

from dataclasses import replace

from sfumato.errors import PlanError, UnattainableError
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.methods.full_domain import search as full_domain
from sfumato.microdata.methods.result import Progress, Result
from sfumato.microdata.methods.tops import with_tops
from sfumato.microdata.models.readers_view import without_skew
from sfumato.microdata.plan.methods import FullDomain, KOptimize, Local, Mondrian
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.prediction import classes_of, veils
from sfumato.microdata.recoding.recoding import Recoding


def search(plan: Plan, table: FrequencyTable, progress: Progress | None = None) -> Result:
    """Find the recoding that a plan asks for; what is only measured must not steer it."""
    judged = table.holding(plan.promise_columns)
    found = _found(plan, judged, progress)
    recoding = with_tops(plan, judged, found.recoding)
    if recoding is not found.recoding:
        _check_readers_view(plan, judged, recoding)
    return replace(found, recoding=recoding)


def _check_readers_view(plan: Plan, table: FrequencyTable, recoding: Recoding) -> None:
    """Refuse a recoding whose classes, once some are shown as `*`, break a promise against the rows that are left."""
    if not veils(table, recoding, plan):
        return
    suppressed = without_skew(classes_of(table, recoding), table.whole, plan.privacy, recoding.suppressed)
    if (suppressed != recoding.suppressed).any():
        raise UnattainableError(
            "Against the rows that are shown the promises do not hold.",
            "Drop suppressed rows instead of showing them as *, or promise against: raw.",
            "reader",
        )


def _found(plan: Plan, table: FrequencyTable, progress: Progress | None) -> Result:
    if isinstance(plan.method, Mondrian):
        from sfumato.microdata.methods.mondrian import search as mondrian

        return mondrian.search(plan, plan.method, table)
    if isinstance(plan.method, Local):
        from sfumato.microdata.methods.local import search as local

        return local.search(plan, plan.method, table, progress)
    if isinstance(plan.method, FullDomain):
        return full_domain.search(plan, plan.method, table, progress)
    if isinstance(plan.method, KOptimize):
        from sfumato.microdata.methods.k_optimize import search as k_optimize

        return k_optimize.search(plan, plan.method, table, progress)
    raise PlanError(f"method.name: {plan.method.name} is not known.", code="method")
