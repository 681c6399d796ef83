"""Assess classes: by all privacy models, and by the information that each of their columns loses."""

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.losses.additive_losses import LossMetric
from sfumato.microdata.measures.recoded_view import RecodedView, view_of
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses, Floats
from sfumato.microdata.models.model import GlobalModel, PrivacyModel, is_global, suppress_skewed_classes
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import LevelRecoding
from sfumato.values import Value

ALL = 2**62


class ClassAssessment(Value):
    """The result of evaluating a table's classes by all models.

    Attributes:
        violating: The classes that must be suppressed.
        suppression_lower_bound: For each class, a lower bound of the rows that every finer table must suppress.
        global_suppression_lower_bound: The same for all classes together, by global models.
    """

    violating: BoolArray
    suppression_lower_bound: Counts
    global_suppression_lower_bound: int = 0

    @property
    def certain_rows(self) -> int:
        """A lower bound of the rows that every finer table must suppress."""
        return max(int(self.suppression_lower_bound.sum()), self.global_suppression_lower_bound)


def assess(
    classes: EquivalenceClasses,
    whole: EquivalenceClasses,
    models: Sequence[PrivacyModel],
    enough: int = ALL,
    bounded: bool = True,
) -> ClassAssessment:
    """Evaluate classes by all models: first class by class, then the remaining ones jointly.

    Args:
        enough: Once more rows than this must be suppressed, the evaluation stops; `violating` may then be incomplete.
        bounded: Whether lower bounds for finer tables are needed; if not, they are computed only if that is fast.
    """
    failing: BoolArray = np.zeros(len(classes.sizes), bool)
    lost: Counts = np.zeros(len(failing), np.int64)
    # The fastest models come first: if they exclude a table, the others are not evaluated.
    for model in sorted(models, key=lambda model: not model.monotone_suppression):
        if not is_global(model):
            # A class that one model suppresses completely is not evaluated by the next.
            settled = lost == classes.sizes
            mask = model.violating_among(classes, whole, ~settled)
            failing = failing | mask
            if (bounded or model.monotone_suppression) and mask.any():
                left = enough - int(lost[settled].sum())
                lost = np.maximum(lost, model.suppression_lower_bound(classes, whole, mask, left))
                if enough < ALL and int(lost.sum()) > enough:
                    return ClassAssessment(failing, lost)
    while True:
        assessment = _together(models, classes, failing, lost)
        failing = suppress_skewed_classes(classes, whole, models, assessment.violating)
        if failing is assessment.violating or (failing == assessment.violating).all():
            return assessment


def beyond_limits(models: Sequence[PrivacyModel], whole: EquivalenceClasses) -> UnattainableError | None:
    """Return the error for a model that no recoding of these data can satisfy; None if there is none."""
    reasons = ((model.name, model.infeasibility(whole)) for model in models)
    return next(
        (UnattainableError(name, message=why, hint=Message("hint.less_or_more_rows")) for name, why in reasons if why),
        None,
    )


def _together(
    models: Sequence[PrivacyModel], classes: EquivalenceClasses, failing: BoolArray, lost: Counts
) -> ClassAssessment:
    """Evaluate the remaining classes by the global models."""
    judging = [model for model in models if is_global(model)]
    together = max((model.global_suppression_lower_bound(classes) for model in judging), default=0)
    while True:
        before = failing
        for model in judging:
            failing = _without_short(model, classes, failing)
        # Suppressing classes may violate a model that was satisfied before.
        if failing is before:
            return ClassAssessment(failing, lost, together)


def _without_short(model: GlobalModel, classes: EquivalenceClasses, failing: BoolArray) -> BoolArray:
    """Suppress further classes until the remaining ones satisfy a global model."""
    left = np.flatnonzero(~failing)
    short = model.classes_to_suppress(classes.kept(~failing))
    if not short.any():
        return failing
    more = failing.copy()
    more[left[short]] = True
    return more


# A column that keeps less than this share is lost.
HALF = 0.5
# For larger tables, the rows that labels cover are not counted.
MOST_COMBINATIONS = 2_000_000


def column_losses(plan: Plan, table: FrequencyTable, result: Result) -> dict[str, float]:
    """Return the mean loss of published rows for each column; columns without a known loss are left out.

    The loss metric counts the domain values that a label covers; in a domain stretched by typing errors, a range may
    cover a small part and yet nearly all rows. Rows are therefore counted as well: a row of value v under the label L
    loses (n(L)
    - n(v)) / (n - n(v)), where n(L) rows have a value that L covers, n(v) the value v, and n is all rows. Both are 0 if
      nothing is lost and 1 if everything is. Rows are counted twice: all of them, and those that have a value.
      Otherwise a column with many missing values would seem preserved by publishing these, with none of its values
      left.

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
