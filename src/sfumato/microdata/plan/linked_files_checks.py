"""Checks of plans with several files or shifted dates: what cannot be combined with them."""

from sfumato.errors import PlanIssue
from sfumato.microdata.column_transforms.perturbation import ShiftDays
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.l_diversity import LDiversity
from sfumato.microdata.plan.files import file_faults
from sfumato.microdata.plan.methods import Auto, Exhaustive, Greedy, Optimal
from sfumato.microdata.plan.model import ColumnPlan, OutputPlan, RequestedPlan

METHODS = (Auto, Optimal, Greedy, Exhaustive)
ROLES = ("identifier", "quasi-identifier", "sensitive", "insensitive")


def relation_faults(plan: RequestedPlan) -> list[PlanIssue]:
    """Return issues of several files, and of shifted dates."""
    if not plan.files:
        shifts = any(isinstance(part, ShiftDays) for part in plan.perturbations.values())
        do = "Give a column the role person: the dates of a person move together."
        return [PlanIssue("columns", "shift_days needs persons.", do)] if shifts and plan.person is None else []
    faults = file_faults(plan.files)
    if not isinstance(plan.method, METHODS):
        do = f"Use {', '.join(kind.name for kind in METHODS)}: levels are searched for all files together."
        faults.append(PlanIssue("method.name", f"{plan.method.name} does not go with files.", do))
    for place, model in enumerate(plan.privacy):
        if not isinstance(model, KAnonymity | LDiversity) or (isinstance(model, KAnonymity) and model.subsets.entries):
            do = "Promise k-anonymity and l-diversity: of persons with all their rows."
            faults.append(PlanIssue(f"privacy[{place}]", f"{model.name} does not go with files.", do))
    faults += [fault for name, column in plan.columns.items() for fault in _column_faults(name, column)]
    own = plan.output
    if own != OutputPlan(format=own.format, order=own.order, formulas=own.formulas):
        faults.append(PlanIssue("output", "only format, order and formulas go with files.", "Leave the rest out."))
    if plan.data.source is not None or plan.previous or plan.policy is not None or plan.other is not None:
        do = "Leave them out; sources stand in files."
        faults.append(PlanIssue("files", "data.source, other, policy and previous do not go with files.", do))
    if plan.data.on_missing != "category" or plan.data.on_invalid != "error":
        faults.append(
            PlanIssue("data", "with files missing values are a category, and invalid ones an error.", "Say so.")
        )
    return faults


def _column_faults(name: str, column: ColumnPlan) -> list[PlanIssue]:
    faults = []
    if column.role not in ROLES:
        do = "Persons are the rows of the file without a parent."
        faults.append(PlanIssue(f"columns.{name}", f"the role {column.role} does not go with files.", do))
    if column.publish is not None and column.shift_days is None:
        faults.append(PlanIssue(f"columns.{name}.publish", "only shift_days goes with files.", "Leave it out."))
    return faults
