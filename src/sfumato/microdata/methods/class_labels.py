"""Labels of classes that have labels of their own; classes with identical labels become one."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.counts.packing import packing_of
from sfumato.microdata.recoding.recoding import STAR, ClassRecoding, Division, Labels, class_recoding

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


def distinct_labels(texts: Sequence[str | None], codes: npt.NDArray[np.signedinteger[Any]]) -> tuple[Labels, Codes]:
    """Equal labels as one, and the label of each class."""
    distinct = tuple(dict.fromkeys(texts))
    place = {text: code for code, text in enumerate(distinct)}
    return distinct, np.array([place[text] for text in texts], np.int32)[codes.reshape(-1)]


def distinct_classes(labels: Sequence[Labels], codes: Codes) -> tuple[Codes, Ints]:
    """The label codes of classes without those that are alike, sorted, and where each class stands among them.

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
    """The recoding of combinations that belong to classes; those beyond the last are suppressed, as one more class."""
    kept, hidden = len(classes), owners >= len(classes)
    if hidden.any():
        stars = [texts.index(STAR) if STAR in texts else 0 for texts in labels]
        classes = np.vstack([classes, np.array(stars, np.int32)])
    sizes = np.bincount(owners, weights=table.counts, minlength=len(classes)).astype(np.int64)
    suppressed = np.arange(len(classes)) >= kept
    return class_recoding(table, owners, labels, classes, sizes, suppressed, division)
