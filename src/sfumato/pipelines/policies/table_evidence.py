"""Measure a published table of counts for the clauses of a policy."""

from typing import Any

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.tabulation.tabulation import labeled_columns
from sfumato.errors import DataError, EngineError
from sfumato.policies.evaluation import Measurement
from sfumato.policies.policy import CellRule
from sfumato.tables.crosstabs import published_crosstab as crosstabs

_ALL = 10_000_000
# Rates based on fewer events must be marked, by CDC WONDER and by WISQARS (20 or fewer).
UNRELIABLE, UNSTABLE = 20, 21


def table_of_file(engine: DuckDBEngine) -> crosstabs.PublishedCrosstab:
    """Return a published table from a file: labels in its first columns, counts and rates in the others."""
    return crosstabs.read_crosstab(engine.columns, [list(row.values()) for row in engine.first_rows(_ALL)])


def table_of_frame(frame: Any) -> crosstabs.PublishedCrosstab:
    """Return a published table from a frame; pandas may have labels in the index."""
    columns = labeled_columns(frame)
    return crosstabs.read_crosstab([*columns], [list(row) for row in zip(*columns.values(), strict=True)])


def measure_table(table: crosstabs.PublishedCrosstab, rule: CellRule) -> dict[str, Measurement]:
    """Return the measurements of a table, by metric."""
    unrounded = crosstabs.unrounded(table, rule.low, rule.high, rule.small, rule.base)
    return {
        "smallest-shown-count": Measurement(crosstabs.smallest_count(table, rule.low, rule.high)),
        "shown-zeros": Measurement(crosstabs.shown_zeros(table)),
        "unrounded-counts": Measurement(unrounded),
        "rates-of-masked-counts": Measurement(crosstabs.rates_of_masked_counts(table)),
        "derivable-small-cells": _derivable(table, rule),
        "unmarked-unreliable-rates": Measurement(crosstabs.unmarked_rates(table, UNRELIABLE)),
        "county-rates": Measurement(crosstabs.county_rates(table, UNSTABLE)),
        "unmarked-unstable-rates": Measurement(crosstabs.unmarked_rates(table, UNSTABLE)),
    }


def _derivable(table: crosstabs.PublishedCrosstab, rule: CellRule) -> Measurement:
    """Measure the small counts that can be derived; not measured if the solver is not installed."""
    from sfumato.tables.suppression.solver_check import check_installed

    if rule.base > 1:
        return Measurement(None, "counts are rounded: their totals need not add up.")
    try:
        check_installed()
        cells = crosstabs.derivable(table, max(rule.low, 1), rule.high)
    except (EngineError, DataError) as error:
        return Measurement(None, str(error))
    return Measurement(len(cells), "; ".join(cells))
