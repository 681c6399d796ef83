"""Read and count rows and measure their re-identification risk."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.delimited.dialect import DecimalMark, check_decimal
from sfumato.engines.engine import Engine
from sfumato.engines.opening import open_engine
from sfumato.engines.sql import check_header
from sfumato.errors import DataError, PlanError, did_you_mean, issue
from sfumato.microdata.counts.frequency_table import DROPPED, FrequencyTable, tabulate, value_of
from sfumato.microdata.data_plan import DataPlan, OnMissing
from sfumato.microdata.measures.column_risk import LIMIT
from sfumato.microdata.measures.overview import RiskSurvey, survey
from sfumato.microdata.measures.risk import THRESHOLD, Places, RowRisks, raw_classes, row_risks
from sfumato.microdata.measures.uniques import special_uniques
from sfumato.microdata.plan.model import ColumnPlan, Plan, RequestedPlan, Role
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import for_measuring
from sfumato.pipelines.release_stages.counting import check_texts, reading_of, with_sample
from sfumato.pipelines.verify import listed
from sfumato.report.risk import html_part
from sfumato.values import fields, replace


class RiskReport(RiskSurvey):
    """The risk report of some rows, with a representation for notebooks in the language of its plan.

    Attributes:
        row_risks: The risk of each row, if requested; for the caller only, as is `outlier_rows`.
    """

    language: str = "en"
    row_risks: RowRisks | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the report in plain values, without row numbers."""
        figures = RiskSurvey.to_dict(self)
        del figures["language"], figures["row_risks"]
        return figures

    def __repr__(self) -> str:
        figures = self.prosecutor
        return f"RiskReport({self.figures.rows:,} rows, highest {figures.highest:.3g}, average {figures.average:.3g})"

    def _repr_html_(self) -> str:
        return html_part(self, self.language)


def risk(
    data: Any,
    quasi_identifiers: Sequence[str] | None = None,
    *,
    plan: RequestedPlan | Mapping[str, Any] | str | Path | None = None,
    population_size: int | None = None,
    sampling_fraction: float | None = None,
    weight: str | None = None,
    household: str | None = None,
    threshold: float = THRESHOLD,
    missing: Sequence[str] = (),
    on_missing: OnMissing = "category",
    separator: str | None = None,
    decimal: DecimalMark = ".",
    header: bool | None = None,
    encoding: str | None = None,
    table: str | None = None,
    subset_limit: int = LIMIT,
    row_numbers: bool = False,
) -> RiskReport:
    """Measure the re-identification risk of a table, and the columns that cause it.

    Args:
        data: A pandas, Polars or Arrow frame, or the path of a file.
        quasi_identifiers: The columns that an attacker may know; those of the plan by default.
        plan: A plan with hierarchies, to report the risk at each level.
        population_size: The number of persons in the population from which the rows are a sample.
        sampling_fraction: The proportion of the population in the sample, instead of its size.
        weight: The column with the sampling weights, which imply the population size; that of the plan by default.
        household: The column with the household of a row; that of the plan by default.
        threshold: Rows with a greater risk than this are counted.
        missing: Texts that mean "missing", in addition to an empty field.
        on_missing: How missing values are handled. `dropped_rows` has the number of rows left out.
        separator: The separator of a CSV file; detected by default.
        encoding: The encoding of a CSV file; UTF-8 by default.
        decimal: The decimal mark of its numbers.
        header: Whether a CSV file has a header; without one, and without a plan, its columns are c1, c2, ….
        table: The table of a database, or the sheet of a workbook; the first by default.
        subset_limit: The number of column sets to measure if there are too many to measure all.
        row_numbers: Whether to return the row numbers of outliers, and the risk of every row.

    >>> import polars as pl
    >>> found = risk(pl.DataFrame({"sex": ["m", "f", "f"], "age": [30, 40, 40]}), ["sex", "age"])
    >>> found.figures.uniques, round(found.prosecutor.average, 3)
    (1, 0.667)
    """
    mark = check_decimal(decimal, separator)
    reading = DataPlan(
        separator=separator,
        encoding=encoding or DataPlan().encoding,
        decimal=mark,
        header=header,
        table=table,
        missing=tuple(missing),
        on_missing=on_missing,
    )
    resolved = _with_sample(_plan_of(listed(quasi_identifiers), plan, reading), weight, household)
    _check_numbers(resolved, population_size, sampling_fraction, threshold)
    names = () if plan is None else tuple(read_plan(plan).columns)
    with closing(open_engine(data, resolved, "frames" if row_numbers else None, names)) as source:
        counted = _table(source, resolved)
        size = _population_size(counted.rows, population_size, sampling_fraction)
        share = sampling_fraction or (1.0 if size is None else counted.rows / size)
        figures = survey(
            counted,
            resolved.data.on_missing,
            size,
            threshold,
            subset_limit,
            with_steps=plan is not None,
            sampling_fraction=sampling_fraction,
        )
        rows = _of_rows(source, resolved, counted, figures, share) if row_numbers else {}
    own = {name: getattr(figures, name) for name in fields(figures)}
    return RiskReport(**own | rows, language=resolved.language)


def _plan_of(
    names: Sequence[str] | None, plan: RequestedPlan | Mapping[str, Any] | str | Path | None, reading: DataPlan
) -> Plan:
    """Return a plan with the columns to measure and how to read them."""
    if plan is None:
        if not names:
            raise PlanError("columns.risk_needs_quasi_identifiers")
        return for_measuring(RequestedPlan(data=reading), dict.fromkeys(names, ColumnPlan("quasi-identifier")))
    asked = read_plan(plan)
    columns = {
        name: asked.columns.get(name, ColumnPlan("quasi-identifier")) for name in names or asked.quasi_identifiers
    }
    quasi_identifiers = {name: replace(column, role="quasi-identifier") for name, column in columns.items()}
    sample = {name: column for name, column in asked.columns.items() if column.role in ("weight", "household")}
    quasi_identifiers |= {name: column for name, column in sample.items() if name not in quasi_identifiers}
    data = replace(
        asked.data,
        missing=reading.missing or asked.data.missing,
        on_missing=reading.on_missing if reading.on_missing != "category" else asked.data.on_missing,
        separator=reading.separator or asked.data.separator,
        encoding=reading.encoding if reading.encoding != DataPlan().encoding else asked.data.encoding,
        decimal=reading.decimal if reading.decimal != "." else asked.data.decimal,
        header=asked.data.header if reading.header is None else reading.header,
        table=reading.table or asked.data.table,
    )
    return for_measuring(replace(asked, data=data), quasi_identifiers)


def _with_sample(plan: Plan, weight: str | None, household: str | None) -> Plan:
    columns = dict(plan.columns)
    roles: dict[str | None, Role] = {weight: "weight", household: "household"}
    for name, role in roles.items():
        if name is None:
            continue
        if name in plan.quasi_identifiers:
            raise PlanError.listing([issue(role, "is_among_the_quasi_identifiers")], "risk")
        columns = {other: column for other, column in columns.items() if column.role != role}
        columns[name] = ColumnPlan(role)
    return replace(plan, columns=columns)


def _check_numbers(plan: Plan, population_size: int | None, sampling_fraction: float | None, threshold: float) -> None:
    faults = []
    if plan.weight is not None and (population_size is not None or sampling_fraction is not None):
        faults.append(issue("weight", "says_how_large_the_population"))
    if population_size is not None and sampling_fraction is not None:
        faults.append(issue("population_size", "goes_without_sampling_fraction"))
    if population_size is not None and population_size < 1:
        faults.append(issue("population_size", "must_be_at_least_1"))
    if sampling_fraction is not None and not 0 < sampling_fraction <= 1:
        faults.append(issue("sampling_fraction", "above_0_at_most_1"))
    if not 0 <= threshold <= 1:
        faults.append(issue("threshold", "from_0_to_1"))
    if faults:
        raise PlanError.listing(faults, "risk")


def _population_size(rows: int, size: int | None, fraction: float | None) -> int | None:
    if fraction is not None:
        return max(rows, round(rows / fraction))
    if size is not None and size < rows:
        raise PlanError("population.the_population_of_is_smaller", size=size, rows=rows)
    return size


def _table(source: Engine, plan: Plan) -> FrequencyTable:
    """Return the frequency table of the quasi-identifiers."""
    from sfumato.microdata.plan.model import located

    check_header(plan.columns, source.columns)
    absent = [name for name in plan.columns if name not in source.columns]
    if absent:
        raise PlanError.listing(
            [issue(name, "the_data_have_no_such", hint=did_you_mean(name, source.columns)) for name in absent],
            "columns",
        )
    check_texts(plan, source)
    text_counts = source.count(plan.quasi_identifiers, reading_of(plan))
    table, rejected = tabulate(text_counts, located(plan))
    if rejected and plan.data.on_invalid == "error":
        raise DataError(
            "invalid-value.column_values_do_not_fit", column=rejected[0].column, count=len(rejected[0].texts)
        ).about(values=rejected[0].texts, column=rejected[0].column)
    if not table.rows:
        raise DataError("no-rows.all_dropped")
    return with_sample(plan, source, table)


def _of_rows(source: Engine, plan: Plan, table: FrequencyTable, figures: RiskSurvey, fraction: float) -> dict[str, Any]:
    """Return the row numbers of outliers, counted from 1, and the risk of every row.

    Args:
        fraction: The proportion of the population in the rows.
    """
    places = _combinations(source, table)
    outliers = np.isin(places, np.array(figures.outliers.combinations, np.int64))
    special = figures.special_uniques or special_uniques(table)
    classes = raw_classes(table, fraction)
    return {
        "outlier_rows": tuple((np.flatnonzero(outliers) + 1).tolist()),
        "row_risks": row_risks(classes, special, places, _households(source, plan)),
    }


def _combinations(source: Engine, table: FrequencyTable) -> Places:
    """Return the combination of each row, -1 if it was dropped."""
    numbers = {codes: place for place, codes in enumerate(map(tuple, table.codes.tolist()))}
    columns = [
        [coding.places.get(text, DROPPED) for text in source.texts(name)]  # type: ignore[attr-defined]
        for name, coding in zip(table.columns, table.codings, strict=True)
    ]
    return np.array([numbers.get(codes, -1) for codes in zip(*columns, strict=True)], np.int64)


def _households(source: Engine, plan: Plan) -> list[str | None]:
    if plan.household is None:
        return []
    texts = source.texts(plan.household)  # type: ignore[attr-defined]
    return [value_of(text, plan.data.missing) for text in texts]
