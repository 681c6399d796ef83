"""Gradient-boosted trees that predict a sensitive column from all published rows; needs scikit-learn."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.attacks.attack_data import AttackColumn
from sfumato.microdata.attacks.dictionary_encoding import Codes

# More distinct values are too many for a classifier.
MOST_VALUES = 50
LEAST_ROWS = 20
# Larger tables are sampled to this size: trees with so few leaves learn no more from more rows.
MOST_ROWS = 200_000
# A round grows one tree per value: with many values, fewer rounds are run, each with a larger learning rate.
MOST_ROUNDS, LEAST_ROUNDS, MOST_TREES = 60, 12, 120
# Sum of the learning rates of all rounds, whatever their number.
LEARNED = 6.0
# Number of folds in which rows are left out of training.
PARTS = 5
NO_TREES = "boosted trees: scikit-learn is not installed (sfumato[learning])"


def is_learnable(target: AttackColumn) -> bool:
    """Return whether trees can be trained for a column."""
    if find_spec("sklearn") is None:
        return False
    return 2 <= len(target.labels) <= MOST_VALUES and len(target.published) >= 2 * LEAST_ROWS


@dataclass(frozen=True, slots=True)
class Trees:
    """A classifier of one column by others."""

    target: AttackColumn
    knowledge: Sequence[AttackColumn]
    seed: int

    def answers(self, persons: Mapping[str, Codes]) -> dict[str, Codes]:
        """Return the predictions for original and control rows by a classifier trained on all published rows."""
        return self._said(np.ones(len(self.target.published), bool), persons)

    def answers_without(self, persons: Codes, own: Codes) -> Codes:
        """Return predictions for original rows by classifiers trained without the rows' own published records.

        Args:
            own: The published row of each.
        """
        parts = np.random.default_rng(self.seed).permutation(len(self.target.published)) % PARTS
        said = np.zeros(len(persons), np.int32)
        for part in range(PARTS):
            asked = parts[own] == part
            if asked.any():
                said[asked] = self._said(parts != part, {"raw": persons[asked]})["raw"]
        return said

    def _said(self, learned: npt.NDArray[np.bool_], persons: Mapping[str, Codes]) -> dict[str, Codes]:
        """Return the predictions by a classifier trained on some rows, or on a sample if these are very many."""
        from threadpoolctl import threadpool_limits

        rows = self._some(np.flatnonzero(learned))
        values = self.target.published[rows]
        if len(np.unique(values)) < 2:
            same = values[0] if len(values) else 0
            return {which: np.full(len(chosen), same, np.int32) for which, chosen in persons.items()}
        features = np.column_stack([column.label_numbers[column.published[rows]] for column in self.knowledge])
        # For so few rows, synchronizing several threads takes longer than the work.
        with threadpool_limits(1):
            model = self._model().fit(features, values)
            return {
                which: model.predict(self._questions(which, one)).astype(np.int32) for which, one in persons.items()
            }

    def _some(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if len(rows) <= MOST_ROWS:
            return rows
        return np.sort(np.random.default_rng(self.seed).choice(rows, MOST_ROWS, replace=False))

    def _questions(self, which: str, persons: Codes) -> npt.NDArray[np.float64]:
        return np.column_stack([_numbers(column, which, persons) for column in self.knowledge])

    def _model(self) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        rounds = _rounds(len(self.target.labels))
        return HistGradientBoostingClassifier(
            max_iter=rounds,
            learning_rate=min(LEARNED / rounds, 0.3),
            max_leaf_nodes=15,
            min_samples_leaf=LEAST_ROWS,
            l2_regularization=1.0,
            random_state=self.seed,
            early_stopping=False,
        )


def _rounds(values: int) -> int:
    """Return the number of boosting rounds for a number of classes.

    >>> _rounds(2), _rounds(9), _rounds(40)
    (60, 13, 12)
    """
    trees = 1 if values == 2 else values
    return max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_TREES // trees))


def _numbers(column: AttackColumn, which: str, persons: Codes) -> npt.NDArray[np.float64]:
    """Return a column of persons as numbers: the narrowest label that covers their value."""
    codes = column.narrowest_labels[getattr(column, which)[persons]]
    return np.where(codes >= 0, column.label_numbers[np.maximum(codes, 0)], np.nan)
