"""Measure what published rows disclose beyond the guarantees, counted from the written file."""

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from random import Random

import numpy as np

from sfumato.engines.engine import Engine, MissingRules
from sfumato.engines.join_keys import PERSON
from sfumato.hierarchies.types import NUMBER_TYPES
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, typed, with_codings
from sfumato.microdata.counts.grouping import counted_by, one_row_each
from sfumato.microdata.counts.persons import by_plain_keys
from sfumato.microdata.measures.attribute_disclosure import (
    AttributeDisclosureMetrics,
    Disclosure,
    SeveralKnown,
    UniqueRows,
    attribute_figures,
    largest_share,
    unique_rows,
)
from sfumato.microdata.measures.inference import (
    InferenceRisk,
    PairInference,
    inference_risks,
    may_infer,
    numbers_of,
    pair_inferences,
    sensitive_pair_inferences,
)
from sfumato.microdata.plan.model import ColumnPlan, Plan
from sfumato.microdata.plan.parts import UtilityPlan
from sfumato.microdata.plan.resolve import for_measuring
from sfumato.microdata.recoding.mapping import Recoding
from sfumato.pipelines.release_stages.counting import (
    MOST_AT_ONCE,
    MOST_COLUMNS,
    SharedCounts,
    other_columns,
    published_reading,
)
from sfumato.values import State, Value, field, replace

# Maximum number of rows processed by all counts together, so that a report does not cost more than the release.
MOST_WORK = 10_000_000
# Cost of a combination in rows, because its texts are transferred.
PER_COMBINATION = 2
PAIRS_SHOWN = 10
# Above this number of combinations, a column with hardly repeated values is not checked for inference.
MOST_OWN = 100_000
# Above this number of rows, the largest proportion of one person in a class is not computed: hardly any combination
# with persons repeats.
MOST_OF_PERSONS = 1_000_000
# If there are more columns than an attacker is assumed to know, some random choices of that many are tried.
KNOWN_OF_SEVERAL, CHOICES = 3, 5


class _Budget:
    """The number of rows that may still be counted."""

    def __init__(self, rows: int, shared: SharedCounts) -> None:
        self.work = MOST_WORK
        self.rows = rows
        self._shared = shared

    def count(self, rows: Engine, columns: tuple[str, ...], reading: MissingRules) -> ValueCounts | None:
        """Count the rows by some columns; None if that exceeds the limit."""
        self.work -= self.rows
        if self.work < 0:
            return None
        text_counts = self._shared.count(rows, columns, reading)
        self.work -= PER_COMBINATION * len(text_counts.counts)
        return text_counts


class _Uniques(Value):
    """Counts unique rows by person if these counts are available, otherwise row by row."""

    plan: Plan
    rows_of_persons: ValueCounts | None

    def by(self, text_counts: ValueCounts, columns: tuple[str, ...], besides: tuple[str, ...] = ()) -> UniqueRows:
        missing, of_persons = self.plan.data.missing, self.rows_of_persons
        if of_persons is None:
            return unique_rows(text_counts, columns, missing, besides)
        return unique_rows(of_persons, columns, missing, besides, of_persons.columns[-1])

    def counted(self, columns: tuple[str, ...]) -> ValueCounts | None:
        """Return the rows counted by some columns and the person as the last column, or None if not available."""
        of_persons = self.rows_of_persons
        return None if of_persons is None else counted_by(of_persons, (*columns, of_persons.columns[-1]))

    def by_several(self, text_counts: ValueCounts) -> SeveralKnown:
        """Return how many rows are unique on several columns that were counted together.

        An attacker may know that a person gave no answer, so missing values count as values.
        """
        names, draw = other_columns(self.plan), Random(0)
        choices = [draw.sample(names, KNOWN_OF_SEVERAL) for _ in range(CHOICES)]
        rows = [self.by(text_counts, (), (*self.plan.quasi_identifiers, *choice)).rows for choice in choices]
        alone = self.by(text_counts, (), names).rows
        return SeveralKnown(len(names), KNOWN_OF_SEVERAL, sum(rows) / CHOICES, alone)


class _Unmeasured(State):
    """Columns skipped because of too many rows: their disclosure in classes, and inference from them."""

    classes: list[str] = field(default_factory=list)
    tells: list[str] = field(default_factory=list)
    pairs: bool = False
    several: bool = False
    persons: bool = False

    def sentences(self) -> Iterator[str]:
        if self.persons:
            yield Message("note.unmeasured_persons")
        if self.classes:
            yield Message("note.unmeasured_classes", names=_quoted(self.classes))
        if self.pairs:
            yield Message("note.unmeasured_pairs")
        if self.several:
            yield "Too many rows: how many of them several columns single out together was not measured."
        if self.tells:
            yield Message("note.unmeasured_tells", names=_quoted(self.tells))


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def disclosure(
    published: Engine,
    recounted: ValueCounts,
    plan: Plan,
    source: Engine,
    table: FrequencyTable,
    recoding: Recoding,
    shared: SharedCounts,
) -> Disclosure:
    """Measure what the published rows disclose.

    Args:
        recounted: The published rows as counted for the verification.
        source: The raw rows.
        table: The frequency table of the raw rows.
        recoding: How the raw rows were published.
        shared: Counts of earlier stages.
    """
    budget, unmeasured = _Budget(int(recounted.counts.sum()), shared), _Unmeasured()
    figures: dict[str, AttributeDisclosureMetrics] = {}
    in_classes: dict[str, int] = {}
    star_rows = plan.output.suppressed == "star"
    by_column: dict[str, ValueCounts] = {}
    uniques = _Uniques(plan, _rows_of_persons(published, plan, budget.rows))
    unmeasured.persons = plan.person is not None and uniques.rows_of_persons is None
    for name in other_columns(plan):
        columns = (*plan.quasi_identifiers, name)
        text_counts = recounted if name in recounted.columns else budget.count(published, columns, MissingRules())
        if text_counts is None:
            unmeasured.classes.append(name)
            continue
        by_column[name] = text_counts
        canonical, _ = typed(text_counts, plan)
        in_classes[name] = uniques.by(canonical, (name,), plan.quasi_identifiers).rows
        if name in plan.shown_sensitive:
            members = uniques.counted(columns)
            of_persons = None if members is None else typed(members, plan)[0]
            figures[name] = attribute_figures(
                canonical, plan.quasi_identifiers, name, plan.data.missing, star_rows, of_persons
            )
    unique, complete = _unique_rows(budget, published, recounted, by_column, plan, uniques)
    unmeasured.pairs = not complete
    kept = int(recoding.sizes[~recoding.suppressed].sum())
    holdings = dict(_holdings(budget, plan, source, table, kept, unmeasured))
    telling = tuple(_tells(holdings, recoding))
    joint = tuple(_joint_tells(budget, plan, source, table, holdings))
    joint += tuple(_private_tells(budget, plan, source, by_column, {tell.column for tell in joint}))
    share = _largest_share(budget, published, plan, uniques.rows_of_persons)
    several = _several(budget, published, recounted, uniques)
    unmeasured.several = several is None and len(other_columns(plan)) > KNOWN_OF_SEVERAL
    return Disclosure(figures, unique, tuple(unmeasured.sentences()), in_classes, telling, joint, share, several)


def _rows_of_persons(published: Engine, plan: Plan, rows: int) -> ValueCounts | None:
    """Count the published rows by all columns, with the person last; None without persons or with too many rows."""
    columns = (*plan.quasi_identifiers, *other_columns(plan))
    if plan.person is None or rows > MOST_AT_ONCE or len(columns) > MOST_COLUMNS:
        return None
    return by_plain_keys(published.count((*columns, _person_column(plan)), MissingRules()))


def _person_column(plan: Plan) -> str:
    """Return the person column of the published rows."""
    return plan.person if plan.person is not None and plan.publishes_keys else PERSON


def _largest_share(budget: _Budget, published: Engine, plan: Plan, rows_of_persons: ValueCounts | None) -> float | None:
    """Return the largest proportion of one person in a class; None without persons or with too many rows."""
    if plan.person is None or budget.rows > MOST_OF_PERSONS:
        return None
    columns = (*plan.quasi_identifiers, _person_column(plan))
    if rows_of_persons is not None:
        return largest_share(counted_by(rows_of_persons, columns), plan.output.suppressed == "star")
    text_counts = budget.count(published, columns, MissingRules())
    if text_counts is None:
        return None
    return largest_share(by_plain_keys(text_counts), plan.output.suppressed == "star")


def _holdings(
    budget: _Budget, plan: Plan, source: Engine, table: FrequencyTable, kept: int, unmeasured: _Unmeasured
) -> Iterator[tuple[str, FrequencyTable]]:
    """Yield a frequency table with each published column from which a quasi-identifier may be inferred.

    Args:
        kept: The number of published rows.
    """
    for name in other_columns(plan):
        if name in table.sensitive and len(table.sensitive[name].values) <= MOST_WORK // 10:
            yield name, table
            continue
        text_counts = budget.count(source, (*plan.quasi_identifiers, name), published_reading(plan, source))
        if text_counts is None or len(text_counts.counts) > MOST_WORK // 10:
            unmeasured.tells.append(name)
        elif len(text_counts.counts) <= MOST_OWN or may_infer(
            int(text_counts.counts.sum()), len(text_counts.values[-1]), kept
        ):
            yield name, _holding(text_counts, plan, table, name)


def _joint_tells(
    budget: _Budget, plan: Plan, source: Engine, table: FrequencyTable, holdings: Mapping[str, FrequencyTable]
) -> Iterator[PairInference]:
    """Yield the best pair of quasi-identifiers that each column is computed from; rows of a person count once."""
    for name, holding in holdings.items():
        if plan.person is None:
            yield from pair_inferences(holding, name)[:1]
            continue
        columns = (*plan.quasi_identifiers, name, plan.person)
        if (text_counts := budget.count(source, columns, published_reading(plan, source))) is not None:
            yield from pair_inferences(_holding(one_row_each(text_counts), plan, table, name), name)[:1]


def _private_tells(
    budget: _Budget,
    plan: Plan,
    source: Engine,
    by_column: Mapping[str, ValueCounts],
    told: Collection[str],
) -> Iterator[PairInference]:
    """Yield numeric columns that jointly with another one infer a quasi-identifier, without those already reported."""
    others = {name: counted for name, counted in by_column.items() if name not in told}
    known = tuple(name for name in plan.quasi_identifiers if plan.columns[name].type in NUMBER_TYPES)
    if len(others) < 2 or not known or budget.rows > MOST_OWN:
        return
    private = tuple(name for name, counted in others.items() if _are_numbers(counted, name))
    if len(private) < 2:
        return
    columns = (*known, *private, *(() if plan.person is None else (plan.person,)))
    text_counts = budget.count(source, columns, published_reading(plan, source))
    if text_counts is None:
        return
    rows = text_counts if plan.person is None else one_row_each(text_counts)
    undone: set[str] = set()
    for tell in sensitive_pair_inferences(rows, known, private, plan.data.missing):
        if not {tell.column, tell.beside} & undone:
            undone.add(tell.column)
            yield PairInference(tell.column, (tell.quasi_identifier, tell.beside), tell.share)


def _are_numbers(text_counts: ValueCounts, column: str) -> bool:
    """Return whether a counted column is published as numbers."""
    texts = text_counts.values[text_counts.columns.index(column)]
    return numbers_of(tuple(text.lstrip("<>") if text else None for text in texts)) is not None


def _tells(holdings: Mapping[str, FrequencyTable], recoding: Recoding) -> Iterator[InferenceRisk]:
    """Yield the columns from which quasi-identifiers can be inferred in more detail than published."""
    labels = recoding.classes[recoding.owners].astype(np.int64)
    kept = (~recoding.suppressed[recoding.owners]).astype(np.int64)
    for name, holding in holdings.items():
        yield from inference_risks(holding, name, labels, kept)


def _holding(text_counts: ValueCounts, plan: Plan, table: FrequencyTable, name: str) -> FrequencyTable:
    """Return the table with the values of a further column."""
    columns = {other: plan.columns[other] for other in plan.quasi_identifiers} | {name: ColumnPlan("sensitive")}
    own = replace(for_measuring(plan, columns), utility=UtilityPlan(target=name))
    return with_codings(text_counts, table.codings, own)


def _unique_rows(
    budget: _Budget,
    published: Engine,
    recounted: ValueCounts,
    by_column: Mapping[str, ValueCounts],
    plan: Plan,
    uniques: _Uniques,
) -> tuple[tuple[UniqueRows, ...], bool]:
    """Return rows unique on one or two published columns that are no quasi-identifiers, and whether all were tried.

    Args:
        by_column: The counts by the quasi-identifiers and each of these columns.
    """
    by_width: dict[int, list[UniqueRows]] = {1: [], 2: []}
    for width, entries in by_width.items():
        for chosen in combinations(other_columns(plan), width):
            at_hand = recounted if set(chosen) <= set(recounted.columns) else None
            if width == 1:
                at_hand = at_hand or by_column.get(chosen[0])
            text_counts = at_hand or budget.count(published, chosen, MissingRules())
            if text_counts is None:
                return (*by_width[1], *_worst(by_width[2])), False
            entries.append(uniques.by(text_counts, chosen))
    return (*by_width[1], *_worst(by_width[2])), True


def _several(budget: _Budget, published: Engine, recounted: ValueCounts, uniques: _Uniques) -> SeveralKnown | None:
    """Return what several columns single out; None if an attacker may know all, or rows are too many."""
    columns = (*uniques.plan.quasi_identifiers, *(others := other_columns(uniques.plan)))
    if len(others) <= KNOWN_OF_SEVERAL:
        return None
    at_hand = recounted if {*columns} <= {*recounted.columns} else uniques.rows_of_persons
    text_counts = at_hand or budget.count(published, columns, MissingRules())
    if text_counts is None or (CHOICES + 1) * len(text_counts.counts) > MOST_WORK:
        return None
    return uniques.by_several(text_counts)


def _worst(pairs: list[UniqueRows]) -> list[UniqueRows]:
    return sorted(pairs, key=lambda entry: (-entry.rows, entry.columns))[:PAIRS_SHOWN]
