"""Sensitivity rules (primary suppression): which cells are sensitive, and their protection levels."""

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Protocol

import numpy as np

from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message
from sfumato.schema.dataclass_schema import KeyInfo, TextOrNumber
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, Places, ProtectionLevels
from sfumato.values import Value, field, replace

Level = Literal["holding", "respondent"]


class RuleInputs(Value):
    """The inputs of sensitivity rules.

    Attributes:
        frequency: The number of respondents; in a table of counts the values themselves.
        contributions: The largest contributions by absolute size, one array per rank.
        finest: Cells that are not totals of others.
        counts: Whether the values are counts of respondents.
        columns: The further columns of the source.
        singles: The largest contributions of single respondents, if `contributions` are those of holdings.
        lines: For each dimension, the position of the total that each cell is a part of; -1 if there is none.
        records: Whether the values count records, of which a respondent or holding may have several.
        own: The insider's contribution to each cell; `contributions` are then those of the others. None for an
            outsider.
    """

    values: Numbers
    frequency: Numbers | None
    holdings: Numbers | None
    contributions: tuple[Numbers, ...]
    finest: BoolArray
    counts: bool
    columns: TextColumns
    singles: tuple[Numbers, ...] = ()
    lines: Mapping[str, Places] = field(default_factory=dict)
    own: Numbers | None = None
    records: bool = False

    def top(self, largest: int, rule: str, level: Level = "holding") -> Numbers:
        """Return the sum of the largest contributions by absolute size; losses count like profits."""
        columns, key = (self.singles, "respondents") if level == "respondent" else (self.contributions, "contributions")
        if len(columns) < largest:
            raise PlanError("no-contributions", name=rule, count=largest, name_hint=key)
        sizes = np.sort(np.abs(np.nan_to_num(np.stack(columns))), axis=0)
        return np.asarray(sizes[-largest:].sum(axis=0))

    @property
    def sizes(self) -> Numbers:
        """The absolute values without the insider's contribution. If contributions have both signs this is less than
        their absolute sum, so that the rules err on the safe side.
        """
        return np.abs(self.values if self.own is None else self.values - self.own)

    def without(self, cells: Places, own: Numbers) -> "RuleInputs":
        """Return the inputs for some cells from an insider's view, without the insider's contribution."""
        part = self._rows(cells)
        if not self.contributions:
            return replace(part, own=own)
        stack = np.nan_to_num(np.stack(part.contributions))
        his = np.abs(stack - own).argmin(axis=0)
        listed = np.abs(np.take_along_axis(stack, his[None], 0)[0] - own) <= 1e-6 * np.maximum(1.0, np.abs(own))
        columns = np.arange(len(cells))
        # The next contribution is at most the smallest listed one, and at most the rest.
        left = np.maximum(np.abs(part.values) - np.abs(stack).sum(axis=0), 0.0)
        stack[his[listed], columns[listed]] = np.minimum(np.abs(stack[-1]), left)[listed]
        return replace(part, contributions=tuple(stack), own=own)

    def _rows(self, cells: Places) -> "RuleInputs":
        return RuleInputs(
            self.values[cells],
            None if self.frequency is None else self.frequency[cells],
            None if self.holdings is None else self.holdings[cells],
            tuple(column[cells] for column in self.contributions),
            self.finest[cells],
            self.counts,
            self.columns.rows(cells),
            tuple(column[cells] for column in self.singles),
            self.lines,
            records=self.records,
        )

    @property
    def empty(self) -> BoolArray:
        """Cells without contributors: value 0 and no contribution."""
        empty = self.values == 0
        for column in self.contributions:
            empty &= np.nan_to_num(column) == 0
        return np.asarray(empty if self.frequency is None else empty & (self.frequency == 0))

    def respondents(self, rule: str) -> Numbers:
        """Return the number of respondents in each cell."""
        if self.frequency is None:
            raise PlanError("no-frequency", rule=rule)
        return self.frequency


# Safety margin, in percent of the value, of rules that imply none.
DEFAULT_PERCENT = 10.0
Least = Annotated[float, KeyInfo("cells with fewer, but not none, are sensitive", minimum=1)]
Many = Annotated[int, KeyInfo("how many of the largest contributions count together", minimum=1)]
Marks = Annotated[tuple[TextOrNumber, ...], KeyInfo("marks of the cells that are meant", at_least=1)]
MarkColumn = Annotated[str, KeyInfo("the column with the marks")]
At = Annotated[Level, KeyInfo("whose contributions are looked at, where the table has both")]


# Usual marks of sensitive cells, and of cells that are neither sensitive nor always published.
UNSAFE_MARKS = ("u", "unsafe", "3", "4", "5", "6", "7", "8", "9")
SAFE_MARKS = ("", "s", "safe", "m", "x", "p", "e", "v", "1", "2", "10", "11", "12", "13", "14")
# Marks that mean yes.
YES = ("1", "true", "yes", "y", "x")


# Source of rules and levels: Hundepool et al., Statistical Disclosure Control (2012), doi:10.1002/9781118348239, ch. 4.
class RuleResult(Value):
    """The result of a rule: sensitive cells, their protection levels, and bounds that the rule itself makes public."""

    unsafe: BoolArray
    reach: ProtectionLevels
    bounds: Bounds
    waived: BoolArray
    published: BoolArray


def evaluate(
    unsafe: BoolArray, down: Numbers, up: Numbers, floor: float = -np.inf, ceiling: float = np.inf
) -> RuleResult:
    """Return a result without waivers; the bounds apply to the sensitive cells."""
    none = np.zeros(len(unsafe), bool)
    bounds = Bounds(np.where(unsafe, floor, -np.inf), np.where(unsafe, ceiling, np.inf))
    return RuleResult(unsafe, ProtectionLevels(down, up).at(unsafe), bounds, none, none)


class SensitivityRule(Protocol):
    """A sensitivity rule; its name is that in the plan."""

    name: ClassVar[str]

    def apply(self, facts: RuleInputs) -> RuleResult: ...


class RangeRule(Value):
    """Finest cells from `min` to `max` are sensitive; the range itself is public."""

    name: ClassVar[str] = "range"
    min: Annotated[float, KeyInfo("the smallest sensitive value")]
    max: Annotated[float, KeyInfo("the largest sensitive value")]

    @property
    def suppresses_empty(self) -> bool:
        """Whether the rule shows that empty cells are suppressed."""
        return self.min <= 0 <= self.max

    def __post_init__(self) -> None:
        if self.min >= self.max:
            raise ValueError(Message("error.value.min_must_lie_below"))

    def apply(self, facts: RuleInputs) -> RuleResult:
        values = facts.values
        unsafe = facts.finest & (values >= self.min) & (values <= self.max)
        return evaluate(unsafe, values - self.min, self.max - values, self.min, self.max)


class Frequency(Value):
    """Cells with 1 to `min` - 1 respondents are sensitive (counts are protected by 1, sums by 10 %)."""

    name: ClassVar[str] = "frequency"
    min: Least

    def apply(self, facts: RuleInputs) -> RuleResult:
        respondents = facts.respondents("frequency")
        unsafe = (respondents > 0) & (respondents < self.min)
        margin = np.ones(len(unsafe)) if facts.counts else _percent(facts.sizes)
        return evaluate(unsafe, margin, margin)


class ZeroUnsafe(Value):
    """Cells of value 0 are sensitive: that they are empty must not be disclosed; `margin` is the protection level."""

    name: ClassVar[str] = "zero"
    suppresses_empty: ClassVar[bool] = True
    margin: Annotated[float, KeyInfo("how far above 0 the range must reach", minimum=0)] = 1.0

    def apply(self, facts: RuleInputs) -> RuleResult:
        unsafe = facts.values == 0
        return evaluate(unsafe, np.zeros(len(unsafe)), np.full(len(unsafe), self.margin))


class Dominance(Value):
    """(n,k): cells whose n largest contributions exceed k percent of the value are sensitive, all by absolute size."""

    name: ClassVar[str] = "dominance"
    n: Many
    k: Annotated[float, KeyInfo("percent of the cell that they must not exceed", minimum=1, maximum=100)]
    level: At = "holding"

    def apply(self, facts: RuleInputs) -> RuleResult:
        top = facts.top(self.n, "dominance", self.level)
        need = np.maximum(top * 100.0 / self.k - facts.sizes, 0.0)
        return evaluate(_inhabited(facts) & (top > facts.sizes * self.k / 100.0), need, need)


class PriorPosterior(Value):
    """pq: sensitive if the `n` next largest contributors, who know others within q percent, know the largest within p
    percent.
    """

    name: ClassVar[str] = "p-percent"
    p: Annotated[float, KeyInfo("percent within which no one may know the largest contribution", minimum=0)]
    q: Annotated[float, KeyInfo("percent within which everyone knew it before", minimum=0)] = 100.0
    n: Many = 1
    level: At = "holding"

    def __post_init__(self) -> None:
        if not 0 < self.p < self.q:
            raise ValueError(Message("error.value.p_must_lie_between"))

    def apply(self, facts: RuleInputs) -> RuleResult:
        # An insider is one of the n.
        many = self.n + 1 if facts.own is None else self.n
        largest, together = (facts.top(count, "p-percent", self.level) for count in (1, many))
        need = self.p / self.q * largest - (facts.sizes - together)
        return evaluate(_inhabited(facts) & (need > 1e-9 * largest), np.maximum(need, 0.0), np.maximum(need, 0.0))


class Holdings(Value):
    """Cells with 1 to `min` - 1 holdings are sensitive."""

    name: ClassVar[str] = "holdings"
    min: Least

    def apply(self, facts: RuleInputs) -> RuleResult:
        if facts.holdings is None:
            raise PlanError("no-holdings")
        margin = _percent(facts.sizes)
        return evaluate((facts.holdings > 0) & (facts.holdings < self.min), margin, margin)


class Request(Value):
    """Cells whose largest contributor requested protection and has at least `share` percent of the value."""

    name: ClassVar[str] = "request"
    column: Annotated[str, KeyInfo("the column that says so")]
    share: Annotated[
        float, KeyInfo("percent of the cell that the largest contributor must have", minimum=0, maximum=100)
    ] = 0.0
    level: At = "holding"

    def apply(self, facts: RuleInputs) -> RuleResult:
        asked = _marked(facts.columns, self.column, YES)
        large = np.ones(len(asked), bool)
        if self.share > 0:
            large = facts.top(1, "request", self.level) >= facts.sizes * self.share / 100.0
        margin = _percent(facts.sizes)
        return evaluate(_inhabited(facts) & asked & large, margin, margin)


class StatusColumn(Value):
    """A column marks which cells are sensitive, which must be published and which are safe; other marks are
    refused.

    Numbers are the cell statuses of τ-ARGUS.
    """

    name: ClassVar[str] = "status"
    column: MarkColumn
    sensitive: Marks = UNSAFE_MARKS
    publish: Annotated[tuple[TextOrNumber, ...], KeyInfo("marks of cells that must be published")] = ("z", "publish")
    safe: Annotated[tuple[TextOrNumber, ...], KeyInfo("marks of all other cells")] = SAFE_MARKS

    def apply(self, facts: RuleInputs) -> RuleResult:
        self._check(facts.columns)
        margin = np.ones(len(facts.values)) if facts.counts else _percent(facts.sizes)
        judgment = evaluate(_marked(facts.columns, self.column, self.sensitive), margin, margin)
        return replace(judgment, published=_marked(facts.columns, self.column, self.publish))

    def _check(self, columns: TextColumns) -> None:
        """Refuse an unknown mark: a sensitive cell might be treated as safe."""
        known = _marked(columns, self.column, (*self.sensitive, *self.publish, *self.safe))
        wrong = np.flatnonzero(~known)
        if len(wrong):
            texts = columns.text(self.column)
            raise DataError("status-mark.unknown_marks", column=self.column, count=len(wrong), row=wrong[0] + 1).about(
                values=list(dict.fromkeys(texts[row] for row in wrong)),
                column=self.column,
                rows=[int(row) + 1 for row in wrong],
            )


def check_marks(rules: Sequence[SensitivityRule], columns: TextColumns) -> None:
    """Refuse a rule whose own marks no cell has: it would classify none as sensitive, unnoticed."""
    for rule in rules:
        if not isinstance(rule, StatusColumn) or rule.sensitive == UNSAFE_MARKS or rule.column not in columns:
            continue
        if not _marked(columns, rule.column, rule.sensitive).any():
            raise DataError("status-mark.no_sensitive_mark", column=rule.column).about(column=rule.column)


class Waiver(Value):
    """Cells whose respondents agreed to publication: safe, whatever the other rules give."""

    name: ClassVar[str] = "waiver"
    column: MarkColumn
    marks: Marks = YES

    def apply(self, facts: RuleInputs) -> RuleResult:
        return replace(nothing(len(facts.values)), waived=_marked(facts.columns, self.column, self.marks))


def nothing(size: int) -> RuleResult:
    """Return the result of a rule that applies to no cell."""
    none = np.zeros(size)
    return evaluate(none > 0, none, none)


def combine(judgments: Sequence[RuleResult], size: int) -> RuleResult:
    """Combine rules: sensitive if any rule applies and no waiver does; the largest protection levels are used."""
    one = nothing(size)
    for other in judgments:
        one = RuleResult(
            one.unsafe | other.unsafe,
            ProtectionLevels(
                np.maximum(one.reach.lower, other.reach.lower), np.maximum(one.reach.upper, other.reach.upper)
            ),
            one.bounds.within(other.bounds),
            one.waived | other.waived,
            one.published | other.published,
        )
    kept = one.unsafe & ~one.waived
    bounds = Bounds(np.where(kept, one.bounds.low, -np.inf), np.where(kept, one.bounds.high, np.inf))
    return RuleResult(kept, one.reach.at(kept), bounds, one.waived, one.published & ~kept)


def _inhabited(facts: RuleInputs) -> BoolArray:
    return ~facts.empty if facts.frequency is None else np.asarray(facts.frequency > 0)


def _percent(values: Numbers) -> Numbers:
    return np.asarray(np.abs(values) * DEFAULT_PERCENT / 100.0)


def _marked(columns: TextColumns, name: str, marks: Sequence[str]) -> BoolArray:
    wanted = {mark.lower() for mark in marks}
    return np.array([text.lower() in wanted for text in columns.text(name)], bool)


# Source: Hundepool et al., ch. 5. An attacker who knows that a category must be empty is not considered by this rule.
class GroupDisclosure(Value):
    """If the `n` largest parts of a total along a dimension have at least k percent of it, the next part is sensitive;
    its interval must allow their proportion to be below k percent.
    """

    name: ClassVar[str] = "group-disclosure"
    dimension: Annotated[str, KeyInfo("the dimension that must not be learnt")]
    k: Annotated[float, KeyInfo("percent", minimum=50, maximum=100)] = 100.0
    n: Annotated[int, KeyInfo("how many categories count together", minimum=1)] = 1

    def apply(self, facts: RuleInputs) -> RuleResult:
        if not (facts.counts or facts.records) or self.dimension not in facts.lines:
            raise PlanError("no-dimension", dimension=self.dimension)
        above = facts.lines[self.dimension]
        other, total, top = _lines(facts.values, above, self.n)
        # With this many more in the next part, moved from the largest or added, their proportion falls below k percent.
        more = np.floor(top * 100.0 / self.k - total + 1e-9) + 1.0
        held = (total > 0) & (top >= total * self.k / 100.0 - 1e-9)
        need = np.zeros(len(above))
        need[other[held]] = more[held]
        return evaluate(_at(other[held], len(above)), np.zeros(len(above)), need)


def _lines(values: Numbers, above: Places, largest: int) -> tuple[Places, Numbers, Numbers]:
    """Return, for each total with more than `largest` parts, the next part, the total, and the sum of the largest.

    In a published file, suppressed values are NaN. A suppressed part may have nearly all of its total, and certainly
    has if all other parts are published zeros. Lines for which this is uncertain are left out.
    """
    size = np.where(np.isnan(values), np.inf, values)
    parts = np.flatnonzero(above >= 0)
    order = parts[np.lexsort((-size[parts], above[parts]))]
    starts = np.flatnonzero(np.diff(above[order], prepend=-1))
    ends = starts + np.diff(starts, append=len(order))
    every = [size[order[start:end]] for start, end in zip(starts, ends, strict=True)]
    certain = [len(line) > largest and (line[0] < np.inf or not line[largest:].any()) for line in every]
    starts, lines = starts[np.array(certain, bool)], [line for line, sure in zip(every, certain, strict=True) if sure]
    total, sums = values[above[order[starts]]], np.array([line.sum() for line in lines])
    total = np.where(np.isnan(total), np.where(np.isinf(sums), 1.0, sums), total)
    top = np.array([line[:largest].sum() for line in lines])
    return order[starts + largest], total, np.where(np.isinf(top), total, top)


def _at(cells: Places, size: int) -> BoolArray:
    mask = np.zeros(size, bool)
    mask[cells] = True
    return mask
