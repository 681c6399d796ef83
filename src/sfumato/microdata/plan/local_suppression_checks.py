"""Checks of plans for local suppression, and of plan keys that only this method supports."""

from sfumato.errors import PlanIssue
from sfumato.microdata.models.k_anonymity import SetSizes, least_sizes
from sfumato.microdata.plan.methods import LocalSuppression
from sfumato.microdata.plan.model import RequestedPlan

# The models that local suppression supports.
KEPT = ("k-anonymity", "individual-risk", "global-risk")


def cell_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of a plan for local suppression, and of keys that only this method supports."""
    if not isinstance(plan.method, LocalSuppression):
        faults = [
            PlanIssue(
                f"columns.{name}.importance",
                "is supported by the method local-suppression only.",
                "Use weight, or leave it out.",
            )
            for name in plan.quasi_identifiers
            if plan.columns[name].importance != 1.0
        ]
        asked = [place for place, model in enumerate(plan.privacy) if getattr(model, "subsets", SetSizes()).entries]
        return faults + [
            PlanIssue(f"privacy[{at}].subsets", "is supported by the method local-suppression only.", "Use it.")
            for at in asked
        ]
    faults = [
        PlanIssue(
            f"privacy[{place}].model",
            f"{model.name} is not supported by local-suppression: "
            "it satisfies k-anonymity, individual-risk and global-risk only.",
            "Use local or optimal for it.",
        )
        for place, model in enumerate(plan.privacy)
        if model.name not in KEPT
    ]
    faults += _set_faults(plan)
    if plan.data.on_missing == "any":
        do = "A missing cell is a value of its own there; the other count is reported beside it. Use category."
        faults.append(PlanIssue("data.on_missing", "any is not supported by local-suppression.", do))
    if plan.person is not None:
        faults.append(PlanIssue("columns", "local-suppression does not support a person column.", "It counts rows."))
    return faults + level_faults(plan)


def _set_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of models on sets of more columns than there are."""
    width = len(plan.quasi_identifiers)
    return [
        PlanIssue(f"privacy[{place}].subsets", f"there are no sets of {columns} columns.", f"Ask for at most {width}.")
        for place, model in enumerate(plan.privacy)
        for columns, _ in least_sizes([model])
        if columns > width
    ]


def level_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of columns with levels if the method has none."""
    return [
        PlanIssue(f"columns.{name}", "min_level and max_level belong to methods with levels.", "Leave them out.")
        for name in plan.quasi_identifiers
        if plan.columns[name].min_level or plan.columns[name].max_level is not None
    ]
