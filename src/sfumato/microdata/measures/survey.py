"""The survey of a table's risk: all measures together, for the library and the command line."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sfumato.engines.csv_files import check_separator
from sfumato.engines.engine import Engine, Reading
from sfumato.engines.opening import open_engine
from sfumato.errors import DataError, Fault, PlanError, did_you_mean
from sfumato.microdata.classes import Counts, Mask
from sfumato.microdata.frequencies import DROPPED, FrequencyTable, tabulate
from sfumato.microdata.header import check_header
from sfumato.microdata.measures import contribution, population
from sfumato.microdata.measures.outliers import Outliers, outliers
from sfumato.microdata.measures.risk import THRESHOLD, Attacker, Risk, attacker, expected_risks, prosecutor
from sfumato.microdata.measures.subsets import LIMIT, Subsets, subsets
from sfumato.microdata.wildcards import matching_rows
from sfumato.plan.model import ColumnPlan, DataPlan, Plan
from sfumato.plan.read import read_plan

OnMissing = Literal["category", "any", "drop"]


@dataclass(frozen=True, slots=True)
class SizeCount:
    """How many classes have a size, and the rows in them; the size counts matching rows where missing ones match."""

    size: int
    classes: int
    rows: int


@dataclass(frozen=True, slots=True)
class RiskReport:
    """Everything that is told about the risk of some rows.

    Attributes:
        quasi_identifiers: The columns that an attacker is taken to know.
        on_missing: What a missing value is: a category of its own, a match for anything, or a reason to drop the row.
        dropped_rows: Rows left out for a missing value; rows_with_missing: rows that have one and count.
        figures: Sizes of the classes and prosecutor risk.
        sizes: How many classes have each size.
        uniqueness: Estimates for the population, where its size is known.
        columns, steps: What each column, and each step of a hierarchy, contributes.
        outlier_rows: Numbers of the rows that one or two columns single out, from 1 on: for the caller alone, never in
            `to_dict` or a report.
    """

    quasi_identifiers: tuple[str, ...]
    on_missing: OnMissing
    dropped_rows: int
    rows_with_missing: int
    figures: Risk
    prosecutor: Attacker
    journalist: Attacker
    marketer: Attacker
    sizes: tuple[SizeCount, ...]
    uniqueness: population.Uniqueness | None
    subsets: Subsets
    columns: tuple[contribution.Contribution, ...]
    steps: tuple[contribution.Contribution, ...]
    outliers: Outliers
    outlier_rows: tuple[int, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The report in plain values; no row numbers."""
        found = asdict(self)
        del found["outlier_rows"]
        del found["outliers"]["combinations"]
        found["outliers"]["columns"] = dict(self.outliers.columns)
        return found

    def _repr_html_(self) -> str:
        from sfumato.report.risk import html_part

        return html_part(self)


def risk(
    data: Any,
    quasi_identifiers: Sequence[str] | None = None,
    *,
    plan: Plan | Mapping[str, Any] | str | Path | None = None,
    population_size: int | None = None,
    sampling_fraction: float | None = None,
    threshold: float = THRESHOLD,
    missing: Sequence[str] = (),
    on_missing: OnMissing = "category",
    separator: str | None = None,
    subset_limit: int = LIMIT,
    row_numbers: bool = False,
) -> RiskReport:
    """How far the rows of a table can be told apart, and by what.

    Args:
        data: A pandas, Polars or Arrow frame, or the path of a file.
        quasi_identifiers: The columns that an attacker may know; those of the plan by default.
        plan: A plan whose hierarchies tell what each generalization step takes off the risk.
        population_size: Persons in the population from which the rows are a sample; or else
        sampling_fraction: The share of it that the rows are.
        threshold: Rows with a greater risk than this are counted.
        missing: Texts that mean "missing", besides an empty field.
        on_missing: What a missing value is. No row is ever left out silently: `dropped_rows` says how many were.
        separator: Of a CSV file; found out by default.
        subset_limit: How many sets of columns are measured where there are too many to measure all.
        row_numbers: Whether the numbers of the outliers' rows are looked up, too.

    >>> import polars as pl
    >>> found = risk(pl.DataFrame({"sex": ["m", "f", "f"], "age": [30, 40, 40]}), ["sex", "age"])
    >>> found.figures.uniques, round(found.prosecutor.average, 3)
    (1, 0.667)
    """
    check_separator(separator)
    given = DataPlan(separator=separator, missing=tuple(missing), on_missing=on_missing)
    resolved = _plan_of(quasi_identifiers, plan, given)
    _check_numbers(population_size, sampling_fraction, threshold)
    source = open_engine(data, resolved, "frames" if row_numbers else None)
    try:
        table = _table(source, resolved)
        size = _population_size(table.rows, population_size, sampling_fraction)
        report = survey(table, resolved.data.on_missing, size, threshold, subset_limit, with_steps=plan is not None)
        return replace(report, outlier_rows=_numbers(source, table, report.outliers)) if row_numbers else report
    finally:
        source.close()


def survey(
    table: FrequencyTable,
    on_missing: OnMissing,
    population_size: int | None = None,
    threshold: float = THRESHOLD,
    subset_limit: int = LIMIT,
    *,
    with_steps: bool = True,
) -> RiskReport:
    """All measures of a frequency table; those of single steps only where hierarchies were given."""
    matches = hiding(table, on_missing)
    fraction = 1.0 if population_size is None else table.rows / population_size
    estimated = population_size is not None
    journalist = attacker(table.counts, expected_risks(matches, fraction), threshold, estimated)
    return RiskReport(
        table.columns,
        on_missing,
        table.dropped_rows,
        _with_missing(table),
        prosecutor(table.counts, threshold, matches),
        attacker(table.counts, 1 / matches, threshold),
        journalist,
        journalist,
        distribution(table.counts, matches),
        population.uniqueness(table.counts, population_size) if population_size is not None else None,
        subsets(table, subset_limit),
        contribution.of_columns(table),
        contribution.of_steps(table) if with_steps else (),
        outliers(table),
    )


def distribution(sizes: Counts, matches: Counts | None = None) -> tuple[SizeCount, ...]:
    """How many classes have each size, or have so many matching rows where these are given.

    >>> distribution(np.array([1, 3, 3]))
    (SizeCount(size=1, classes=1, rows=1), SizeCount(size=3, classes=2, rows=6))
    """
    distinct, places, classes = np.unique(
        sizes if matches is None else matches, return_inverse=True, return_counts=True
    )
    rows = np.bincount(places, weights=sizes, minlength=len(distinct)).astype(np.int64)
    found = zip(distinct.tolist(), classes.tolist(), rows.tolist(), strict=True)
    return tuple(SizeCount(size, count, held) for size, count, held in found)


def _plan_of(names: Sequence[str] | None, plan: Plan | Mapping[str, Any] | str | Path | None, given: DataPlan) -> Plan:
    """A plan that says which columns to look at and how to read them."""
    if plan is None:
        if not names:
            raise PlanError("no quasi-identifier is named.", "Name the columns that an attacker may know.", "columns")
        return Plan({name: ColumnPlan("quasi-identifier") for name in names}, (), data=given)
    resolved = read_plan(plan)
    columns = {
        name: resolved.columns.get(name, ColumnPlan("quasi-identifier")) for name in names or resolved.quasi_identifiers
    }
    wanted = {name: replace(column, role="quasi-identifier") for name, column in columns.items()}
    data = replace(
        resolved.data,
        missing=given.missing or resolved.data.missing,
        on_missing=given.on_missing if given.on_missing != "category" else resolved.data.on_missing,
        separator=given.separator or resolved.data.separator,
    )
    return replace(resolved, columns=wanted, privacy=(), data=data)


def _check_numbers(population_size: int | None, sampling_fraction: float | None, threshold: float) -> None:
    faults = []
    if population_size is not None and sampling_fraction is not None:
        faults.append(Fault("population_size", "goes without sampling_fraction.", "Give one of them."))
    if population_size is not None and population_size < 1:
        faults.append(Fault("population_size", "must be at least 1."))
    if sampling_fraction is not None and not 0 < sampling_fraction <= 1:
        faults.append(Fault("sampling_fraction", "must be above 0 and at most 1."))
    if not 0 <= threshold <= 1:
        faults.append(Fault("threshold", "must be from 0 to 1."))
    if faults:
        raise PlanError(faults, code="risk")


def _population_size(rows: int, size: int | None, fraction: float | None) -> int | None:
    if fraction is not None:
        return max(rows, round(rows / fraction))
    if size is not None and size < rows:
        raise PlanError(f"the population of {size} is smaller than the {rows} rows.", "Give its size.", "population")
    return size


def _table(source: Engine, plan: Plan) -> FrequencyTable:
    """The frequency table of the quasi-identifiers."""
    from sfumato.microdata.release import located

    check_header(plan.columns, source.columns)
    absent = [name for name in plan.columns if name not in source.columns]
    if absent:
        raise PlanError(
            [Fault(name, "the data have no such column.", did_you_mean(name, source.columns)) for name in absent],
            code="columns",
        )
    required = tuple(plan.columns) if plan.data.on_missing == "drop" else ()
    counted = source.count(tuple(plan.columns), Reading(plan.data.missing, required))
    table, rejected = tabulate(counted, located(plan))
    if rejected and plan.data.on_invalid == "error":
        raise DataError(
            f'column "{rejected[0].column}": {len(rejected[0].texts)} values do not fit its type or hierarchy.',
            "Mend the data or the hierarchy.",
            "invalid-value",
            values=rejected[0].texts,
            column=rejected[0].column,
        )
    if not table.rows:
        raise DataError("no row is left.", "Every row was dropped, or there is none.", "no-rows")
    return table


def _unknown(table: FrequencyTable) -> Mask:
    """Which values of each combination are missing."""
    absent = [ladder.places.get(None, -1) for ladder in table.ladders]
    unknown: Mask = table.codes == np.array(absent, np.int32)[None, :]
    return unknown


def _with_missing(table: FrequencyTable) -> int:
    return int(table.counts[_unknown(table).any(axis=1)].sum())


def hiding(table: FrequencyTable, on_missing: OnMissing) -> Counts:
    """The rows among which those of each combination hide."""
    unknown = _unknown(table) if on_missing == "any" else np.zeros(0, bool)
    return matching_rows(table.codes, unknown, table.counts) if unknown.any() else table.counts


def _numbers(source: Engine, table: FrequencyTable, found: Outliers) -> tuple[int, ...]:
    """Numbers of the rows that are outliers, counted from 1."""
    wanted = {tuple(table.codes[place].tolist()) for place in found.combinations}
    columns = [
        [coding.places.get(text, DROPPED) for text in source.texts(name)]  # type: ignore[attr-defined]
        for name, coding in zip(table.columns, table.codings, strict=True)
    ]
    return tuple(row + 1 for row, codes in enumerate(zip(*columns, strict=True)) if codes in wanted)
