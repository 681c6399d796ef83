"""Special uniques after a release: the published rows that sets of columns still make unique."""

import numpy as np

from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts.count_differences import numbers_of
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.measures.uniques.special_uniques import SpecialUniques, special_uniques
from sfumato.microdata.recoding.recoding import Recoding


def published_uniques(recoding: Recoding, fraction: float, work: int) -> SpecialUniques:
    """Return the special uniques of the published classes, without suppressed ones.

    Args:
        fraction: Of the population that was sampled; work: limit of rows times sets of columns.
    """
    return special_uniques(published_table(recoding), fraction, work)


def published_table(recoding: Recoding) -> FrequencyTable:
    """Return the published classes as combinations of their labels, coded by the labels' numbers."""
    kept = ~recoding.suppressed & (recoding.sizes > 0)
    # A missing value has no label: it is the code before the first.
    codes, sizes = recoding.classes[kept] + 1, [len(labels) + 1 for labels in recoding.labels]
    owners, first = numbers_of(codes, sizes)
    counts = np.bincount(owners, weights=recoding.sizes[kept], minlength=len(first)).astype(np.int64)
    codings = tuple(_coding(size) for size in sizes)
    return FrequencyTable(recoding.columns, codings, np.ascontiguousarray(codes[first], np.int32), counts, {}, {})


def _coding(size: int) -> Coding:
    texts = tuple(map(str, range(size)))
    return Coding(texts, np.arange(size, dtype=np.int32), make_hierarchy(texts, []))
