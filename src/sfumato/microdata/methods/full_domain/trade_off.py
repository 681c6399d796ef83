"""The trade-off: the loss of a full-domain release with other suppression limits and neighboring levels."""

from typing import Any

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.persons import person_view
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.lattice.problem import LatticeProblem, NodeEvaluation
from sfumato.microdata.methods.full_domain.make_problem import problem_of
from sfumato.microdata.plan.methods import FullDomain, Suppression
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import LevelRecoding, Recoding

BUDGETS = (0.0, 0.01, 0.02, 0.05, 0.10)
# Beyond this size (nodes times combinations) other limits are not searched: a report must not take minutes.
MOST_WORK = 300_000_000
MOST_COMBINATIONS = 1_000_000
NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class TradeOffPoint:
    """A possible release that was not chosen.

    Attributes:
        levels: Of each column; loss: its loss; suppressed_rows: how many rows it would suppress.
        changed: The column that is one level finer than in the release, for a neighbor; None for another limit.
        suppression_limit: The suppression limit, if it differs from the plan's.
    """

    levels: dict[str, int]
    loss: float
    suppressed_rows: int
    changed: str | None = None
    suppression_limit: float | None = None

    def to_dict(self) -> dict[str, Any]:
        more = {"finer": self.changed} if self.changed is not None else {"budget": self.suppression_limit}
        return {"levels": self.levels, "loss": self.loss, "suppressed_rows": self.suppressed_rows} | more


def alternatives(plan: Plan, table: FrequencyTable, recoding: Recoding) -> tuple[TradeOffPoint, ...]:
    """Return alternatives with other suppression limits and finer neighbors; none without levels or if too slow."""
    method = plan.method
    if not isinstance(method, FullDomain) or not isinstance(recoding, LevelRecoding):
        return ()
    plan, table = person_view(plan, table)
    problem = problem_of(plan, method, table)
    if len(table.counts) > MOST_COMBINATIONS:
        return ()
    entries = _neighbors(problem, recoding)
    if problem.size * len(table.counts) <= MOST_WORK:
        entries = [*_budgets(table, problem), *entries]
    return tuple(entries)


def _neighbors(problem: LatticeProblem, recoding: LevelRecoding) -> list[TradeOffPoint]:
    """Return the nodes one level finer in one column."""
    node = recoding.node
    entries = []
    for column, level in enumerate(node):
        if level > problem.lowest[column]:
            judgment = problem.evaluate((*node[:column], level - 1, *node[column + 1 :]))
            entries.append(_alternative(problem, judgment, changed=problem.table.columns[column]))
    return entries


def _budgets(table: FrequencyTable, problem: LatticeProblem) -> list[TradeOffPoint]:
    """Return the best node for each of a few other suppression limits."""
    entries = []
    for share in BUDGETS:
        limit = Suppression(share=share).limit(table.rows)
        if limit != problem.limit:
            try:
                best = optimal.search(problem.with_limit(limit)).best
                entries.append(_alternative(problem, best, suppression_limit=share))
            except UnattainableError:
                continue
    return entries


def _alternative(problem: LatticeProblem, judgment: NodeEvaluation, **more: Any) -> TradeOffPoint:
    levels = dict(zip(problem.table.columns, judgment.node, strict=True))
    return TradeOffPoint(levels, judgment.loss, judgment.suppressed_rows, **more)
