"""Build the search problem of a full-domain method from a plan and a frequency table."""

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.allowed_levels import check_levels
from sfumato.microdata.methods.full_domain.lattice.problem import LatticeProblem
from sfumato.microdata.methods.search_result import ProgressCallback
from sfumato.microdata.plan.methods import FullDomain, Greedy
from sfumato.microdata.plan.model import Plan


def problem_of(
    plan: Plan, method: FullDomain, table: FrequencyTable, progress: ProgressCallback | None = None
) -> LatticeProblem:
    """Return the problem of a method, with the columns, limits and models of a plan."""
    columns = [plan.columns[name] for name in table.columns]
    tops = [ladder.height - 1 for ladder in table.ladders]
    check_levels(plan, table)
    k = max((model.min_class_size for model in plan.privacy), default=1)
    weights = tuple(column.weight for column in columns)
    return LatticeProblem(
        table,
        plan.guarantees,
        prepare(method.loss, table, weights, method.aggregate, k, method.class_column),
        method.suppression.limit(table.rows),
        tuple(column.min_level for column in columns),
        tuple(top if column.max_level is None else column.max_level for column, top in zip(columns, tops, strict=True)),
        missing_matches=plan.data.on_missing == "any",
        time_limit=method.time_limit,
        upwards=isinstance(method, Greedy) and method.direction == "bottom-up",
        **({"progress": progress} if progress else {}),
    )
