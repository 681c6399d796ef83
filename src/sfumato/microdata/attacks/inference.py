"""Inference: how much better a sensitive value is guessed with the release by who knows all else of a person.

Two attackers: one asks the published rows nearest to the person and says what most of them do, one has learned from all
published rows (gradient-boosted trees, where scikit-learn is installed). The control are persons who were never in the
data: what can be learned of anybody is no fault of the release. Giomi et al. (2023).
"""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.microdata.attacks.neighbors import space_of
from sfumato.microdata.attacks.outcome import Attack, Rate
from sfumato.microdata.attacks.rows import AttackColumn, AttackRows, Codes

NAME = "inference"
# A number is guessed rightly where it is off by no more than this share of itself.
TOLERANCE = 0.05
# More different values are too many for a classifier.
MOST_VALUES = 50
LEAST_ROWS = 20
NO_TREES = "boosted trees: scikit-learn is not installed (sfumato[learning])"


def infer(rows: AttackRows, attempts: int, random: np.random.Generator) -> tuple[Attack, ...]:
    """The attacks on each sensitive column that is published."""
    attacks: list[Attack] = []
    for name in rows.sensitive:
        target = rows[name]
        knowledge = [column for column in rows.shown if column.name != name]
        if target.is_hidden or not knowledge:
            continue
        persons = {
            which: random.permutation(len(getattr(target, which)))[:attempts].astype(np.int32)
            for which in ("raw", "control")
        }
        attacks.append(_asking(target, knowledge, persons, random))
        if find_spec("sklearn") is not None and _learnable(target):
            attacks.append(_learning(target, knowledge, persons, int(random.integers(2**31))))
    return tuple(attacks)


def _learnable(target: AttackColumn) -> bool:
    return 2 <= len(target.labels) <= MOST_VALUES and len(target.published) >= 2 * LEAST_ROWS


def _asking(
    target: AttackColumn, knowledge: Sequence[AttackColumn], persons: dict[str, Codes], random: np.random.Generator
) -> Attack:
    """Asking the nearest rows."""

    def guesses(which: str) -> Codes:
        space = space_of(knowledge, [getattr(column, which)[persons[which]] for column in knowledge])
        if len(target.labels) > 2000:
            rows: Codes = space.nearest(1, random)[:, 0].astype(np.int32)
            return target.published[rows]
        best: Codes = space.votes(target.published, len(target.labels)).argmax(axis=1).astype(np.int32)
        return best

    return _outcome(target, "nearest rows", persons, guesses)


def _learning(target: AttackColumn, knowledge: Sequence[AttackColumn], persons: dict[str, Codes], seed: int) -> Attack:
    """Learning from all rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    features = np.column_stack([_features(column, None, None) for column in knowledge])
    model = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=15,
        min_samples_leaf=LEAST_ROWS,
        l2_regularization=1.0,
        random_state=seed,
        early_stopping=False,
    )
    model.fit(features, target.published)

    def guesses(which: str) -> Codes:
        questions = np.column_stack([_features(column, which, persons[which]) for column in knowledge])
        answers: Codes = model.predict(questions).astype(np.int32)
        return answers

    return _outcome(target, "boosted trees", persons, guesses)


def _features(column: AttackColumn, which: str | None, chosen: Codes | None) -> npt.NDArray[np.float64]:
    """A column as numbers: of published rows their labels, of persons the narrowest that stands for their value."""
    order = _label_numbers(column)
    if which is None or chosen is None:
        return order[column.published]
    own = _label_of_values(column)
    codes = own[getattr(column, which)[chosen]]
    return np.where(codes >= 0, order[np.maximum(codes, 0)], np.nan)


def _label_numbers(column: AttackColumn) -> npt.NDArray[np.float64]:
    """Labels in the order of the values they stand for, so that trees can divide them."""
    if column.numbers is not None:
        return np.asarray(column.numbers[0])
    if column.is_large:
        return np.arange(len(column.labels), dtype=float)
    from sfumato.hierarchies.bounds import in_order

    ranks = {
        label: rank for rank, label in enumerate(in_order([label for label in column.labels if label is not None]))
    }
    return np.array([np.nan if label is None else float(ranks[label]) for label in column.labels])


def _label_of_values(column: AttackColumn) -> npt.NDArray[np.int64]:
    """For each value the narrowest label that stands for it, -1 where none does."""
    if column.is_large:
        return column.label_places
    width = np.where(column.covers, column.covers.sum(axis=1)[:, None], np.iinfo(np.int64).max)
    best = width.argmin(axis=0)
    return np.where(column.covers.any(axis=0), best, -1)


def _outcome(target: AttackColumn, variant: str, persons: dict[str, Codes], guesses: Any) -> Attack:
    rates = {}
    for which in ("raw", "control"):
        truth = getattr(target, which)[persons[which]]
        rates[which] = Rate(int(_right(target, guesses(which), truth).sum()), len(truth))
    common = np.bincount(target.control, minlength=len(target.values)).argmax() if len(target.control) else 0
    naive = int((target.raw[persons["raw"]] == common).sum())
    details = {"column": target.name}
    return Attack(
        NAME,
        f"{target.name}: {variant}",
        rates["raw"],
        Rate(naive, rates["raw"].attempts),
        rates["control"],
        details=details,
    )


def _right(target: AttackColumn, guesses: Codes, truth: Codes) -> npt.NDArray[np.bool_]:
    """Whether published values are right about true ones: equal, covering them, or near them where both are numbers."""
    if target.numbers is not None:
        said, real = target.numbers[0][guesses], target.numbers[1][truth]
        near: npt.NDArray[np.bool_] = np.abs(said - real) <= TOLERANCE * np.abs(real)
        return near
    if target.is_large:
        same: npt.NDArray[np.bool_] = target.label_places[truth] == guesses
        return same
    hits: npt.NDArray[np.bool_] = target.covers[guesses, truth]
    return hits
