"""All measures of a table together, and of a release: risk before and after, contributions to it, and utility."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.hierarchies.spellings import surplus
from sfumato.microdata.counts.combinations import matching_rows, numbers_of
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.counts.grouping import Grouper, Node
from sfumato.microdata.counts.survey_sample import weighted_view
from sfumato.microdata.data_plan import OnMissing
from sfumato.microdata.measures import population
from sfumato.microdata.measures.column_risk import LIMIT, Contribution, Subsets, all_sets, of_columns, of_steps, subsets
from sfumato.microdata.measures.risk import (
    THRESHOLD,
    AttackerRisk,
    ReidentificationRisk,
    SampleRisk,
    attacker,
    prosecutor,
    published_classes,
    raw_classes,
    sample_risk,
)
from sfumato.microdata.measures.uniques import MinimalUniques, SpecialUniques, outliers, special_uniques
from sfumato.microdata.measures.utility import utility
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, histogram
from sfumato.microdata.models.model import is_global
from sfumato.microdata.models.persons import PERSONS, persons_in
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import LevelRecoding, Recoding, published_labels
from sfumato.microdata.recoding.reference import persons_by_label, with_persons
from sfumato.values import Value, asdict, field, replace, shown

# Columns with more values are too long for a manual correction of spellings.
_FEW_VALUES = 200


class SizeCount(Value):
    """The number of classes of a size, and their rows; with matching missing values, the size counts matching rows."""

    size: int
    classes: int
    rows: int


class RiskSurvey(Value):
    """All risk measures of some rows.

    Attributes:
        quasi_identifiers: The columns that an attacker is assumed to know.
        on_missing: How missing values count: as a separate category, as a match for any value, or by dropping the row.
        dropped_rows: Rows dropped because of a missing value.
        rows_with_missing: Rows that have a missing value and are not dropped.
        figures: Class sizes and prosecutor risk if a missing value counts as a separate value, which is the higher
            risk.
        matching: The same if the plan lets a missing value match anything.
        sizes: The number of classes of each size.
        uniqueness: Estimates for the population, if its size is known.
        columns: The contribution of each column to the risk.
        steps: The risk reduction of each level of each hierarchy.
        sample: The risk by weights and households, if columns hold these.
        special_uniques: Rows that few columns make unique, with their scores.
        spellings: The number of spelling variants of each column that has some.
        outlier_rows: Numbers, from 1, of the rows that are unique by one or two columns; for the caller only, never in
            `to_dict` or a report.
    """

    quasi_identifiers: tuple[str, ...]
    on_missing: OnMissing
    dropped_rows: int
    rows_with_missing: int
    figures: ReidentificationRisk
    prosecutor: AttackerRisk
    journalist: AttackerRisk
    marketer: AttackerRisk
    sizes: tuple[SizeCount, ...]
    uniqueness: population.PopulationUniquenessEstimate | None
    subsets: Subsets
    columns: tuple[Contribution, ...]
    steps: tuple[Contribution, ...]
    outliers: MinimalUniques
    outlier_rows: tuple[int, ...] = ()
    matching: ReidentificationRisk | None = None
    sample: SampleRisk | None = None
    special_uniques: SpecialUniques | None = None
    spellings: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        return shown(self, "outlier_rows")

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, without row numbers."""
        figures = asdict(self)
        del figures["outlier_rows"]
        figures["special_uniques"] = None if self.special_uniques is None else self.special_uniques.to_dict()
        del figures["outliers"]["combinations"]
        figures["outliers"]["columns"] = dict(self.outliers.columns)
        return figures


def survey(
    table: FrequencyTable,
    on_missing: OnMissing,
    population_size: int | None = None,
    threshold: float = THRESHOLD,
    subset_limit: int = LIMIT,
    *,
    with_steps: bool = True,
    sampling_fraction: float | None = None,
) -> RiskSurvey:
    """Compute all measures of a frequency table; those of single levels only if hierarchies were given.

    Args:
        sampling_fraction: The sampling fraction, if it is known more precisely than by whole persons; else None.
    """
    matches = table.counts
    weighted = table.sample is not None and table.sample.weights is not None
    if sampling_fraction is None and population_size is not None:
        sampling_fraction = table.rows / population_size
    classes = raw_classes(table, sampling_fraction or 1.0)
    if weighted:
        population_size = max(round(float(classes.persons.sum())), table.rows)
    sets = all_sets(table)
    # With weights, the fraction is used exactly, not rounded to whole persons.
    special = special_uniques(table, None if weighted else sampling_fraction, sets=sets)
    journalist = attacker(table.counts, classes.risks(), threshold, population_size is not None)
    return RiskSurvey(
        table.columns,
        on_missing,
        table.dropped_rows,
        _with_missing(table),
        prosecutor(table.counts, threshold, matches),
        attacker(table.counts, 1 / matches, threshold),
        journalist,
        journalist,
        distribution(table.counts, matches),
        _uniqueness(table, population_size, None if weighted else sampling_fraction),
        subsets(table, subset_limit, sets),
        of_columns(table),
        of_steps(table) if with_steps else (),
        outliers(table, special),
        sample=sample_risk(table, classes, threshold) if table.sample is not None else None,
        special_uniques=special,
        matching=prosecutor(table.counts, threshold, hiding(table, on_missing)) if on_missing == "any" else None,
        spellings=dict(_spellings(table)),
    )


def _uniqueness(
    table: FrequencyTable, size: int | None, fraction: float | None
) -> population.PopulationUniquenessEstimate | None:
    """Return the estimates for a population of known size."""
    if size is None:
        return None
    estimates = population.uniqueness(table.counts, size)
    return estimates if fraction is None else replace(estimates, sampling_fraction=fraction)


def _spellings(table: FrequencyTable) -> Iterator[tuple[str, int]]:
    """Yield each column of few values that contains spelling variants, and their number."""
    for name, ladder in zip(table.columns, table.ladders, strict=True):
        texts = [text for text in ladder.values if text is not None]
        more = surplus(texts) if len(texts) <= _FEW_VALUES else 0
        if more:
            yield name, more


def distribution(sizes: Counts, matches: Counts | None = None) -> tuple[SizeCount, ...]:
    """Return the number of classes of each size, or of each number of matching rows if these are given.

    >>> distribution(np.array([1, 3, 3]))
    (SizeCount(size=1, classes=1, rows=1), SizeCount(size=3, classes=2, rows=6))
    """
    distinct, places, classes = np.unique(
        sizes if matches is None else matches, return_inverse=True, return_counts=True
    )
    rows = np.bincount(places, weights=sizes, minlength=len(distinct)).astype(np.int64)
    sizes_found = zip(distinct.tolist(), classes.tolist(), rows.tolist(), strict=True)
    return tuple(SizeCount(size, count, rows_of_size) for size, count, rows_of_size in sizes_found)


def _unknown(table: FrequencyTable) -> BoolArray:
    """Return which values of each combination are missing."""
    absent = [ladder.places.get(None, -1) for ladder in table.ladders]
    unknown: BoolArray = table.codes == np.array(absent, np.int32)[None, :]
    return unknown


def _with_missing(table: FrequencyTable) -> int:
    return int(table.counts[_unknown(table).any(axis=1)].sum())


def hiding(table: FrequencyTable, on_missing: OnMissing) -> Counts:
    """Return the effective class size of each combination."""
    unknown = _unknown(table) if on_missing == "any" else np.zeros(0, bool)
    return matching_rows(table.codes, unknown, table.counts) if unknown.any() else table.counts


# Limit of the work on contributions and unique rows, in every release.
MAX_WORK = 10_000_000


class Measures(Value):
    """All measures of a release, as plain values."""

    risk: Mapping[str, Mapping[str, Any]]
    utility: Mapping[str, Any]


def measure_raw(table: FrequencyTable) -> dict[str, Mapping[str, Any]]:
    """Compute the measures that are known before publication: contributions to the risk of the original rows."""
    special = special_uniques(table, work=MAX_WORK)
    rare = outliers(table, special, MAX_WORK)
    return {
        "contribution": _contributions(table),
        "special_uniques": special.to_dict(),
        "outliers": {
            "singled_out_by_columns": list(rare.by_columns),
            "singled_out_by_more": rare.more,
            "singled_out_alone_by": dict(rare.columns),
        },
    }


def measure(plan: Plan, table: FrequencyTable, recoding: Recoding, raw: Mapping[str, Mapping[str, Any]]) -> Measures:
    """Measure a release.

    The risks count a missing value as a separate value, which gives the higher risk. Otherwise a few empty rows would
    make any table appear safe. If the plan lets it match anything, the risks of that reading are added. If a
    column identifies persons, the risk of a row is 1 / persons of its class.

    Args:
        raw: The measures of the original rows.
    """
    sizes, matches = published_sizes(plan, recoding)
    members, published = members_of(table, recoding) if table.persons else (table.counts, sizes)
    risk: dict[str, Mapping[str, Any]] = {
        "before": _figures(table.counts, members),
        "after": _figures(sizes, published) | _journalist(table, recoding),
        "contribution": raw["contribution"],
        "special_uniques": raw["special_uniques"],
        "special_uniques_after": published_uniques(recoding, raw["special_uniques"]["fraction"], MAX_WORK).to_dict(),
        "outliers": raw["outliers"],
        "forcing": forcing(plan, weighted_view(table), recoding, MAX_WORK),
    }
    if table.sample is not None:
        risk["sample"] = _sample(plan, table, recoding)
    if plan.data.on_missing == "any" or plan.method.recoding == "cells":
        hidden = hiding(table, "any")
        risk["matching"] = {"before": _figures(table.counts, hidden), "after": _figures(sizes, matches)}
    return Measures(risk, utility(plan, table, recoding).to_dict())


def members_of(table: FrequencyTable, recoding: Recoding) -> tuple[Counts, Counts]:
    """Return the persons of each combination and of each published class, which define the class size."""
    persons = table.persons[PERSONS]
    owners = recoding.owners[persons.owners]
    classes = histogram(owners, persons.values, persons.counts, len(recoding.sizes), persons.size)
    return persons_in(persons), persons_in(classes)[~recoding.suppressed]


def published_sizes(plan: Plan, recoding: Recoding) -> tuple[Counts, Counts]:
    """Return the rows of each published class, and the effective class size."""
    kept = ~recoding.suppressed
    sizes, classes = recoding.sizes[kept], recoding.classes[kept]
    if plan.data.on_missing != "any" and plan.method.recoding != "cells":
        return sizes, sizes
    absent = {None, *plan.data.missing}
    columns = zip(recoding.labels, classes.T, strict=True)
    unknown = [np.array([label in absent for label in labels], bool)[codes] for labels, codes in columns]
    return sizes, matching_rows(classes, np.column_stack(unknown), sizes)


def _figures(sizes: Counts, matches: Counts) -> dict[str, Any]:
    """Return the prosecutor risk, and the distribution of class sizes, matching rows or persons."""
    found = distribution(sizes, matches)
    spread = {str(entry.size): entry.classes for entry in found}
    rows = {} if matches is sizes else {"rows_of_sizes": {str(entry.size): entry.rows for entry in found}}
    return prosecutor(sizes, matches=matches).to_dict() | {"sizes": spread} | rows


def _journalist(table: FrequencyTable, recoding: Recoding) -> dict[str, Any]:
    """Return the journalist's risk if the population is known; otherwise it equals the prosecutor's."""
    persons = persons_by_label(table, recoding)
    if persons is None:
        return {}
    kept = np.flatnonzero(~recoding.suppressed)
    sizes = recoding.sizes[kept]
    in_population = np.array([persons.get(published_labels(recoding, place), 0) for place in kept.tolist()], np.int64)
    risks = 1 / np.maximum(np.maximum(in_population, sizes), 1)
    return {"journalist": asdict(attacker(sizes, risks, prosecutor(sizes).threshold))}


def _sample(plan: Plan, table: FrequencyTable, recoding: Recoding) -> dict[str, Any]:
    """Return the risk by weights and households, before and after; without `after` if rows are divided between
    classes."""
    before = sample_risk(table, raw_classes(table), THRESHOLD).to_dict()
    classes = published_classes(table, recoding, plan.data.missing)
    return {"before": before} | ({} if classes is None else {"after": sample_risk(table, classes, THRESHOLD).to_dict()})


def _contributions(table: FrequencyTable) -> dict[str, Any]:
    """Return the unique rows without each column, and at each of its levels, with all other columns unchanged."""
    return {
        "uniques": int((table.counts == 1).sum()),
        "without": {entry.column: entry.uniques for entry in of_columns(table, MAX_WORK)},
        "steps": [asdict(entry) for entry in of_steps(table, MAX_WORK)],
    }


# Only for recodings by levels; a class recoding generalizes each class separately. Columns at the `min_level` of the
# plan, and columns in which no row would violate a model, are not reported.
def forcing(plan: Plan, table: FrequencyTable, recoding: Recoding, work: int) -> dict[str, Any]:
    """Return for each generalized column the level below and the rows that would violate a model there.

    Args:
        work: Limit of the work on the frequency table; above it, the result is empty.
    """
    if not isinstance(recoding, LevelRecoding) or plan.data.on_missing == "any":
        return {}
    if len(table.columns) * len(table.counts) > work:
        return {}
    grouper = Grouper(table)
    population = None if table.population is None else Grouper(table.population)
    entries = {}
    for column, (name, level) in enumerate(zip(table.columns, recoding.node, strict=True)):
        if level <= plan.columns[name].min_level:
            continue
        node = (*recoding.node[:column], level - 1, *recoding.node[column + 1 :])
        rows = _failing_rows(plan, table, grouper, population, node)
        if rows:
            entries[name] = {"level": level - 1, "rows": rows}
    return entries


def _failing_rows(plan: Plan, table: FrequencyTable, grouper: Grouper, population: Grouper | None, node: Node) -> int:
    """Return the rows in classes of a node that would violate a model."""
    grouped = grouper.rolled(grouper.base, node)
    classes = grouped.classes if population is None else with_persons(grouped, population.at(node))
    failing = np.zeros(len(classes.sizes), bool)
    for model in plan.privacy:
        if is_global(model):
            failing |= model.classes_to_suppress(classes)
        else:
            failing |= model.violating(classes, table.whole)
    return int(classes.sizes[failing].sum())


def published_uniques(recoding: Recoding, fraction: float, work: int) -> SpecialUniques:
    """Return the special uniques of the published classes, without suppressed ones.

    Args:
        fraction: The sampling fraction.
        work: Limit of the number of rows times sets of columns.
    """
    return special_uniques(published_table(recoding), fraction, work)


def published_table(recoding: Recoding) -> FrequencyTable:
    """Return the published classes as combinations of their labels, coded by the labels' numbers."""
    kept = ~recoding.suppressed & (recoding.sizes > 0)
    # A missing value has no label: it is the code before the first.
    codes, sizes = recoding.classes[kept] + 1, [len(labels) + 1 for labels in recoding.labels]
    owners, first = numbers_of(codes, sizes)
    counts = np.bincount(owners, weights=recoding.sizes[kept], minlength=len(first)).astype(np.int64)
    codings = tuple(_coding(size) for size in sizes)
    return FrequencyTable(recoding.columns, codings, np.ascontiguousarray(codes[first], np.int32), counts, {}, {})


def _coding(size: int) -> Coding:
    texts = tuple(map(str, range(size)))
    return Coding(texts, np.arange(size, dtype=np.int32), make_hierarchy(texts, []))
