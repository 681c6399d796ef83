"""Columns that lost much of their information in a release, and changes of the plan that would preserve them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.hierarchies.hierarchy import present_codes
from sfumato.microdata.counts.combinations import packing_of
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.class_assessment import HALF, column_losses, shares_lost
from sfumato.microdata.methods.class_labels import treat_fully_generalized_classes
from sfumato.microdata.methods.full_domain.problem import levels_allowed, problem_of, with_all_levels
from sfumato.microdata.methods.search import find_recoding, search_table
from sfumato.microdata.methods.search_result import Deadline, Result
from sfumato.microdata.models.equivalence_classes import Counts, Floats, Histogram, histogram
from sfumato.microdata.plan.methods import FullDomain, Greedy, Local, Mondrian, Suppression
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.microdata.recoding.mapping import LevelRecoding, Recoding, tells_something
from sfumato.values import Value, field, replace

Find = Callable[[Plan, FrequencyTable, None], Result]
# Time limit of all trials of a release, in addition to its search: this multiple of the search time, within limits, and
# no longer than it if the search timed out, because most trials then time out as well. More rows than this share are no
# remedy; maximum number of columns tried.
LEAST_SECONDS = 1.0
MOST_SECONDS = 10.0
TIMES_SEARCH = 4.0
MOST_ROWS = 0.1
MOST_COLUMNS = 3


class RecoveryOption(Value):
    """A change that would preserve a column: more suppressed rows, removal of another column, or another method.

    More suppressed rows, removal of another quasi-identifier, another method, or levels that the plan forbids. Each
    reported change was searched, and its result preserves more than half of the column. What the time does not allow is
    not reported.

    Attributes:
        levels: Levels that the plan forbids would preserve it, alone or with the other named change.
        levels_tried: Other levels were tried, because the plan restricts them.
        cut_short: The search timed out without a result.
        untried: The time limit allowed no attempt.
    """

    rows: int | None = None
    column: str | None = None
    method: str | None = None
    levels: bool = False
    levels_tried: bool = False
    cut_short: bool = False
    untried: bool = False


class TrialOutcome(Value):
    """The result of a trial: the loss of each column, and the suppressed rows."""

    losses: Mapping[str, float]
    hidden: int

    def is_satisfied(self, name: str) -> bool:
        return self.losses.get(name, 1.0) <= HALF


# A possible change: the key of its trial, the trial, and the remedy if it succeeds.
Way = tuple[Any, Callable[[], TrialOutcome | None], Callable[[TrialOutcome], RecoveryOption]]


class RecoverySearch:
    """Searches with one change each, run once for all lost columns.

    Args:
        find: The search function.
        seconds: Duration of the search whose result is examined.
    """

    def __init__(self, plan: Plan, table: FrequencyTable, result: Result, find: Find, seconds: float = 0.0) -> None:
        self.table, self.result, self.find = table, result, find
        self.allowed = levels_allowed(plan, table)
        # If a single node is allowed, no other change has any effect: then everything is tried with all levels allowed.
        self.freed = bool(self.allowed) and self.allowed["combinations"] == 1
        self.plan = with_all_levels(plan) if self.freed else plan
        self.method: Any = result.method or plan.method
        times = 1.0 if result.cut_short else TIMES_SEARCH
        self.deadline = Deadline(min(max(times * seconds, LEAST_SECONDS), MOST_SECONDS))
        self.outcomes: dict[Any, TrialOutcome | None] = {}
        self.late: set[Any] = set()

    def remedy(self, name: str) -> RecoveryOption:
        """Return the first tested change that preserves a lost column; an empty one if there is none."""
        place = self.table.columns.index(name)
        asked = list[Any]()
        for key, trial, remedy in self._ways(place):
            asked.append(key)
            outcome = self._tried(key, trial)
            if outcome is not None and outcome.is_satisfied(name):
                found = remedy(outcome)
                return replace(found, levels=found.levels or self.freed)
        late = [key for key in asked if key in self.late]
        untried = bool(late) and len(late) == len(asked)
        return RecoveryOption(levels_tried=bool(self.allowed), cut_short=bool(late), untried=untried)

    def _ways(self, place: int) -> Iterator[Way]:
        """Yield the possible changes; forbidden levels come first if the plan allows a single node, else last."""
        levels: Way = "levels", self._with_levels, lambda _outcome: RecoveryOption(levels=True)
        if self.freed:
            yield levels
        yield from self._within_levels(place)
        if self.allowed and not self.freed:
            yield levels

    def _with_levels(self) -> TrialOutcome | None:
        """Try all levels, ignoring the restrictions of the plan."""
        return self._found(replace(with_all_levels(self.plan), method=self.method), self.table)

    def _within_levels(self, place: int) -> Iterator[Way]:
        """Yield the possible changes, the cheapest first: key, trial, and the remedy if it succeeds."""
        rows = self._more_rows(place)
        if rows is not None:
            hidden = self._hidden
            yield (
                ("rows", rows),
                partial(self._with_rows, rows),
                lambda outcome: RecoveryOption(rows=outcome.hidden - hidden),
            )
        for other in self._others(place):
            name = self.table.columns[other]
            yield other, partial(self._without, other), lambda _outcome, name=name: RecoveryOption(column=name)  # type: ignore[misc]
        if self._chooses_node or isinstance(self.method, Mondrian):
            yield "local", self._by_local, lambda _outcome: RecoveryOption(method="local")

    @property
    def _hidden(self) -> int:
        recoding = self.result.recoding
        return int(recoding.sizes[recoding.suppressed].sum())

    def _by_local(self) -> TrialOutcome | None:
        """Try local recoding within the suppression limit, or reuse its result if it was already tried."""
        found = self.result.others.get("local")
        if found is not None and not found.cut_short and not self.freed:
            return self._of_trial(found)
        budget = self.method.suppression if self._chooses_node else Suppression(rows=0)
        local = Local(suppression=budget, aggregate=self.method.aggregate)
        return self._found(replace(self.plan, method=local), self.table)

    @property
    def _chooses_node(self) -> bool:
        """Whether the method chooses one node within a suppression limit."""
        return isinstance(self.method, FullDomain) and not isinstance(self.method, Local)

    def _more_rows(self, place: int) -> int | None:
        """Return the suppressed rows with which a column keeps half, if the method chooses a node within a limit."""
        recoding = self.result.recoding
        if not isinstance(recoding, LevelRecoding) or not self._chooses_node or self.deadline.over:
            return None
        rows = self._rows_of_finer_level(recoding, place)
        return rows if rows is not None and 0 < rows - self._hidden <= MOST_ROWS * self.table.rows else None

    def _with_rows(self, rows: int) -> TrialOutcome | None:
        """Try more suppressed rows: the method may then choose a finer node."""
        method = replace(self.method, suppression=Suppression(rows=rows))
        outcome = self._found(replace(self.plan, method=method), self.table)
        return outcome if outcome is not None and outcome.hidden > self._hidden else None

    def _rows_of_finer_level(self, recoding: LevelRecoding, place: int) -> int | None:
        """Return the suppressed rows when a column keeps half and the others stay unchanged."""
        ladder, rows = self.table.ladders[place], self.table.marginal(place)
        problem = problem_of(self.plan, Greedy(), self.table)
        for level in range(recoding.node[place] - 1, problem.lowest[place] - 1, -1):
            mean = float((ladder.penalties[level][ladder.codes[level]] * rows).sum()) / max(self.table.rows, 1)
            if mean <= HALF:
                return problem.evaluate((*recoding.node[:place], level, *recoding.node[place + 1 :])).suppressed_rows
        return None

    def _others(self, place: int) -> list[int]:
        """Return the other columns with most published information: removing one of these helps the others most."""
        if self.table.population is not None or self.table.sample is not None or len(self.table.columns) < 2:
            return []
        others = [other for other in range(len(self.table.columns)) if other != place]
        return sorted(others, key=lambda other: -self._told[other])[:MOST_COLUMNS]

    @cached_property
    def _told(self) -> list[float]:
        """Return the published information of each column: its distinguishing power, reduced by its loss.

        A lost column no longer restricts the others.
        """
        losses = column_losses(self.plan, self.table, self.result)
        names = enumerate(self.table.columns)
        return [_entropy(self.table.marginal(place)) * (1.0 - losses.get(name, 0.0)) for place, name in names]

    def _without(self, place: int) -> TrialOutcome | None:
        columns = {**self.plan.columns, self.table.columns[place]: ColumnPlan("identifier")}
        plan = replace(self.plan, columns=columns, method=self.method)
        return self._found(plan, without_column(self.table, place))

    def _tried(self, key: object, trial: Callable[[], TrialOutcome | None]) -> TrialOutcome | None:
        """Return the outcome of a trial, cached by key; `late` if there was no time to finish it."""
        if key not in self.outcomes:
            self.outcomes[key] = None if self.deadline.over else trial()
            if self.outcomes[key] is None and self.deadline.over:
                self.late.add(key)
        return self.outcomes[key]

    def _found(self, plan: Plan, table: FrequencyTable) -> TrialOutcome | None:
        """Return the outcome of another search; None if it is not certain."""
        method: Any = plan.method
        limit = min(self.deadline.left, getattr(method, "time_limit", self.deadline.left))
        timed = replace(method, time_limit=limit) if hasattr(method, "time_limit") else method
        try:
            result = self.find(replace(plan, method=timed), table, None)
        except SfumatoError:
            return None
        return None if result.cut_short else _outcome(plan, table, result)

    def _of_trial(self, found: Result) -> TrialOutcome | None:
        """Return the outcome of another method tried by `auto`, with its fully generalized classes left as they are."""
        try:
            recoding = treat_fully_generalized_classes(self.plan, self.table, found.recoding)
        except SfumatoError:
            return None
        return _outcome(self.plan, self.table, replace(found, recoding=recoding))


def _outcome(plan: Plan, table: FrequencyTable, result: Result) -> TrialOutcome:
    hidden = int(result.recoding.sizes[result.recoding.suppressed].sum())
    return TrialOutcome(column_losses(plan, table, result), hidden)


def without_column(table: FrequencyTable, place: int) -> FrequencyTable:
    """Return the table as counted without a column."""
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
    """Return the histogram of merged combinations."""
    added = histogram(owners[content.owners], content.values, content.counts, count, content.size)
    return replace(added, texts=content.texts, pair_values=content.pair_values)


def _entropy(rows: Counts) -> float:
    shares: Floats = rows[rows > 0] / max(int(rows.sum()), 1)
    return float(-(shares * np.log(shares)).sum())


class HeavilyGeneralizedColumn(Value):
    """A heavily generalized quasi-identifier.

    Attributes:
        share_lost: The mean loss of published rows, 1 if no information is left (column_losses.py).
        labels: Number of informative published labels.
        values: Number of distinct values of the data, without missing values.
        remedy: A tested change that would preserve it, if there is one.
    """

    column: str
    share_lost: float
    labels: int
    values: int
    remedy: RecoveryOption = field(default_factory=RecoveryOption)

    @property
    def share_of_values_left(self) -> float:
        """Share of distinct values left, at most 1 (labels of several levels overlap and may outnumber the values)."""
        return min(self.labels / max(self.values, 1), 1.0)

    def to_dict(self) -> dict[str, Any]:
        return {
            "column": self.column,
            "share_lost": self.share_lost,
            "labels": self.labels,
            "values": self.values,
            "share_of_values_left": self.share_of_values_left,
            "rows_to_suppress": self.remedy.rows,
            "column_to_remove": self.remedy.column,
            "method_to_use": self.remedy.method,
            "levels_to_allow": self.remedy.levels,
            "levels_tried": self.remedy.levels_tried,
            "remedies_cut_short": self.remedy.cut_short,
            "remedies_untried": self.remedy.untried,
        }


def heavily_generalized_columns(
    plan: Plan, table: FrequencyTable, result: Result
) -> tuple[HeavilyGeneralizedColumn, ...]:
    """Return the columns that lost more than half, in the order of the table, without remedies."""
    return tuple(_lost_columns(plan, table, result))


def _lost_columns(plan: Plan, table: FrequencyTable, result: Result) -> Iterator[HeavilyGeneralizedColumn]:
    for name, share in shares_lost(plan, table, result).items():
        place = table.columns.index(name)
        if share > HALF:
            yield HeavilyGeneralizedColumn(name, share, _labels(result.recoding, place), table.value_count(place))


def with_remedies(
    plan: Plan, table: FrequencyTable, result: Result, lost: Sequence[HeavilyGeneralizedColumn], seconds: float = 0.0
) -> tuple[HeavilyGeneralizedColumn, ...]:
    """Add the changes that would preserve lost columns, from separate searches with a time of their own.

    Args:
        seconds: Duration of the search. The most important columns come first, then those with the least loss.
    """
    plan, steering = search_table(plan, table)
    trials = RecoverySearch(plan, steering, result, find_recoding, seconds)
    order = sorted(lost, key=lambda column: (-plan.columns[column.column].weight, column.share_lost))
    remedies = {column.column: trials.remedy(column.column) for column in order}
    return tuple(replace(column, remedy=remedies[column.column]) for column in lost)


def _labels(recoding: Recoding, place: int) -> int:
    """Return the number of informative labels of a column."""
    codes = present_codes(recoding.classes[~recoding.suppressed, place])
    return sum(tells_something(recoding.labels[place][code]) for code in codes)
