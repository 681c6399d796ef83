"""Checks of plans with several files or shifted dates: what cannot be combined with them."""

from sfumato.errors import PlanIssue, issue
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.l_diversity import LDiversity
from sfumato.microdata.perturbation.plan import ShiftDays
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
        return [issue("columns", "shift_days_needs_persons", hint=do)] if shifts and plan.person is None else []
    faults = file_faults(plan.files)
    if not isinstance(plan.method, METHODS):
        do = f"Use {', '.join(kind.name for kind in METHODS)}: levels are searched for all files together."
        faults.append(issue("method.name", "does_not_go_with_files", hint=do, name=plan.method.name))
    for place, model in enumerate(plan.privacy):
        if not isinstance(model, KAnonymity | LDiversity) or (isinstance(model, KAnonymity) and model.subsets.entries):
            do = "Promise k-anonymity and l-diversity: of persons with all their rows."
            faults.append(issue(f"privacy[{place}]", "does_not_go_with_files", hint=do, name=model.name))
    faults += [fault for name, column in plan.columns.items() for fault in _column_faults(name, column)]
    own = plan.output
    if own != OutputPlan(format=own.format, order=own.order, formulas=own.formulas):
        faults.append(issue("output", "only_format_and_order"))
    if plan.data.source is not None or plan.previous or plan.policy is not None or plan.other is not None:
        do = "Leave them out; sources stand in files."
        faults.append(issue("files", "data_source_other_policy", hint=do))
    if plan.data.on_missing != "category" or plan.data.on_invalid != "error":
        faults.append(issue("data", "with_files_missing_values"))
    return faults


def _column_faults(name: str, column: ColumnPlan) -> list[PlanIssue]:
    faults = []
    if column.role not in ROLES:
        faults.append(issue(f"columns.{name}", "does_not_go_with_files_2", role=column.role))
    if column.publish is not None and column.shift_days is None:
        faults.append(issue(f"columns.{name}.publish", "only_shift_days_goes"))
    return faults
