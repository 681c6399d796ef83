"""Utility of a release, before and after, from the frequency table and the recoding alone.

No row is read, so the cost is about the same for a million rows as for a thousand; every part stops at a stated amount
of work. Classification needs a target column and scikit-learn, so a plan has to ask for it (`utility: {target:
income}`).
"""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import missing_extra
from sfumato.localization.messages import Message
from sfumato.microdata.counts import kernels
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouper
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.measures.association import Associations, associations
from sfumato.microdata.measures.columns import values_left
from sfumato.microdata.measures.recoded_view import ColumnView, RecodedView, are_informative, distinct_pairs, view_of
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, Floats
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import LevelRecoding, Recoding
from sfumato.values import Value, asdict

HELD_OUT = 0.3
MAX_ENTRIES = 200_000
QUERIES = 100
MOST_COLUMNS = 3
FLOOR = 0.01
# Limit of the work: queries times rows of the frequency table.
MAX_WORK = 10_000_000
BY_COLUMN = ("loss-metric", "precision", "non-uniform-entropy", "score", "height")


# Both are logistic regressions on the quasi-identifiers, with one indicator per value or label. Both are tested on the
# same original rows, which neither was trained on. For the second classifier the test rows are recoded as in the
# release. A row whose class is suppressed has no label, so the most frequent target value is predicted. Missing values
# and `*` have no indicator. Iyengar, V. (2002), https://doi.org/10.1145/775047.775089, for classification as a measure
# of utility.
# It works on distinct combinations with their weights: of each combination and target value, a seeded binomial share of
# the rows is held out. No row is read.
class Accuracy(Value):
    """Shares of held-out original rows that are predicted correctly.

    Attributes:
        raw: Accuracy of a classifier trained on original rows.
        release: Accuracy of a classifier trained on the release.
        majority: Accuracy of always predicting the most frequent value.
    """

    target: str
    raw: float | None
    release: float | None
    majority: float
    held_out_rows: int
    reason: Message | None = None


def accuracy(view: RecodedView, target: str, seed: int) -> Accuracy:
    """Train on the release and on original rows, and test both."""
    content = view.table.sensitive[target]
    entries = _some(len(content.values), seed)
    owners, values, counts = content.owners[entries], content.values[entries], content.counts[entries]
    tested = np.random.default_rng(seed).binomial(counts, HELD_OUT)
    taught = counts - tested
    rows = int(tested.sum())
    majority = _share(np.full(len(values), _most_frequent(values, taught, content.size)), values, tested)
    if len(np.unique(values[taught > 0])) < 2 or not rows:
        return Accuracy(target, None, None, majority, rows, Message("note.one_target_value"))
    informative = [are_informative(ladder.values) for ladder in view.table.ladders]
    codes = [view.table.codes[owners, place] for place in range(len(view.columns))]
    raw = _indicators([np.where(known[own], own, -1) for own, known in zip(codes, informative, strict=True)])
    labels, shown = _labels(view, owners)
    published = _indicators(
        [np.where(shown & column.informative[own], own, -1) for own, column in zip(labels.T, view.columns, strict=True)]
    )
    return Accuracy(
        target,
        _share(_predicted(raw, values, taught), values, tested),
        _share(_predicted(published, values, np.where(shown, taught, 0)), values, tested),
        majority,
        rows,
    )


def _some(entries: int, seed: int) -> npt.NDArray[np.int64]:
    """Return all entries, or a seeded sample if there are too many."""
    if entries <= MAX_ENTRIES:
        return np.arange(entries)
    return np.sort(np.random.default_rng(seed).choice(entries, MAX_ENTRIES, replace=False))


def _labels(view: RecodedView, owners: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Return the published labels of each combination, and whether it is published at all."""
    classes = np.zeros(len(view.table.counts), np.int64)
    classes[view.pieces.combinations] = view.pieces.classes
    shown = np.zeros(len(classes), bool)
    shown[view.published.combinations] = True
    return view.class_labels[classes[owners]], shown[owners]


def _indicators(columns: list[npt.NDArray[Any]]) -> Any:
    """Return one indicator per column and code; a negative code has none."""
    from importlib.util import find_spec

    if find_spec("sklearn") is None:
        raise missing_extra("scikit-learn", "learning")
    from scipy.sparse import csr_matrix

    rows, places, at = [], [], 0
    for codes in columns:
        present = np.flatnonzero(codes >= 0)
        rows.append(present)
        places.append(codes[present] + at)
        at += int(codes.max(initial=0)) + 1
    where = (np.concatenate(rows), np.concatenate(places))
    return csr_matrix((np.ones(len(where[0])), where), shape=(len(columns[0]), max(at, 1)))


def _predicted(features: Any, values: npt.NDArray[np.int32], weights: Counts) -> npt.NDArray[np.int32]:
    from sklearn.linear_model import LogisticRegression

    taught = weights > 0
    classes = np.unique(values[taught])
    if len(classes) < 2:
        return np.full(len(values), classes[0] if len(classes) else -1, np.int32)
    model = LogisticRegression(max_iter=200)
    with warnings.catch_warnings():
        # The last digits of the coefficients do not affect the share of correct predictions.
        warnings.simplefilter("ignore")
        model.fit(features[taught], values[taught], sample_weight=weights[taught])
    found: npt.NDArray[np.int32] = model.predict(features)
    return found


def _most_frequent(values: npt.NDArray[np.int32], weights: Counts, size: int) -> int:
    return int(np.bincount(values, weights=weights, minlength=size).argmax())


def _share(predicted: npt.NDArray[Any], values: npt.NDArray[np.int32], rows: Counts) -> float:
    return float(rows[predicted == values].sum()) / max(int(rows.sum()), 1)


# Each query asks how many rows lie in random ranges of up to three columns at once (for columns without an order: in a
# random set of values). The answer from the release distributes each label evenly over the values it covers. The error
# of a query is |estimate - truth| / max(truth, 1 % of the rows), and the measure is the mean over the queries. LeFevre,
# K. et al. (2008). Workload-aware anonymization techniques for large-scale datasets,
# https://doi.org/10.1145/1386118.1386123. Seeded: the same data, plan and seed give the same queries.
class RangeCounts(Value):
    """The mean and the median relative error of random range counts."""

    queries: int
    mean_error: float
    median_error: float


def range_counts(view: RecodedView, seed: int, queries: int = QUERIES) -> RangeCounts:
    """Ask random range queries of a release."""
    random = np.random.default_rng(seed)
    work = len(view.table.counts) + len(view.class_rows)
    asked = max(min(queries, MAX_WORK // max(work, 1)), 10)
    errors = [_error(view, random) for _ in range(asked)]
    return RangeCounts(asked, float(np.mean(errors)), float(np.median(errors)))


def _error(view: RecodedView, random: np.random.Generator) -> float:
    """Return the error of one query."""
    width = len(view.columns)
    many = int(random.integers(1, min(MOST_COLUMNS, width) + 1))
    places = sorted(random.choice(width, many, replace=False).tolist())
    sets: BoolArray = np.zeros((many, max(ladder.size for ladder in view.table.ladders)), bool)
    guess: Floats = view.class_rows.astype(np.float64)
    for at, place in enumerate(places):
        column = view.columns[place]
        chosen = _chosen(column, random)
        sets[at, column.values] = chosen
        guess = guess * column.inside(chosen)[view.class_labels[:, place]]
    wanted = float(kernels.rows_inside(view.table.codes, view.table.counts, np.array(places, np.int64), sets))
    return abs(float(guess.sum()) - wanted) / max(wanted, FLOOR * view.table.rows)


def _chosen(column: ColumnView, random: np.random.Generator) -> BoolArray:
    """Return a random range of an ordered column, or a random set of values, covering a tenth to all of them."""
    count = len(column.values)
    length = max(1, round(count * float(random.uniform(0.1, 1.0))))
    if column.numbers is None:
        chosen = np.zeros(count, bool)
        chosen[random.choice(count, length, replace=False)] = True
        return chosen
    start = int(random.integers(0, count - length + 1))
    places = np.arange(count)
    found: BoolArray = (places >= start) & (places < start + length)
    return found


# For full-domain recodings the losses are exactly those a plan can ask for. For classes with labels of their own
# (mondrian, local, k-optimize) `loss-metric` is the share of a numeric column's range, or of its other values, that a
# label covers. Losses based on levels have no meaning there and are left out.
class InformationLoss(Value):
    """A loss: in total, and of each column if it is defined by columns."""

    name: str
    value: float
    per_column: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        return {"value": self.value} | ({"per_column": self.per_column} if self.per_column else {})


def losses(table: FrequencyTable, recoding: Recoding, view: RecodedView) -> tuple[InformationLoss, ...]:
    """Return all losses of a release."""
    sizes = _sizes(recoding, view)
    if isinstance(recoding, LevelRecoding):
        return (*_by_levels(table, recoding), *sizes)
    metric = {column.name: _covered(view, column) for column in view.columns}
    entropy = {column.name: _entropy(view, place) for place, column in enumerate(view.columns)}
    return (
        InformationLoss("loss-metric", sum(metric.values()), metric),
        InformationLoss("non-uniform-entropy", sum(entropy.values()), entropy),
        *sizes,
    )


def _by_levels(table: FrequencyTable, recoding: LevelRecoding) -> list[InformationLoss]:
    """Return the losses of a node, by the same functions that a search minimizes."""
    grouper = Grouper(table)
    grouped, owners = grouper.rolled_with_owners(recoding.node)
    failing = np.zeros(len(recoding.suppressed), bool)
    failing[owners] = recoding.suppressed[recoding.owners]
    weights = (1.0,) * len(table.columns)
    losses = []
    for name in BY_COLUMN:
        parts = prepare(name, table, weights).per_column(grouped, failing)  # type: ignore[arg-type]
        losses.append(InformationLoss(name, sum(parts.values()), parts))
    return losses


def _sizes(recoding: Recoding, view: RecodedView) -> list[InformationLoss]:
    """Return the losses of class sizes."""
    kept = recoding.sizes[~recoding.suppressed].astype(np.float64)
    suppressed = view.table.rows - view.rows
    squares = float((kept**2).sum()) + float(suppressed) * view.table.rows
    classes = len(kept) + (suppressed > 0)
    average = view.table.rows / max(classes, 1)
    return [InformationLoss("discernibility", squares, {}), InformationLoss("average-class-size", average, {})]


def _covered(view: RecodedView, column: ColumnView) -> float:
    """Return the mean share of a column that a row's label covers beyond one value; a suppressed row loses 1."""
    if column.numbers is not None and len(column.numbers) > 1:
        span = float(column.numbers[-1] - column.numbers[0]) or 1.0
        low, high = np.full(len(column.widths), np.inf), np.full(len(column.widths), -np.inf)
        np.minimum.at(low, column.labels, column.numbers[column.covered])
        np.maximum.at(high, column.labels, column.numbers[column.covered])
        shares: Floats = np.where(np.isfinite(low), high - low, 0.0) / span
    else:
        shares = (column.widths - 1) / max(len(column.values) - 1, 1)
    lost = float((column.label_rows * shares).sum()) + view.table.rows - view.rows
    return lost / max(view.table.rows, 1)


def _entropy(view: RecodedView, place: int) -> float:
    """Return the mean of log(n(label) / n(value with it)) over rows, as a share of the maximum."""
    column, pieces = view.columns[place], view.published
    codes = view.table.codes[:, place]
    labels = view.class_labels[pieces.classes, place].astype(np.int64)
    size = view.table.ladders[place].size
    found, _, rows = distinct_pairs(labels, codes[pieces.combinations], size, pieces.rows)
    kept = float((rows * np.log(column.label_rows[found] / rows)).sum())
    shares = column.before / view.table.rows
    most = -float((column.before * np.log(shares)).sum())
    gone = np.bincount(codes, weights=view.table.counts, minlength=size)
    gone -= np.bincount(codes[pieces.combinations], weights=pieces.rows, minlength=size)
    lost = -float((gone[column.values] * np.log(shares)).sum())
    return (kept + lost) / most if most > 0 else 0.0


# Total variation: half the sum of the differences of proportions. For numbers and dates also the earth mover's
# distance: the mean distance by which values would have to be moved, as a share of the column's range (Rubner, Y. et
# al. (2000), https://doi.org/10.1023/A:1026543900054). Suppressed rows, `*` and missing values are left out;
# proportions refer to the other rows. If no row is left there is no distance (None).
class DistributionShift(Value):
    """The change of a column's distribution."""

    column: str
    total_variation: float | None
    earth_mover: float | None = None


def drift_of(column: ColumnView) -> DistributionShift:
    """Return the distances of one column."""
    before, after = column.before[column.present], column.after[column.present]
    if not after.sum():
        return DistributionShift(column.name, None)
    gaps = after / after.sum() - before / before.sum()
    variation = float(np.abs(gaps).sum()) / 2
    if column.numbers is None:
        return DistributionShift(column.name, variation)
    numbers = column.numbers[column.present]
    span = float(numbers[-1] - numbers[0])
    moved = float((np.abs(np.cumsum(gaps))[:-1] * np.diff(numbers)).sum())
    return DistributionShift(column.name, variation, moved / span if span else 0.0)


class Utility(Value):
    """All utility measures of one release.

    Attributes:
        losses: Every loss, per column and in total.
        distributions: The change of each column's distribution.
        associations: The change of the association of each pair of columns.
        range_counts: The error of counts in random ranges.
        values_left: For each column, the number of values that the release still distinguishes.
        classification: The accuracy of a classifier trained on the release, if the plan requests it.
    """

    losses: tuple[InformationLoss, ...]
    distributions: tuple[DistributionShift, ...]
    associations: Associations
    range_counts: RangeCounts
    values_left: Mapping[str, Mapping[str, float]]
    classification: Accuracy | None = None

    def to_dict(self) -> Mapping[str, Any]:
        """Return the measures as plain values, as in report.json."""
        return {
            "losses": {lost.name: lost.to_dict() for lost in self.losses},
            "distributions": {drift.column: _without_name(drift) for drift in self.distributions},
            "association": {name: value for name, value in asdict(self.associations).items() if name != "pairs"},
            "association_pairs": [asdict(pair) for pair in self.associations.pairs],
            "range_counts": asdict(self.range_counts),
            "values_left": {name: dict(figures) for name, figures in self.values_left.items()},
        } | ({"classification": asdict(self.classification)} if self.classification else {})


def utility(plan: Plan, table: FrequencyTable, recoding: Recoding) -> Utility:
    """Measure the utility of a release.

    The plan gives the types of the columns, the seed of the random range counts and of the rows held out for
    classification, and the column to predict, which must have been counted.
    """
    view, target = view_of(plan, table, recoding), plan.utility.target
    return Utility(
        losses(table, recoding, view),
        tuple(drift_of(column) for column in view.columns),
        associations(view),
        range_counts(view, plan.drawing_seed),
        values_left(view, recoding),
        accuracy(view, target, plan.drawing_seed) if target is not None else None,
    )


def _without_name(drift: DistributionShift) -> dict[str, float | None]:
    return {"total_variation": drift.total_variation, "earth_mover": drift.earth_mover}
