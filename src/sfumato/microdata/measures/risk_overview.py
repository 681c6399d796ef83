"""Overview of a table's risk: all risk measures together, for the library and the command line."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, field, replace
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.hierarchies.spelling_variants import surplus
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.missing_matches import matching_rows
from sfumato.microdata.data_plan import OnMissing
from sfumato.microdata.measures import population, risk_contribution
from sfumato.microdata.measures.column_set_risk import LIMIT, Subsets, all_sets, subsets
from sfumato.microdata.measures.minimal_uniques import MinimalUniques, outliers
from sfumato.microdata.measures.risk import THRESHOLD, AttackerRisk, ReidentificationRisk, attacker, prosecutor
from sfumato.microdata.measures.sample_risk import SampleRisk, raw_classes, sample_risk
from sfumato.microdata.measures.uniques.special_uniques import SpecialUniques, special_uniques
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts

# Columns with more values are too long for a manual correction of spellings.
_FEW_VALUES = 200


@dataclass(frozen=True, slots=True)
class SizeCount:
    """The number of classes of a size, and their rows; with matching missing values, the size counts matching rows."""

    size: int
    classes: int
    rows: int


@dataclass(frozen=True, slots=True)
class RiskSurvey:
    """All risk measures of some rows.

    Attributes:
        quasi_identifiers: The columns that an attacker is assumed to know.
        on_missing: What a missing value is: a category of its own, a match for anything, or a reason to drop the row.
        dropped_rows: Rows dropped for a missing value; rows_with_missing: rows that have one and count.
        figures: Class sizes and prosecutor risk, with a missing value as a value of its own: the higher risk.
        matching: The same if the plan lets a missing value match anything.
        sizes: How many classes have each size.
        uniqueness: Estimates for the population, if its size is known.
        columns, steps: The contribution of each column, and of each level of a hierarchy.
        sample: The risk by weights and households, if columns hold these.
        special_uniques: Rows that few columns make unique, with their scores.
        spellings: Columns with spelling variants, and how many.
        outlier_rows: Numbers, from 1, of the rows that one or two columns make unique: for the caller only, never in
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
    columns: tuple[risk_contribution.Contribution, ...]
    steps: tuple[risk_contribution.Contribution, ...]
    outliers: MinimalUniques
    outlier_rows: tuple[int, ...] = field(default=(), repr=False)
    matching: ReidentificationRisk | None = None
    sample: SampleRisk | None = None
    special_uniques: SpecialUniques | None = None
    spellings: Mapping[str, int] = field(default_factory=dict)

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
        sampling_fraction: The sampling fraction, if it is known more precisely than by whole
            persons.
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
        risk_contribution.of_columns(table),
        risk_contribution.of_steps(table) if with_steps else (),
        outliers(table, special=special),
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
    """Yield the columns of few values that contain spelling variants, and how many."""
    for name, ladder in zip(table.columns, table.ladders, strict=True):
        texts = [text for text in ladder.values if text is not None]
        more = surplus(texts) if len(texts) <= _FEW_VALUES else 0
        if more:
            yield name, more


def distribution(sizes: Counts, matches: Counts | None = None) -> tuple[SizeCount, ...]:
    """Return how many classes have each size, or each number of matching rows if these are given.

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
