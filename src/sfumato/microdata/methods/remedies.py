"""Remedies: what would keep a column that a release has lost, each one tried on the same count with the same method.

More rows withheld, another quasi-identifier withheld, or another method: what is said here was searched for again, and
the column is kept by more than half in what came out. What the time does not allow is not said.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.counts.packing import packing_of
from sfumato.microdata.methods.column_losses import column_losses
from sfumato.microdata.methods.full_domain.search import problem_of
from sfumato.microdata.methods.result import Result
from sfumato.microdata.methods.time_limit import Deadline
from sfumato.microdata.models.classes import Counts, Floats, Histogram, histogram
from sfumato.microdata.plan.methods import FullDomain, Greedy, Local, Mondrian, Suppression
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.microdata.recoding.recoding import LevelRecoding

Find = Callable[[Plan, FrequencyTable, None], Result]
# A column that keeps less than this share is lost.
HALF = 0.5
# Seconds for all trials of a release together, which are none of its search.
# More rows than this share are no remedy; so many columns are tried.
TRIAL_SECONDS = 1.0
MOST_ROWS = 0.1
MOST_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would keep a column: so many more rows withheld, another column withheld, or another method.

    Attributes:
        cut_short: Nothing was found, and the time did not allow to try all.
    """

    rows: int | None = None
    column: str | None = None
    method: str | None = None
    cut_short: bool = False


class Trials:
    """Searches with one thing changed, each done once however many columns are lost.

    Args:
        find: The search.
    """

    def __init__(self, plan: Plan, table: FrequencyTable, result: Result, find: Find) -> None:
        self.plan, self.table, self.result, self.find = plan, table, result, find
        self.method: Any = result.method or plan.method
        self.deadline = Deadline(TRIAL_SECONDS)
        self.outcomes: dict[Any, tuple[Mapping[str, float], int] | None] = {}

    def remedy(self, name: str) -> Remedy:
        """The first remedy for a lost column that was tried and keeps it; none where nothing does."""
        place = self.table.columns.index(name)
        remedies = (remedy for remedy in self._remedies(place) if remedy is not None)
        return next(remedies, None) or Remedy(cut_short=self.deadline.over)

    def _remedies(self, place: int) -> Iterator[Remedy | None]:
        name = self.table.columns[place]
        yield self._with_rows(place)
        for other in self._others(place):
            kept = self._tried(other, lambda other=other: self._without(other))  # type: ignore[misc]
            yield Remedy(column=self.table.columns[other]) if kept and _keeps(kept[0], name) else None
        if self._chooses_node or isinstance(self.method, Mondrian):
            budget = self.method.suppression if self._chooses_node else Suppression(rows=0)
            local = Local(suppression=budget, aggregate=self.method.aggregate)
            kept = self._tried("local", lambda: self._found(replace(self.plan, method=local), self.table))
            yield Remedy(method="local") if kept and _keeps(kept[0], name) else None

    @property
    def _chooses_node(self) -> bool:
        """Whether the method chooses one node within a budget."""
        return isinstance(self.method, FullDomain) and not isinstance(self.method, Local)

    def _with_rows(self, place: int) -> Remedy | None:
        """More rows withheld, where the method chooses a node within a budget: it may choose a finer one then."""
        recoding = self.result.recoding
        if not isinstance(recoding, LevelRecoding) or not self._chooses_node or self.deadline.over:
            return None
        hidden = int(recoding.sizes[recoding.suppressed].sum())
        rows = self._rows_of_finer_level(recoding, place)
        if rows is None or not 0 < rows - hidden <= MOST_ROWS * self.table.rows:
            return None
        method = replace(self.method, suppression=Suppression(rows=rows))
        kept = self._tried(("rows", rows), lambda: self._found(replace(self.plan, method=method), self.table))
        more = kept[1] - hidden if kept and _keeps(kept[0], self.table.columns[place]) else 0
        return Remedy(rows=more) if more > 0 else None

    def _rows_of_finer_level(self, recoding: LevelRecoding, place: int) -> int | None:
        """The rows that are withheld where a column keeps half and the others stay as they are."""
        ladder, rows = self.table.ladders[place], self.table.marginal(place)
        problem = problem_of(self.plan, Greedy(), self.table)
        for level in range(recoding.node[place] - 1, problem.lowest[place] - 1, -1):
            mean = float((ladder.penalties[level][ladder.codes[level]] * rows).sum()) / max(self.table.rows, 1)
            if mean <= HALF:
                return problem.judge((*recoding.node[:place], level, *recoding.node[place + 1 :])).suppressed_rows
        return None

    def _others(self, place: int) -> list[int]:
        """The other columns that tell rows apart most: without one of these, most is won."""
        if self.table.population is not None or self.table.sample is not None or len(self.table.columns) < 2:
            return []
        others = [other for other in range(len(self.table.columns)) if other != place]
        return sorted(others, key=lambda other: -_entropy(self.table.marginal(other)))[:MOST_COLUMNS]

    def _without(self, place: int) -> tuple[Mapping[str, float], int] | None:
        columns = {**self.plan.columns, self.table.columns[place]: ColumnPlan("identifier")}
        plan = replace(self.plan, columns=columns, method=self.method)
        return self._found(plan, without_column(self.table, place))

    def _tried(
        self, key: object, trial: Callable[[], tuple[Mapping[str, float], int] | None]
    ) -> tuple[Mapping[str, float], int] | None:
        """The outcome of a trial, or of the same one before."""
        if key not in self.outcomes:
            self.outcomes[key] = None if self.deadline.over else trial()
        return self.outcomes[key]

    def _found(self, plan: Plan, table: FrequencyTable) -> tuple[Mapping[str, float], int] | None:
        """What each column loses in another release, and the rows that it withholds; None where it is not certain."""
        method: Any = plan.method
        limit = min(self.deadline.left, getattr(method, "time_limit", self.deadline.left))
        timed = replace(method, time_limit=limit) if hasattr(method, "time_limit") else method
        try:
            result = self.find(replace(plan, method=timed), table, None)
        except SfumatoError:
            return None
        if result.cut_short:
            return None
        hidden = int(result.recoding.sizes[result.recoding.suppressed].sum())
        return column_losses(plan, table, result), hidden


def _keeps(shares: Mapping[str, float], name: str) -> bool:
    return shares.get(name, 1.0) <= HALF


def without_column(table: FrequencyTable, place: int) -> FrequencyTable:
    """The table as it would be counted without a column."""
    keep = [other for other in range(len(table.columns)) if other != place]
    codes = np.ascontiguousarray(table.codes[:, keep])
    order = packing_of([table.ladders[other].size for other in keep]).order(codes)
    first = np.ones(len(order), bool)
    first[1:] = (codes[order][1:] != codes[order][:-1]).any(axis=1)
    owners = np.empty(len(order), np.int64)
    owners[order] = np.cumsum(first) - 1
    count = int(first.sum())
    return FrequencyTable(
        tuple(table.columns[other] for other in keep),
        tuple(table.codings[other] for other in keep),
        codes[order][first],
        np.bincount(owners, weights=table.counts, minlength=count).astype(np.int64),
        {name: _added(content, owners, count) for name, content in table.sensitive.items()},
        table.sensitive_values,
        table.dropped_rows,
        spellings=table.spellings,
        persons={name: _added(content, owners, count) for name, content in table.persons.items()},
    )


def _added(content: Histogram, owners: Counts, count: int) -> Histogram:
    """What combinations hold that became one."""
    added = histogram(owners[content.owners], content.values, content.counts, count, content.size)
    return replace(added, texts=content.texts, pair_values=content.pair_values)


def _entropy(rows: Counts) -> float:
    shares: Floats = rows[rows > 0] / max(int(rows.sum()), 1)
    return float(-(shares * np.log(shares)).sum())
