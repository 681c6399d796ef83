"""Estimate within a second what a goal costs: information loss and suppressed rows.

Rows are counted once for a choice of columns and hierarchies; a goal is then evaluated on the frequency table alone,
and results of a plan are cached. It is an estimate: if the table is small, the method of the plan gets a moment;
otherwise the fastest method is used, which has one level per column for all rows. The run itself may lose less.
"""

from collections.abc import Mapping
from contextlib import closing, suppress
from copy import deepcopy
from typing import Any

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import EngineError, SfumatoError, UnattainableError
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.search import search
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve
from sfumato.pipelines.release_stages.counting import frequency_table
from sfumato.service.jobs.plans import check_paths
from sfumato.service.problems import RefusedError
from sfumato.values import State, Value, replace
from sfumato.web.projects.workspace import Workspace

# Tables with more combinations are not searched for an estimate.
MOST_COMBINATIONS = 2_000_000
# Number of cached estimates.
MOST_KEPT = 64
# The method of fast estimates: one level per column, found by a greedy search.
METHOD = "greedy"
# Methods that return what they have after a moment, for tables with at most this many combinations.
OWN_METHODS, FEW_COMBINATIONS, MOMENT_SECONDS = ("auto", "local", "mondrian"), 20_000, 0.4
# A column that lost this proportion counts as lost.
NOTHING_LEFT = 0.995


class Estimate(Value):
    """The estimated cost of a goal.

    Attributes:
        detail: The proportion of detail preserved, averaged over the quasi-identifiers.
        withheld: The number of suppressed rows.
        lost: Columns without remaining detail.
    """

    detail: float
    withheld: int
    lost: tuple[str, ...]


class Estimates(State):
    """The estimates of a workspace; the counts are cached there while columns and hierarchies stay the same."""

    workspace: Workspace

    def of(self, plan: Mapping[str, Any]) -> Estimate | None:
        """Return the estimate for a plan, or None if there is no fast one.

        A concurrent request for the same estimate waits for it.

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
        """Return the estimate for a plan if it was made already."""
        return self.workspace.estimated.get(self._key(plan))

    def prepare(self, plan: Mapping[str, Any]) -> None:
        """Make the estimate in advance; errors of the plan are reported on request."""
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
        tops = {name: hierarchy.height - 1 for name, hierarchy in zip(table.columns, table.ladders, strict=True)}
        lost = tuple(name for name, loss in losses.items() if loss >= NOTHING_LEFT and tops[name] > 0)
        return Estimate(1.0 - sum(losses.values()) / max(len(losses), 1), withheld, lost)

    def _searched(self, plan: Mapping[str, Any], quick: Plan, table: FrequencyTable) -> Result:
        """Return the result of the fast method, or that of the plan's method if that loses less within a moment."""
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
            except (EngineError, UnattainableError) as error:  # a time limit that was too short is not a result
                errors.append(error)
        if not results:
            raise errors[0]
        return min(results, key=lambda result: sum(result.per_column.values()))

    def count(self, plan: Mapping[str, Any]) -> FrequencyTable:
        """Return the frequency table of a plan, counted once for all metrics of a goal.

        A concurrent request waits for a count in progress.

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
            # METHOD supports neither the importance of columns, which sets the cost of suppressing single values, nor
            # publishing the means of groups.
            column.pop("importance", None)
            if column["role"] == "quasi-identifier":
                column.pop("publish", None)
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
        """Return a key of everything in a plan and its data that affects an estimate, or the counts for it."""
        goal = [entry.get("population") for entry in plan["privacy"]] if counted else plan["privacy"]
        goal = [part for part in goal if part is not None]
        method = None if counted else plan["method"]
        data = self.workspace.loaded.path if self.workspace.loaded else ""
        return repr((plan["columns"], goal, plan.get("data"), method, data))


def _serves(counted: Plan, plan: Plan) -> bool:
    """Return whether the counts made for one plan can be used for another: they include all columns that it needs."""
    promised = {*plan.promise_columns}
    same = counted.subset == plan.subset and {*counted.spelled_columns} & promised == {*plan.spelled_columns}
    if plan.person is not None:  # persons are counted with the columns of the models
        return same and counted.promise_columns == plan.promise_columns
    return same and promised <= {*counted.promise_columns} and {*plan.value_columns} <= {*counted.value_columns}


def _searched_by_sizes(plan: Plan, table: FrequencyTable) -> Result:
    """Return the result of the fast method by class sizes if it also satisfies all other models, which is usual.

    Counting the sensitive values of all classes of a long table takes ten times as long as counting their rows.
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
