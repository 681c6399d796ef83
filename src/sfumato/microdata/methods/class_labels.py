"""Labels of classes that have labels of their own; classes with identical labels become one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.combinations import packing_of
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.recoding.mapping import STAR, ClassRecoding, Division, Labels, class_recoding

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
        labels: For each column its labels; codes: (classes, columns) the label of each class.
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
