"""Checks of plans for local suppression, and of plan keys that only this method supports."""

from sfumato.errors import PlanIssue, issue
from sfumato.microdata.models.k_anonymity import SetSizes, least_sizes
from sfumato.microdata.plan.methods import LocalSuppression
from sfumato.microdata.plan.model import RequestedPlan

# The models that local suppression supports.
KEPT = ("k-anonymity", "individual-risk", "global-risk")


def cell_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan for local suppression, and of keys that only this method supports."""
    if not isinstance(plan.method, LocalSuppression):
        faults = [
            issue(f"columns.{name}.importance", "cells_alone")
            for name in plan.quasi_identifiers
            if plan.columns[name].importance != 1.0
        ]
        asked = [place for place, model in enumerate(plan.privacy) if getattr(model, "subsets", SetSizes()).entries]
        return faults + [issue(f"privacy[{at}].subsets", "cells_alone_2") for at in asked]
    faults = [
        issue(f"privacy[{place}].model", "cells_promise", name=model.name)
        for place, model in enumerate(plan.privacy)
        if model.name not in KEPT
    ]
    faults += _set_faults(plan)
    if plan.data.on_missing == "any":
        faults.append(issue("data.on_missing", "any_does_not_go"))
    if plan.person is not None:
        faults.append(issue("columns", "cells_does_not_go"))
    return faults + level_faults(plan)


def _set_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of models on sets of more columns than there are."""
    width = len(plan.quasi_identifiers)
    return [
        issue(f"privacy[{place}].subsets", "there_are_no_sets", count=columns, most=width)
        for place, model in enumerate(plan.privacy)
        for columns, _ in least_sizes([model])
        if columns > width
    ]


def level_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of columns with levels if the method has none."""
    return [
        issue(f"columns.{name}", "min_level_and_max")
        for name in plan.quasi_identifiers
        if plan.columns[name].min_level or plan.columns[name].max_level is not None
    ]
