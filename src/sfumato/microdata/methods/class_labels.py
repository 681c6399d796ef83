"""Labels of classes: equal ones are one class, fully generalized ones are suppressed, protected columns get `*`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import UnattainableError
from sfumato.localization.messages import Message, joined
from sfumato.microdata.counts.combinations import packing_of
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.class_assessment import assess
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses, histogram
from sfumato.microdata.models.protection import Protection, holding_groups
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.expected_counts import classes_of
from sfumato.microdata.recoding.mapping import STAR, ClassRecoding, Division, Labels, Recoding, class_recoding
from sfumato.values import replace

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


def distinct_labels(texts: Sequence[str | None], codes: npt.NDArray[np.signedinteger[Any]]) -> tuple[Labels, Codes]:
    """Return the distinct labels, and the label code of each class."""
    distinct = tuple(dict.fromkeys(texts))
    place = {text: code for code, text in enumerate(distinct)}
    return distinct, np.array([place[text] for text in texts], np.int32)[codes.reshape(-1)]


def distinct_classes(labels: Sequence[Labels], codes: Codes) -> tuple[Codes, Ints]:
    """Return the sorted distinct label codes of classes, and the index of each class among them.

    Args:
        labels: The labels of each column.
        codes: The label codes of the classes, an array (classes, columns).
    """
    order = packing_of([len(texts) for texts in labels]).order(codes)
    first = np.ones(len(order), bool)
    first[1:] = (codes[order][1:] != codes[order][:-1]).any(axis=1)
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(first) - 1
    return np.ascontiguousarray(codes[order][first]), places


def recode_classes(
    table: FrequencyTable, owners: Ints, labels: Sequence[Labels], classes: Codes, division: Division | None = None
) -> ClassRecoding:
    """Return the recoding of combinations that belong to classes; those beyond the last one are suppressed."""
    kept, hidden = len(classes), owners >= len(classes)
    if hidden.any():
        stars = [texts.index(STAR) if STAR in texts else 0 for texts in labels]
        classes = np.vstack([classes, np.array(stars, np.int32)])
    sizes = np.bincount(owners, weights=table.counts, minlength=len(classes)).astype(np.int64)
    suppressed = np.arange(len(classes)) >= kept
    return class_recoding(table, owners, labels, classes, sizes, suppressed, division)


def treat_fully_generalized_classes(plan: Plan, table: FrequencyTable, recoding: Recoding) -> Recoding:
    """Return the recoding with fully generalized classes treated like suppressed rows.

    If suppressed rows are published as `*`, a class at the top level of every column cannot be distinguished from them.
    Such a class is therefore suppressed or, if nothing else is kept, all rows form one class. If suppressed rows are
    dropped, it is a class like any other.

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
    asked = joined(
        Message("phrase.model", model=model.name, number=model.requested)
        if model.column is None
        else Message("phrase.model_of", model=model.name, number=model.requested, column=model.column)
        for model in plan.privacy
    )
    return UnattainableError("top.nothing_below_the_top", asked=asked)


def with_protections(plan: Plan, table: FrequencyTable, result: Result) -> Result:
    """Return the result without labels that the other quasi-identifiers disclose.

    Full-domain searches evaluate protections at each node and need no further step. Other methods make classes one by
    one, and only all of them together show which groups disclose a label. The column is published as `*` there; such a
    class looks like one that had to cover several values.

    Raises:
        UnattainableError: The classes with equal labels do not satisfy the privacy models.
    """
    while True:
        before = result
        for protection in plan.protections:
            if isinstance(result.recoding, ClassRecoding):
                result = _with_protection(plan, table, result, result.recoding, protection)
        # A new `*` changes the groups that the other classes are compared with.
        if result is before:
            return result


def _with_protection(
    plan: Plan, table: FrequencyTable, result: Result, recoding: ClassRecoding, protection: Protection
) -> Result:
    kept = np.flatnonzero(~recoding.suppressed & (recoding.sizes > 0))
    classes = holding_groups(
        EquivalenceClasses(recoding.sizes[kept]), (protection,), table.columns, recoding.classes[kept], recoding.labels
    )
    disclosed = kept[protection.classes_to_suppress(classes)]
    if not len(disclosed):
        return result
    column = protection.subject or ""
    rows = int(recoding.sizes[disclosed].sum())
    changed = _starred(recoding, table.columns.index(column), disclosed)
    hidden: BoolArray = changed.suppressed
    whole = classes_of(table, changed)
    if assess(whole.kept(~hidden), table.whole, plan.privacy).violating.any():
        raise UnattainableError("protect", column=column)
    lost = min(1.0, result.per_column.get(column, 0.0) + rows / max(table.rows, 1))
    return replace(
        result,
        recoding=changed,
        per_column={**result.per_column, column: lost},
        proved_optimal=False,
        notes=(*result.notes, Message("note.protected_rows", column=column, rows=rows)),
    )


def _starred(recoding: ClassRecoding, place: int, disclosed: np.ndarray) -> ClassRecoding:
    """Return the recoding with `*` in one column of some classes; classes that are then identical are merged."""
    labels = list(recoding.labels)
    if STAR not in labels[place]:
        labels[place] = (*labels[place], STAR)
    codes = recoding.classes.copy()
    codes[disclosed, place] = labels[place].index(STAR)
    keys = np.column_stack([codes, recoding.suppressed, recoding.sizes > 0])
    unique, first, owners = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    owners = owners.reshape(-1)
    division = recoding.division
    return replace(
        recoding,
        owners=owners[recoding.owners].astype(np.int32),
        labels=tuple(labels),
        classes=np.ascontiguousarray(codes[first]),
        suppressed=recoding.suppressed[first],
        sizes=np.bincount(owners, weights=recoding.sizes, minlength=len(unique)).astype(np.int64),
        division=None if division is None else replace(division, classes=owners[division.classes]),
    )
