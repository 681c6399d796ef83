"""Published labels that are finer than others, and the raw rows that confirm rules few published rows suggest.

An attacker reads labels from their texts: `*` contains every other label, ranges contain ranges and numbers, sets
contain their members and smaller sets, codes with stars contain codes with the same beginning. A known hierarchy
defines
all others. An attacker may draw a rule from a single row, which the published rows alone cannot tell from chance; the
raw rows also show how often the rule is right where a coarse label is published.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.errors import SfumatoError
from sfumato.hierarchies.hierarchy import Hierarchy, HierarchyBuilder
from sfumato.hierarchies.label_bounds import bounds_of
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.microdata.measures.kernels import count_labels
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.microdata.recoding.mapping import STAR
from sfumato.microdata.recoding.range_grid import range_ends, set_members
from sfumato.microdata.release_check.evidence import RIGHT, USUAL, Evidence, is_better, is_beyond_chance, surpasses

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
    """Yield the containment of codes with stars (`72***`), and of years and months of date hierarchies, by prefix."""
    dated = hierarchy is not None and hierarchy.name == "date"
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


Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Texts = tuple[str | None, ...]
# Larger tables of labels by raw values by values of a column are not made.
MOST_PRODUCTS = 5_000_000


class RawRows:
    """Raw rows by the values that a release generalizes, and by those of other columns.

    A value that is published changed by chance or by its neighbors is the raw one, or none that raw rows have.

    Attributes:
        columns: The quasi-identifiers, and the other columns.
        operations: How single values of columns are published.
        person: The column with the person, whose rows count as one together.
        count: Function that counts the raw rows, called on first use.
    """

    def __init__(
        self,
        columns: Sequence[str],
        count: Callable[[Sequence[str]], ValueCounts],
        hierarchies: Mapping[str, HierarchyBuilder | None],
        operations: Mapping[str, PublishPlan],
        blank: bool,
        person: str | None = None,
    ) -> None:
        self.columns, self.count, self._hierarchies, self._blank = columns, count, hierarchies, blank
        self._operations, self._person = operations, person
        self._inside: dict[tuple[str, Texts], Floats] = {}
        # The last table, cached because each coarse label of a column uses the same one.
        self._tables: dict[tuple[str, Texts, str, Texts], Floats] = {}

    @cached_property
    def _counted(self) -> tuple[dict[str, Texts], dict[str, Ints], Floats]:
        """The texts and the codes of each column, and the rows of each combination."""
        rows = self.count(tuple(dict.fromkeys(filter(None, (*self.columns, self._person)))))
        codes = {name: column.astype(np.int64) for name, column in zip(rows.columns, rows.codes.T, strict=True)}
        weights = rows.counts.astype(np.float64)
        if self._person is not None:
            weights /= np.bincount(codes[self._person], weights)[codes[self._person]]
        return dict(zip(rows.columns, rows.values, strict=True)), codes, weights

    def table(self, name: str, labels: Texts, source: str, values: Texts) -> Floats | None:
        """Return the raw rows that each label contains (row) with each value of another column; None above the limit.

        Args:
            labels: The published texts of a quasi-identifier.
            values: The published texts of another column.
        """
        texts, codes, counts = self._counted
        raw = texts[name]
        many = max(len(labels), len(raw), len(values)) > MOST_LABELS
        if many or len(labels) * len(raw) * len(values) > MOST_PRODUCTS:
            return None
        key = name, labels, source, values
        if key not in self._tables:
            of_values = _places(self._published(source, texts[source]), values)[codes[source]]
            rows = np.zeros((len(raw), len(values) + 1))
            count_labels(codes[name], of_values, np.zeros_like(of_values), 1, counts, rows)
            self._tables = {key: self._contained(name, labels) @ rows[:, :-1]}
        return self._tables[key]

    def _published(self, name: str, texts: Texts) -> Texts:
        """Return the published labels of the raw texts of a column."""
        if name not in self._operations:
            return texts
        published = self._operations[name].publish([text or "" for text in texts])
        return tuple(text if new is None else new for text, new in zip(texts, published, strict=True))

    def _contained(self, name: str, labels: Texts) -> Floats:
        """Return which raw values (column) each label contains (row), as 0 and 1."""
        key = name, labels
        if key not in self._inside:
            texts = self._counted[0][name]
            union = [*dict.fromkeys((*labels, *texts))]
            outer, inner = _places(labels, union), _places(texts, union)
            finer = finer_labels(union, self._hierarchies[name], self._blank)
            self._inside[key] = (finer[np.ix_(outer, inner)] | (outer[:, None] == inner)).astype(np.float64)
        return self._inside[key]


def _places(texts: Texts, among: Sequence[str | None]) -> Ints:
    """Return the index of each text among the others; the number of the others for a text not among them."""
    places = {text: place for place, text in enumerate(among)}
    return np.array([places.get(text, len(places)) for text in texts], np.int64)


def confirmed(raw: Floats, at: int, evidence: Evidence) -> Ints:
    """Return each value's label that published rows suggest for a coarse one and the raw rows confirm.

    They do where the label is right for 95 % of at least k raw rows with that value, or of the rows with coarse labels
    by all such rules together, and chance does not explain that; -1 elsewhere.

    Args:
        raw: The raw rows that each label (row) contains with each value (column).
        at: The index of the coarse label.
    """
    inner, coarse = evidence.coarse.of(at), evidence.coarse.labels[at]
    suggested = inner[evidence.rows[inner].argmax(axis=0)]
    of_values = suggested, np.arange(len(suggested))
    asked = evidence.right[at] & (evidence.hidden[at] > 0)
    hits, guesses = raw[of_values], raw[coarse]
    shares = raw.sum(axis=1) / max(raw[coarse].sum(), 1.0)
    usual, tried = shares[suggested], asked & (guesses >= evidence.k)
    trials = evidence.trials * len(evidence.coarse.labels)
    right = tried & (hits >= RIGHT * guesses) & (usual <= USUAL)
    right &= surpasses(hits, guesses, usual, trials * max(int(tried.sum()), 1))
    hidden_hits = float((hits - evidence.rows[of_values])[asked].sum())
    hidden, most = float((guesses - evidence.total[at])[asked].sum()), float(shares[inner].max())
    if hidden >= evidence.k and is_better(hidden_hits, hidden, most):
        right |= asked & is_beyond_chance(hidden_hits, hidden, most, trials)
    return np.where(right, suggested, -1)
