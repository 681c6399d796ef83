"""Fully generalized classes: published as `*` in every column, they are treated like suppressed rows.

If suppressed rows are published as `*`, a class at the top level of every column cannot be distinguished from them.
Such a class is therefore suppressed or, if nothing else is kept, all rows form one class. If suppressed rows are
dropped, it is a class like any other.
"""

from dataclasses import replace

import numpy as np

from sfumato.errors import UnattainableError
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses, histogram
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import STAR, ClassRecoding, Recoding


def treat_fully_generalized_classes(plan: Plan, table: FrequencyTable, recoding: Recoding) -> Recoding:
    """Return the recoding with fully generalized classes treated like suppressed rows.

    Raises:
        UnattainableError: All rows form one class although a model refers to a sensitive column, or one is violated.
    """
    tops = _top_classes(recoding)
    telling = ~tops & ~recoding.suppressed
    if not (tops & ~recoding.suppressed).any():
        return recoding
    if telling.any():
        hidden = recoding.suppressed | tops if plan.output.suppressed == "star" else recoding.suppressed
        return replace(recoding, suppressed=hidden)
    if must_distinguish_rows(plan, table):
        raise _nothing_told(plan)
    if plan.output.suppressed != "star" or not recoding.suppressed.any() or not isinstance(recoding, ClassRecoding):
        return recoding
    return _together(plan, table, recoding)


def must_distinguish_rows(plan: Plan, table: FrequencyTable) -> bool:
    """Return whether rows must be distinguished: a model of a sensitive column is empty for a single class."""
    return any(model.column for model in plan.privacy) and len(table.counts) > 1


def is_single_class(recoding: Recoding) -> bool:
    """Return whether all rows that are kept form one class."""
    return int((~recoding.suppressed & (recoding.sizes > 0)).sum()) < 2


def _top_classes(recoding: Recoding) -> BoolArray:
    """Return which classes are published as `*` in every column."""
    tops = np.ones(len(recoding.sizes), bool)
    for column, labels in enumerate(recoding.labels):
        stars = np.array([label == STAR for label in labels] + [False], bool)
        tops &= stars[recoding.classes[:, column]]
    return tops


def _together(plan: Plan, table: FrequencyTable, recoding: ClassRecoding) -> ClassRecoding:
    """Return all rows as one class."""
    sensitive = {
        name: histogram(np.zeros(len(whole.values), np.int64), whole.values, whole.counts, 1, whole.size)
        for name, whole in table.sensitive.items()
    }
    one = EquivalenceClasses(np.array([table.rows]), sensitive)
    if any(model.violating(one, table.whole).any() for model in plan.privacy):
        raise _nothing_told(plan)
    return replace(
        recoding,
        owners=np.zeros_like(recoding.owners),
        labels=tuple((STAR,) for _ in recoding.columns),
        classes=np.zeros((1, len(recoding.columns)), np.int32),
        suppressed=np.zeros(1, bool),
        sizes=one.sizes,
        division=None,
    )


def _nothing_told(plan: Plan) -> UnattainableError:
    asked = " and ".join(
        f"{model.name} {model.requested:g}" + ("" if model.column is None else f" of {model.column}")
        for model in plan.privacy
    )
    return UnattainableError("top.nothing_below_the_top", asked=asked)
