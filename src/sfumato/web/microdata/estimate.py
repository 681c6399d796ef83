"""Estimate within a second what a goal costs: information loss and suppressed rows.

Rows are counted once for a choice of columns and hierarchies; a goal is then evaluated on the frequency table alone,
and results of a plan are cached. It is an estimate: if the table is small, the method of the plan gets a moment;
otherwise the fastest method is used, which has one level per column for all rows. The run itself may lose less.
"""

from collections.abc import Mapping
from contextlib import closing, suppress
from copy import deepcopy
from dataclasses import replace
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import EngineError, SfumatoError, UnattainableError
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.search import search
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.pipelines.release_stages.counting import frequency_table
from sfumato.service.http.problems import RefusedError
from sfumato.service.jobs.plans import check_paths
from sfumato.web.projects.workspace import Workspace

# Tables of more combinations than this are not searched while somebody waits.
MOST_COMBINATIONS = 2_000_000
# So many estimates are kept.
MOST_KEPT = 64
# What the estimate asks of the quickest method: one level a column, found step by step.
METHOD = "greedy"
# Methods that hand over what they have after a moment, on tables of so many combinations.
OWN_METHODS, FEW_COMBINATIONS, MOMENT_SECONDS = ("auto", "local", "mondrian"), 20_000, 0.4
# A column that lost as much tells nothing any more.
NOTHING_LEFT = 0.995


@dataclass(frozen=True, slots=True)
class Estimate:
    """About what a goal costs.

    Attributes:
        detail: The share of detail that is left, on average over the quasi-identifiers; withheld: rows.
        lost: Columns of which nothing would be left.
    """

    detail: float
    withheld: int
    lost: tuple[str, ...]


@dataclass
class Estimates:
    """The estimates of a workspace; the count behind them is kept there while columns and ladders stay."""

    workspace: Workspace

    def of(self, plan: Mapping[str, Any]) -> Estimate | None:
        """The estimate for a plan, or None where there is none to be had quickly.

        Who asks for one that is being made waits for it.

        Raises:
            SfumatoError: The plan cannot be run.
        """
        kept, key = self.workspace.estimated, self._key(plan)
        with self.workspace.estimating:
            if key not in kept:
                kept[key] = self._made(plan)
            for old in list(kept)[:-MOST_KEPT]:
                del kept[old]
            made: Estimate | None = kept[key]
        return made

    def known(self, plan: Mapping[str, Any]) -> Estimate | None:
        """The estimate for a plan, where it was made already."""
        return self.workspace.estimated.get(self._key(plan))

    def prepare(self, plan: Mapping[str, Any]) -> None:
        """Make the estimate before somebody asks for it; what is wrong with the plan is told then."""
        with self.workspace.working(), suppress(SfumatoError, RefusedError, OSError):
            self.of(plan)

    def _made(self, plan: Mapping[str, Any]) -> Estimate | None:
        resolved = self._resolved(plan)
        table = self._counted(resolved, plan)
        if len(table.counts) > MOST_COMBINATIONS:
            return None
        try:
            result = self._searched(plan, resolved, table)
        except SfumatoError as error:
            if error.code.startswith("unattainable"):
                return Estimate(0.0, table.rows, resolved.quasi_identifiers)
            raise
        losses = result.per_column
        withheld = int(result.recoding.sizes[result.recoding.suppressed].sum())
        tops = {name: ladder.height - 1 for name, ladder in zip(table.columns, table.ladders, strict=True)}
        lost = tuple(name for name, loss in losses.items() if loss >= NOTHING_LEFT and tops[name] > 0)
        return Estimate(1.0 - sum(losses.values()) / max(len(losses), 1), withheld, lost)

    def _searched(self, plan: Mapping[str, Any], quick: Plan, table: FrequencyTable) -> Result:
        """What the quickest method finds, or what the method of the plan does in a moment where that loses less."""
        method = plan["method"]
        known = method["name"] in OWN_METHODS and method.get("loss", "loss-metric") == "loss-metric"
        if len(table.counts) > FEW_COMBINATIONS:
            return _searched_by_sizes(quick, table)
        if not known:
            return search(quick, table)
        own = resolve(read_plan({**plan, "method": {**method, "time_limit": MOMENT_SECONDS}}, quick.folder))
        results, errors = [], []
        for one in (quick, own):
            try:
                results.append(search(one, table))
            except (EngineError, UnattainableError) as error:  # that the moment was too short is no answer
                errors.append(error)
        if not results:
            raise errors[0]
        return min(results, key=lambda result: sum(result.per_column.values()))

    def count(self, plan: Mapping[str, Any]) -> FrequencyTable:
        """The frequency table of a plan, counted once for all that is told of a goal.

        Who asks while it is counted for an estimate waits for that.

        Raises:
            SfumatoError: The plan cannot be run.
        """
        with self.workspace.estimating:
            return self._counted(self._resolved(plan), plan)

    def _resolved(self, plan: Mapping[str, Any]) -> Plan:
        check_paths(plan, self.workspace.files(dict(plan)))  # before any file that it names is read
        quick = deepcopy(dict(plan))
        method = quick["method"]
        suppression = method.get("suppression", 0.0) if method["name"] != "k-optimize" else 0.0
        quick["method"] = {"name": METHOD, "loss": "loss-metric", "suppression": suppression}
        for column in quick["columns"].values():
            column.pop("importance", None)  # other methods know neither what cells cost
            if column["role"] == "quasi-identifier":
                column.pop("publish", None)  # nor means of groups
        return resolve(read_plan(quick, self.workspace.place("x").parent))

    def _counted(self, resolved: Plan, plan: Mapping[str, Any]) -> FrequencyTable:
        key = self._key(plan, counted=True)
        known = self.workspace.counted
        if known is None or known[0] != key or not _serves(known[1], resolved):
            assert self.workspace.loaded is not None
            with closing(DuckDBEngine(self.workspace.loaded.path, resolved.source_data)) as engine:
                known = self.workspace.counted = (key, resolved, frequency_table(resolved, engine))
        return known[2].holding(resolved.value_columns)

    def _key(self, plan: Mapping[str, Any], counted: bool = False) -> str:
        """What of a plan and its data decides an estimate, or the count behind it."""
        goal = [entry.get("population") for entry in plan["privacy"]] if counted else plan["privacy"]
        goal = [part for part in goal if part is not None]
        method = None if counted else plan["method"]
        data = self.workspace.loaded.path if self.workspace.loaded else ""
        return repr((plan["columns"], goal, plan.get("data"), method, data))


def _serves(counted: Plan, plan: Plan) -> bool:
    """Whether what was counted for one plan is the count of another, which promises no more columns."""
    promised = {*plan.promise_columns}
    same = counted.subset == plan.subset and {*counted.spelled_columns} & promised == {*plan.spelled_columns}
    if plan.person is not None:  # persons are counted by the columns of promises
        return same and counted.promise_columns == plan.promise_columns
    return same and promised <= {*counted.promise_columns} and {*plan.value_columns} <= {*counted.value_columns}


def _searched_by_sizes(plan: Plan, table: FrequencyTable) -> Result:
    """What the quickest method finds by the sizes of groups, where all other promises hold there, too; they mostly do.

    To count the values in all groups of a long table takes ten times as long as to count their rows.
    """
    of_sizes = tuple(model for model in plan.privacy if model.column is None)
    if not of_sizes or len(of_sizes) == len(plan.privacy):
        return search(plan, table)
    alone = replace(plan, privacy=of_sizes)
    levels = search(alone, table.holding(())).levels
    columns = {
        name: replace(column, min_level=levels[name], max_level=levels[name]) if name in levels else column
        for name, column in plan.columns.items()
    }
    try:
        return search(replace(plan, columns=columns), table)
    except UnattainableError:
        return search(plan, table)
