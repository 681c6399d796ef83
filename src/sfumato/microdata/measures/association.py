"""Association: how much of the relation between two columns a release preserves.

For every pair of columns Cramér's V (Cramér, H. (1946). Mathematical Methods of Statistics) is computed from the
original values and from the published labels. For pairs of numbers Pearson's correlation is computed as well; a label
then counts as the mean of the values it covers. Sensitive columns with a privacy model are published unchanged and are
included. A column with one value, or one label, has no association: V and correlation are 0.

Missing values and `*` are neither categories nor numbers: each pair is measured on the rows that have neither in both
columns. V treats labels as categories, so fewer labels than values may raise it a little as well as lower it.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts import kernels
from sfumato.microdata.measures.recoded_view import RecodedView, are_informative
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.values import Value

# Limit of the work: pairs of columns times rows of the frequency table.
MAX_WORK = 20_000_000
_DENSE = 4_000_000
Codes = npt.NDArray[np.int64]


class Association(Value):
    """The association of two columns before and after."""

    first: str
    second: str
    cramers_v_before: float
    cramers_v: float
    correlation_before: float | None = None
    correlation: float | None = None


class Associations(Value):
    """All pairs that were measured, and their mean change."""

    pairs: tuple[Association, ...]
    mean_drift: float
    largest_drift: float
    mean_correlation_drift: float | None
    skipped_pairs: int = 0


def associations(view: RecodedView) -> Associations:
    """Measure pairs of columns within the work limit."""
    width = len(view.columns)
    chosen = list(combinations(range(width), 2))
    most = max(MAX_WORK // max(len(view.pieces.rows), 1), 1)
    tables = (
        _Codes(view.table.codes, view.table.counts, [are_informative(ladder.values) for ladder in view.table.ladders]),
        _Codes(view.class_labels, view.class_rows, [column.informative for column in view.columns]),
    )
    pairs = [_between(view, tables, first, second) for first, second in chosen[:most]]
    pairs += _with_sensitive(view) if most >= len(chosen) else []
    drifts = [abs(pair.cramers_v - pair.cramers_v_before) for pair in pairs]
    moved = [abs(pair.correlation - pair.correlation_before) for pair in pairs if _correlates(pair)]  # type: ignore[operator]
    return Associations(
        tuple(pairs),
        float(np.mean(drifts)) if drifts else 0.0,
        max(drifts, default=0.0),
        float(np.mean(moved)) if moved else None,
        max(len(chosen) - most, 0),
    )


def _correlates(pair: Association) -> bool:
    return pair.correlation is not None and pair.correlation_before is not None


def _between(view: RecodedView, tables: Sequence["_Codes"], first: int, second: int) -> Association:
    """Return the association of two columns, in the original table and in the classes."""
    one, two = view.columns[first], view.columns[second]
    v = [table.cramers_v(first, second) for table in tables]
    if one.means is None or two.means is None:
        return Association(one.name, two.name, *v)
    numbers = (_numbers(view, first), _numbers(view, second)), (one.means, two.means)
    correlations = [own.correlation(first, second, *pair) for own, pair in zip(tables, numbers, strict=True)]
    return Association(one.name, two.name, *v, *correlations)


class _Codes(Value):
    """A table of codes with weights.

    Attributes:
        codes: The value codes, an array (lines, columns).
        rows: The number of rows that each line represents.
        informative: For each column, which codes are neither missing nor `*`; pairs are measured over these.
    """

    codes: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int64]
    informative: Sequence[BoolArray]

    def cramers_v(self, first: int, second: int) -> float:
        height, width = len(self.informative[first]), len(self.informative[second])
        if height * width > _DENSE:
            both = self._both(first, second)
            return cramers_v(self.codes[both, first], self.codes[both, second], self.rows[both])
        counts = kernels.pair_rows(self.codes, self.rows, first, second, height, width)
        counts[~self.informative[first]] = 0
        counts[:, ~self.informative[second]] = 0
        one, two = np.nonzero(counts)
        return _of_cells(one, two, counts[one, two].astype(np.float64))

    def correlation(self, first: int, second: int, one: Floats, two: Floats) -> float:
        """Return Pearson's correlation, given the number of each code."""
        both = self._both(first, second)
        return correlation(one[self.codes[both, first]], two[self.codes[both, second]], self.rows[both])

    def _both(self, first: int, second: int) -> BoolArray:
        return self.informative[first][self.codes[:, first]] & self.informative[second][self.codes[:, second]]


def _numbers(view: RecodedView, place: int) -> Floats:
    """Return the number of each value code of a column."""
    column = view.columns[place]
    numbers = np.zeros(view.table.ladders[place].size)
    numbers[column.values] = column.numbers
    return numbers


def _with_sensitive(view: RecodedView) -> Iterator[Association]:
    """Yield the association of each quasi-identifier with each sensitive column with a model, unless rows are
    divided."""
    if len(view.pieces.rows) != len(view.table.counts):
        return
    shown = np.zeros(len(view.table.counts), bool)
    shown[view.published.combinations] = True
    owner_class = np.zeros(len(shown), np.int64)
    owner_class[view.pieces.combinations] = view.pieces.classes
    for name, content in view.table.sensitive.items():
        owners, known = content.owners, are_informative(view.table.sensitive_values[name])[content.values]
        for place, column in enumerate(view.columns):
            codes, labels = view.table.codes[owners, place], view.class_labels[owner_class[owners], place]
            raw = known & are_informative(view.table.ladders[place].values)[codes]
            seen = known & shown[owners] & column.informative[labels]
            yield Association(
                column.name,
                name,
                cramers_v(codes[raw], content.values[raw], content.counts[raw]),
                cramers_v(labels[seen], content.values[seen], content.counts[seen]),
            )


def cramers_v(one: npt.NDArray[np.integer], two: npt.NDArray[np.integer], rows: npt.NDArray[np.integer]) -> float:
    """Return Cramér's V of two columns of codes; 0 if one of them has one value.

    >>> one = np.array([0, 1])
    >>> cramers_v(one, one, np.array([5, 5])), cramers_v(one, np.array([0, 0]), np.array([5, 5]))
    (1.0, 0.0)
    """
    width = int(two.max(initial=0)) + 1
    cells, owners = _cells(one.astype(np.int64) * width + two, (int(one.max(initial=0)) + 1) * width)
    counts = np.bincount(owners, weights=rows, minlength=len(cells)).astype(np.float64)
    return _of_cells(cells // width, cells % width, counts)


def _of_cells(first: Codes, second: Codes, counts: Floats) -> float:
    """Return Cramér's V from the rows of cells, given by their codes."""
    by_first, by_second = np.bincount(first, weights=counts), np.bincount(second, weights=counts)
    smaller = min(int((by_first > 0).sum()), int((by_second > 0).sum()))
    if smaller < 2:
        return 0.0
    filled = counts > 0
    expected = by_first[first[filled]] * by_second[second[filled]]
    excess = float((counts[filled] ** 2 / expected).sum()) - 1
    return float(np.sqrt(min(max(excess, 0.0) / (smaller - 1), 1.0)))


def _cells(pairs: Codes, size: int) -> tuple[Codes, Codes]:
    """Return the distinct cells of a table, and the cell of each pair."""
    if size <= _DENSE:
        return np.arange(size), pairs
    cells, owners = np.unique(pairs, return_inverse=True)
    return cells, owners.reshape(-1)


def correlation(one: Floats, two: Floats, rows: npt.NDArray[np.integer]) -> float:
    """Return Pearson's correlation of weighted pairs; 0 if one of them is constant."""
    total = rows.sum()
    if not total:
        return 0.0
    first, second = one - (one * rows).sum() / total, two - (two * rows).sum() / total
    spread = float(np.sqrt((first**2 * rows).sum() * (second**2 * rows).sum()))
    return float((first * second * rows).sum()) / spread if spread > 1e-12 else 0.0
