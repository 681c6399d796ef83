"""Method `microaggregation`: groups of at least k similar rows, published with the means of their quasi-identifiers.

See perturbation/microaggregation.py for the groups. Every row of a class gets the same values, also after rounding:
this is k-anonymity, and it is recounted and verified as such.
"""

from typing import Any

import numpy as np

from sfumato.errors import DataError, UnattainableError
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.class_labels import distinct_classes, distinct_labels, recode_classes
from sfumato.microdata.methods.search_result import ProgressCallback, Result
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.perturbation.microaggregation import groups_of, information_loss, means_of, revealing_means
from sfumato.microdata.perturbation.number_text import check_digits, numbers_of, strings_of
from sfumato.microdata.perturbation.plan import Microaggregate
from sfumato.microdata.plan.methods import Microaggregation
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import ClassRecoding, division_of
from sfumato.values import replace


def search(
    plan: Plan, method: Microaggregation, table: FrequencyTable, progress: ProgressCallback | None = None
) -> Result:
    """Return the classes of a table by microaggregation.

    Raises:
        UnattainableError: There are fewer rows than a group must have.
        DataError: A value is missing, or no number.
    """
    del method
    operation = plan.microaggregated or Microaggregate(2)
    k = max(operation.k, *(model.min_class_size for model in plan.privacy))
    if k > table.rows:
        raise UnattainableError("rows.k_needs_at_least", k=k, rows=table.rows)
    combinations = np.repeat(np.arange(len(table.counts)), table.counts)
    values = _values(plan, table)[combinations]
    groups = groups_of(values, k, operation.refine)
    if progress is not None:
        progress(1, 1)
    loss = information_loss(values, groups)
    recoding = _recoding(plan, table, combinations, means_of(values, groups), groups)
    revealing = {name: revealing_means(values[:, at], groups) for at, name in enumerate(table.columns)}
    figures: dict[str, Any] = {
        "k": k,
        "groups": int(groups.max()) + 1,
        "information_loss": loss,
        "refine": operation.refine,
    }
    figures["revealing_means"] = {name: count for name, count in revealing.items() if count}
    details = {"microaggregation": figures}
    return Result(recoding, "information-loss", loss, {}, False, 1, 1, details=details)


def _recoding(plan: Plan, table: FrequencyTable, combinations: Counts, means: Floats, groups: Counts) -> ClassRecoding:
    """Return groups as classes; those with the same published means are merged."""
    first = np.unique(groups, return_index=True)[1]
    coded = []
    for place, name in enumerate(table.columns):
        publish = plan.columns[name].published
        texts = strings_of(means[first, place], None if publish is None else publish.round)
        coded.append(distinct_labels(texts, np.arange(len(texts))))
    labels = tuple(entry[0] for entry in coded)
    classes, places = distinct_classes(labels, np.column_stack([entry[1] for entry in coded]))
    pairs, rows = np.unique(np.column_stack([combinations, places[groups]]), axis=0, return_counts=True)
    owners = np.empty(len(table.counts), np.int64)
    owners[pairs[::-1, 0]] = pairs[::-1, 1]
    rows = rows.astype(np.int64)
    division = division_of(plan.secret, table, pairs[:, 0], pairs[:, 1], rows)
    sizes = np.bincount(pairs[:, 1], weights=rows, minlength=len(classes)).astype(np.int64)
    return replace(recode_classes(table, owners, labels, classes, division), sizes=sizes)


def _values(plan: Plan, table: FrequencyTable) -> Floats:
    columns = []
    for name, ladder, codes in zip(table.columns, table.ladders, table.codes.T, strict=True):
        if None in ladder.places:
            raise DataError("missing", column=name).about(column=name)
        numbers = numbers_of(ladder.values, name, plan.data.missing)
        check_digits(numbers, ladder.values, name)
        columns.append(numbers[codes])
    return np.column_stack(columns)
