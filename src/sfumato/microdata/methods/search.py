"""The search: from a plan and a frequency table to a recoding, whichever the method."""

from dataclasses import replace

from sfumato.errors import PlanError
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.methods.full_domain import search as full_domain
from sfumato.microdata.methods.result import Progress, Result
from sfumato.microdata.methods.tops import with_tops
from sfumato.microdata.plan.methods import FullDomain, KOptimize, Local, Mondrian
from sfumato.microdata.plan.model import Plan


def search(plan: Plan, table: FrequencyTable, progress: Progress | None = None) -> Result:
    """Find the recoding that a plan asks for; what is only measured must not steer it."""
    judged = table.holding(plan.promise_columns)
    found = _found(plan, judged, progress)
    return replace(found, recoding=with_tops(plan, judged, found.recoding))


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
