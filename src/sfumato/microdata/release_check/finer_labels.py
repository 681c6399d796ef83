"""Find which published labels of a column are finer than others, from their texts as an attacker reads them.

`*` contains every other label. Ranges contain ranges and numbers, sets contain their members and smaller sets, masked
codes contain codes with the same beginning. A known hierarchy defines all others.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.errors import SfumatoError
from sfumato.hierarchies.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.hierarchies.label_bounds import bounds_of
from sfumato.microdata.recoding.range_grid import range_ends, set_members
from sfumato.microdata.recoding.recoding import STAR

Text = str | None
BoolArray = npt.NDArray[np.bool_]
# With more labels in one column, only `*` is compared with the others.
MOST_LABELS = 3_000


def finer_labels(labels: Sequence[Text], hierarchy: HierarchyBuilder | None = None, blank: bool = False) -> BoolArray:
    """Return for each label (row) which other labels (columns) are finer, that is strictly contained in it.

    Args:
        hierarchy: The hierarchy of the column, if known.
        blank: Whether a missing label means any value, as `*` does.

    >>> finer_labels(["*", "30-39", "31", "7202*", "72021", "{a, b}", "a"]).astype(int).tolist()[1:6]
    [[0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1]]
    """
    finer = np.zeros((len(labels), len(labels)), bool)
    stars = np.array([blank if label is None else bool(label) and not label.strip(STAR) for label in labels], bool)
    if len(labels) <= MOST_LABELS:
        finer |= _in_ranges(labels)
        places = {label: place for place, label in enumerate(labels)}
        for pairs in (_in_sets(labels, places), _in_masks(labels, hierarchy), _in_hierarchy(labels, places, hierarchy)):
            for outer, inner in pairs:
                finer[outer, inner] = True
    finer[stars] = True
    finer[:, stars] = False
    np.fill_diagonal(finer, val=False)
    return finer


def _in_ranges(labels: Sequence[Text]) -> BoolArray:
    """Return the containment of ranges of numbers, and of dates written year first, whose texts are sortable."""
    ends = [bounds_of(label) for label in labels]
    low = np.array([-np.inf if least is None else least for least, _ in ends])
    high = np.array([np.inf if most is None else most for _, most in ends])
    bounded = np.array([pair != (None, None) for pair in ends], bool)
    inside = (low[:, None] <= low) & (high[:, None] >= high) & ((low[:, None] < low) | (high[:, None] > high))
    finer: BoolArray = inside & bounded[:, None] & bounded
    ranges = {place: pair for place, label in enumerate(labels) if not bounded[place] and (pair := range_ends(label))}
    for outer, (first, last) in ranges.items():
        for inner, label in enumerate(labels):
            least, most = ranges.get(inner, (label, label))
            finer[outer, inner] |= label is not None and first <= (least or "") and (most or "") <= last
    return finer


def _in_sets(labels: Sequence[Text], places: Mapping[Text, int]) -> Iterator[tuple[int, int]]:
    sets = {place: {*named} for place, label in enumerate(labels) if (named := set_members(label))}
    for outer, members in sets.items():
        yield from ((outer, places[member]) for member in members if member in places)
        yield from ((outer, inner) for inner, others in sets.items() if others < members)


def _in_masks(labels: Sequence[Text], hierarchy: HierarchyBuilder | None) -> Iterator[tuple[int, int]]:
    """Yield the containment of masked codes (`72***`), and of years and months of date hierarchies, by prefix."""
    dated = type(hierarchy).__name__ == "Dates"
    begins = [None if label is None else label.rstrip(STAR) for label in labels]
    masked = [place for place, label in enumerate(labels) if begins[place] and (dated or (label or "").endswith(STAR))]
    for outer in masked:
        prefix = begins[outer] or ""
        for inner, begin in enumerate(begins):
            if begin is not None and begin != prefix and begin.startswith(prefix):
                yield outer, inner


def _in_hierarchy(
    labels: Sequence[Text], places: Mapping[Text, int], hierarchy: HierarchyBuilder | None
) -> Iterator[tuple[int, int]]:
    """Yield labels below others in a hierarchy, as far as the published labels or its file define them."""
    ladder = None if hierarchy is None else _ladder_of(labels, hierarchy)
    if ladder is None:
        return
    levels = [
        np.array([places.get(text, -1) for text in texts] or [-1], np.int64)[codes]
        for texts, codes in zip(ladder.labels, ladder.codes, strict=True)
    ]
    for low, inner in enumerate(levels):
        for outer in levels[low + 1 :]:
            both = (inner >= 0) & (outer >= 0) & (inner != outer)
            yield from {*zip(outer[both].tolist(), inner[both].tolist(), strict=True)}


def _ladder_of(labels: Sequence[Text], hierarchy: HierarchyBuilder) -> Hierarchy | None:
    """Return the hierarchy of the published labels; None if its file is not available."""
    try:
        return hierarchy.fit([label for label in labels if label is not None and label.strip(STAR)]).hierarchy
    except (SfumatoError, OSError, ValueError):
        return None
