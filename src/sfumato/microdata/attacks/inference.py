"""Inference: how much better a sensitive value is guessed with the release by who knows all else of a person.

Two attackers: one asks the published rows nearest to the person and says what most of them do, one has learned from all
published rows (gradient-boosted trees, where scikit-learn is installed). The control are persons who were never in the
data: what can be learned of anybody is no fault of the release. Giomi et al. (2023).
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

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
# A round grows one tree for each value: of many values fewer rounds are run, each of which learns more.
MOST_ROUNDS, LEAST_ROUNDS, MOST_TREES = 60, 12, 120
# What all rounds together learn by, whatever their number.
LEARNED = 6.0
NO_TREES = "boosted trees: scikit-learn is not installed (sfumato[learning])"


def infer(rows: AttackRows, attempts: int, random: np.random.Generator) -> tuple[Attack, ...]:
    """The attacks on each sensitive column that is published."""
    columns = rows.shown
    targets = [column for column in columns if column.name in rows.sensitive and len(columns) > 1]
    if not targets:
        return ()
    _, of_raw, of_control = rows.sizes
    persons: dict[str, Codes] = {
        which: random.permutation(size)[:attempts].astype(np.int32)
        for which, size in (("raw", of_raw), ("control", of_control))
    }
    answers = {which: _answers(columns, targets, which, chosen) for which, chosen in persons.items()}
    learning = find_spec("sklearn") is not None
    attacks: list[Attack] = []
    for place, target in enumerate(targets):
        said = {which: labels[:, place] for which, labels in answers.items()}
        attacks.append(_outcome(target, "nearest rows", persons, said))
        if learning and _learnable(target):
            knowledge = [column for column in columns if column is not target]
            attacks.append(_learning(target, knowledge, persons, int(random.integers(2**31))))
    return tuple(attacks)


def _answers(columns: Sequence[AttackColumn], targets: Sequence[AttackColumn], which: str, chosen: Codes) -> Codes:
    """What the nearest rows say of each person in each sensitive column."""
    space = space_of(columns, [getattr(column, which)[chosen] for column in columns])
    return space.guesses([target.name for target in targets]).astype(np.int32)


def _learnable(target: AttackColumn) -> bool:
    return 2 <= len(target.labels) <= MOST_VALUES and len(target.published) >= 2 * LEAST_ROWS


def _learning(
    target: AttackColumn, knowledge: Sequence[AttackColumn], persons: Mapping[str, Codes], seed: int
) -> Attack:
    """Learning from all rows."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    features = np.column_stack([_features(column, None, None) for column in knowledge])
    rounds = _rounds(len(target.labels))
    model = HistGradientBoostingClassifier(
        max_iter=rounds,
        learning_rate=min(LEARNED / rounds, 0.3),
        max_leaf_nodes=15,
        min_samples_leaf=LEAST_ROWS,
        l2_regularization=1.0,
        random_state=seed,
        early_stopping=False,
    )
    questions = {
        which: np.column_stack([_features(column, which, chosen) for column in knowledge])
        for which, chosen in persons.items()
    }
    # Several threads wait for each other longer than so few rows take.
    with threadpool_limits(1):
        model.fit(features, target.published)
        answers = {which: model.predict(rows).astype(np.int32) for which, rows in questions.items()}
    return _outcome(target, "boosted trees", persons, answers)


def _rounds(values: int) -> int:
    """How many rounds are run for so many values.

    >>> _rounds(2), _rounds(9), _rounds(40)
    (60, 13, 12)
    """
    trees = 1 if values == 2 else values
    return max(LEAST_ROUNDS, min(MOST_ROUNDS, MOST_TREES // trees))


def _features(column: AttackColumn, which: str | None, chosen: Codes | None) -> npt.NDArray[np.float64]:
    """A column as numbers: of published rows their labels, of persons the narrowest that stands for their value."""
    order = column.label_numbers
    if which is None or chosen is None:
        return order[column.published]
    own = column.narrowest_labels
    codes = own[getattr(column, which)[chosen]]
    return np.where(codes >= 0, order[np.maximum(codes, 0)], np.nan)


def _outcome(target: AttackColumn, variant: str, persons: Mapping[str, Codes], guesses: Mapping[str, Codes]) -> Attack:
    rates = {}
    for which in ("raw", "control"):
        truth = getattr(target, which)[persons[which]]
        rates[which] = Rate(int(_right(target, guesses[which], truth).sum()), len(truth))
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
