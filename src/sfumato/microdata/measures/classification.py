"""Classification accuracy: a classifier trained on the release compared with one trained on the original rows.

Both are logistic regressions on the quasi-identifiers, with one indicator per value or label. Both are tested on the
same original rows, which neither was trained on. For the second classifier the test rows are recoded as in the release.
A row whose class is suppressed has no label, so the most frequent target value is predicted. Missing values and `*`
have no indicator. Iyengar, V. (2002), https://doi.org/10.1145/775047.775089, for classification as a measure of
utility.

It works on distinct combinations with their weights: of each combination and target value, a seeded binomial share of
the rows is held out. No row is read.
"""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.errors import missing_extra
from sfumato.microdata.measures.recoded_view import RecodedView, are_informative
from sfumato.microdata.models.equivalence_classes import Counts

HELD_OUT = 0.3
MAX_ENTRIES = 200_000


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Shares of held-out original rows that are predicted correctly.

    Attributes:
        raw: By a classifier trained on original rows; release: by one trained on the release.
        majority: By always predicting the most frequent value.
    """

    target: str
    raw: float | None
    release: float | None
    majority: float
    held_out_rows: int
    reason: str = ""


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
        return Accuracy(target, None, None, majority, rows, "the target has one value, or no row is held out")
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
    """The published labels of each combination, and whether it is published at all."""
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
