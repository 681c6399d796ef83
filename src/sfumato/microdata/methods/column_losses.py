"""Information loss of published rows per column: the largest of three measures, so that none hides a collapse.

The loss metric counts the domain values that a label covers; in a domain stretched by typing errors, a range may cover
a small part and yet nearly all rows. Rows are therefore counted as well: a row of value v under the label L loses (n(L)
- n(v)) / (n - n(v)), where n(L) rows have a value that L covers, n(v) the value v, and n is all rows. Both are 0 if
nothing is lost and 1 if everything is. Rows are counted twice: all of them, and those that have a value. Otherwise a
column with many missing values would seem preserved by publishing these, with none of its values left.
"""

from collections.abc import Iterator

import numpy as np

from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.losses.loss_metric import LossMetric
from sfumato.microdata.measures.recoded_view import RecodedView, view_of
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import LevelRecoding

# A column that keeps less than this share is lost.
HALF = 0.5
# For larger tables, the rows that labels cover are not counted.
MOST_COMBINATIONS = 2_000_000


def column_losses(plan: Plan, table: FrequencyTable, result: Result) -> dict[str, float]:
    """Return the mean loss of published rows for each column; columns without a known loss are left out.

    Args:
        plan: The plan with the method that found the result.
    """
    view = view_of(plan, table, result.recoding) if len(table.counts) <= MOST_COMBINATIONS else None
    losses = {}
    for place, name in enumerate(table.columns):
        measures = [_by_domain(table, result, place), *(() if view is None else _by_rows(view, place))]
        known = [measure for measure in measures if measure is not None]
        if known:
            losses[name] = max(known)
    return losses


def shares_lost(plan: Plan, table: FrequencyTable, result: Result) -> dict[str, float]:
    """Return the losses of the columns with more than one value."""
    losses = column_losses(plan, table, result)
    return {
        name: losses[name]
        for place, name in enumerate(table.columns)
        if name in losses and table.value_count(place) > 1
    }


def _by_domain(table: FrequencyTable, result: Result, place: int) -> float | None:
    """Return the loss metric of published rows; None if the method does not compute it."""
    recoding = result.recoding
    kept_rows = int(recoding.sizes[~recoding.suppressed].sum())
    if result.loss_name == "loss-metric" and result.per_column:
        hidden = table.rows - kept_rows
        return (result.per_column[table.columns[place]] * table.rows - hidden) / max(kept_rows, 1)
    if isinstance(recoding, LevelRecoding):
        losses = LossMetric(table.ladders).kept(place, recoding.node[place])[recoding.classes[:, place]]
        kept = ~recoding.suppressed
        return float((losses[kept] * recoding.sizes[kept]).sum() / max(kept_rows, 1))
    return None


def _by_rows(view: RecodedView, place: int) -> Iterator[float]:
    """Yield the mean share of other rows that a label does not distinguish: among all, and among those with a value."""
    column, table = view.columns[place], view.table
    told = told_values(table, place)
    codes, labels, pair_rows = column.pairs
    for counted in (np.ones(len(told), bool), told) if not told.all() else (told,):
        rows = np.where(counted, table.marginal(place), 0)
        before = column.before * counted[column.values]
        covered = np.bincount(column.labels, weights=before[column.covered], minlength=len(column.label_rows))
        others = np.maximum(rows.sum() - rows[codes], 1)
        shares: Floats = np.clip((covered[labels] - rows[codes]) / others, 0.0, 1.0)
        weights = pair_rows * counted[codes]
        yield float((shares * weights).sum() / max(weights.sum(), 1))


def told_values(table: FrequencyTable, place: int) -> BoolArray:
    """Return which values of a column are not missing."""
    return np.array([value is not None for value in table.ladders[place].values], bool)
