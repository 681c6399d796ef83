"""Inference attack: how much better the release lets an attacker guess a sensitive value of a person.

The attacker knows all other columns of the person. One attacker takes the most frequent value among the nearest
published rows. Another trains gradient-boosted trees on all published rows (if scikit-learn is installed). The control
group are persons whose rows were never published: what can be learned about them too is not a disclosure by the
release. Giomi et al. (2023).

A person in the data has one more row among the nearest ones than a control person: their own. In a class of five, this
row alone makes many guesses correct. If at least k other rows are as near, the guess is therefore evaluated without the
own row. If fewer are, the person is not protected by a class, and every correct guess counts.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.localization.messages import Message
from sfumato.microdata.attacks.coded_rows import AttackColumn, AttackRows, Codes
from sfumato.microdata.attacks.label_semantics import Floats
from sfumato.microdata.attacks.linkage import Ints, Votes, space_of
from sfumato.microdata.attacks.result import SENSITIVE_KNOWN, AttackResult, Rate
from sfumato.microdata.attacks.singling_out import Told
from sfumato.values import Value, replace

# Maximum number of distinct values that a classifier predicts.
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


class Trees(Value):
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
            own: The index of each person's published row.
        """
        parts = np.random.default_rng(self.seed).permutation(len(self.target.published)) % PARTS
        said = np.zeros(len(persons), np.int32)
        for part in range(PARTS):
            asked = parts[own] == part
            if asked.any():
                said[asked] = self._said(parts != part, {"raw": persons[asked]})["raw"]
        return said

    def _said(self, learned: npt.NDArray[np.bool_], persons: Mapping[str, Codes]) -> dict[str, Codes]:
        """Return the predictions of a classifier trained on the given rows, or on a sample of many rows."""
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


NAME = "inference"
# Maximum relative error of a correct guess of a number.
TOLERANCE = 0.05
# Number of candidates, spread over the control's numbers, for the best constant guess.
GUESSES = 201
# A column whose labels cover no value cannot be attacked.
NONE = Rate(0, 0)
Truths = npt.NDArray[np.bool_]


def infer(
    rows: AttackRows, attempts: int, random: np.random.Generator, least: int, told: Told = lambda: None
) -> tuple[AttackResult, ...]:
    """Run the inference attacks on each published sensitive column.

    Args:
        least: Minimum number of rows that protect a person.
        told: Progress callback, called after each part of the work.
    """
    targets = tuple(column for column in rows.shown if column.name in rows.sensitive and len(rows.shown) > 1)
    if not targets:
        return ()
    persons = {which: _sample(rows, which, attempts, random) for which in ("raw", "control")}
    hunt = _Hunt(rows, targets, persons, least, told)
    votes = hunt.votes(rows.promised)
    attacks: list[AttackResult] = []
    for target, said in zip(targets, votes, strict=True):
        attacks.append(hunt.asking(target, said))
        knowledge = hunt.knowledge(target)
        if knowledge and is_learnable(target) and not target.is_strange:
            attacks.append(hunt.learning(target, knowledge, said["raw"], random))
            told()
    return (*attacks, *hunt.knowing_more())


def _sample(rows: AttackRows, which: str, attempts: int, random: np.random.Generator) -> Codes:
    """Draw rows at random, one of each person, because rows of one person share their outcome."""
    size = rows.sizes[("raw", "control").index(which) + 1]
    order = random.permutation(size)
    if which in rows.persons:
        _, first = np.unique(rows.persons[which][order], return_index=True)
        order = order[np.sort(first)]
    return order[:attempts].astype(np.int32)


class _Hunt(Value):
    """The targets of the attack, and the number of rows that protect a person."""

    rows: AttackRows
    targets: tuple[AttackColumn, ...]
    persons: Mapping[str, Codes]
    least: int
    told: Told

    def knowledge(self, target: AttackColumn) -> list[AttackColumn]:
        """Return what the attacker knows: all columns except those with a privacy model."""
        return [column for column in self.rows.shown if column is not target and column.name not in self.rows.promised]

    def votes(self, unknown: Sequence[str]) -> list[Mapping[str, Votes]]:
        """Return the votes of the nearest rows for original and control rows, in each sensitive column."""
        columns, names = self.rows.shown, [target.name for target in self.targets]
        said = {}
        for which, chosen in self.persons.items():
            codes = [getattr(column, which)[chosen] for column in columns]
            said[which] = space_of(columns, codes, unknown).votes(names, self.told)
        return [{which: votes[place] for which, votes in said.items()} for place in range(len(names))]

    def asking(self, target: AttackColumn, votes: Mapping[str, Votes]) -> AttackResult:
        """Guess by the nearest published rows."""
        outcome = self._outcome(target, "note.attack_nearest", {which: one.labels for which, one in votes.items()})
        if not outcome.comparable:
            return outcome
        raw, (own, alike) = votes["raw"], self._own_rows(target)
        others = np.where(self._is_hidden(raw, own), raw.without(alike), raw.labels)
        right = self._right(target, "raw", raw.labels) & (others >= 0)
        # A wrong guess stays wrong when a row with the true value is left out.
        right &= self._right(target, "raw", np.maximum(others, 0))
        return replace(outcome, without_own_row=Rate(int(right.sum()), len(right)))

    def learning(
        self, target: AttackColumn, knowledge: Sequence[AttackColumn], votes: Votes, random: np.random.Generator
    ) -> AttackResult:
        """Guess by a classifier trained on all published rows, or only on other rows if that decides about evidence."""
        trees = Trees(target, knowledge, int(random.integers(2**31)))
        said = trees.answers(self.persons)
        outcome = self._outcome(target, "note.attack_trees", said)
        hidden = self._is_hidden(votes, self._own_rows(target)[0])
        if not outcome.judged(1).evidence or not hidden.any():
            return outcome
        chosen = self.persons["raw"][hidden]
        whole = [*knowledge, target]
        own = space_of(whole, [column.raw[chosen] for column in whole]).nearest(1, random)[:, 0]
        others = said["raw"].copy()
        others[hidden] = trees.answers_without(chosen, own.astype(np.int32))
        right = self._right(target, "raw", others)
        return replace(outcome, without_own_row=Rate(int(right.sum()), len(right)))

    def knowing_more(self) -> list[AttackResult]:
        """Guess by the nearest rows, knowing the other sensitive columns as well; no guarantee covers this attacker."""
        names = {column.name for column in self.rows.shown if column.name in self.rows.promised}
        targets = [target for target in self.targets if names - {target.name}]
        if not targets:
            return []
        return [
            replace(
                self._outcome(target, "note.attack_nearest_known", {w: v.labels for w, v in said.items()}),
                counted=False,
                remark=SENSITIVE_KNOWN,
            )
            for target, said in zip(self.targets, self.votes(()), strict=True)
            if target in targets
        ]

    def _is_hidden(self, votes: Votes, own: Ints) -> Truths:
        """Return whether enough rows of others are as near as each person's own rows."""
        hidden: Truths = votes.rows - own >= self.least - 1
        return hidden

    def _own_rows(self, target: AttackColumn) -> tuple[Ints, Ints]:
        """Return, for each person, the number of rows as near as the target and the number of these with the same
        value."""
        chosen = self.persons["raw"]
        if "raw" not in self.rows.persons:
            one = np.ones(len(chosen), np.int64)
            return one, one
        known = [self.rows.persons["raw"], *(column.raw for column in self.knowledge(target))]
        return _repeats(known)[chosen], _repeats([*known, target.raw])[chosen]

    def _right(self, target: AttackColumn, which: str, guesses: npt.NDArray[np.integer]) -> Truths:
        return _right(target, guesses, getattr(target, which)[self.persons[which]])

    def _outcome(
        self, target: AttackColumn, variant: str, guesses: Mapping[str, npt.NDArray[np.integer]]
    ) -> AttackResult:
        called = Message(variant, column=target.name)
        if target.is_strange:
            return AttackResult(NAME, called, NONE, NONE, NONE, details={"column": target.name})
        rates = {which: Rate(int(self._right(target, which, said).sum()), len(said)) for which, said in guesses.items()}
        naive = int(_always_the_same(target, target.raw[self.persons["raw"]]).sum())
        return AttackResult(
            NAME,
            called,
            rates["raw"],
            Rate(naive, rates["raw"].attempts),
            rates["control"],
            details={"column": target.name},
        )


def _repeats(columns: Sequence[Codes]) -> Ints:
    """Return how often each row's values occur together."""
    _, places, counts = np.unique(np.column_stack(columns), axis=0, return_inverse=True, return_counts=True)
    return counts[places.ravel()].astype(np.int64)


def _always_the_same(target: AttackColumn, truth: Codes) -> Truths:
    """Return whether the best constant guess of the control is correct, as a number, a label or a value."""
    counts = np.bincount(target.control, minlength=len(target.values))
    if target.numbers is not None:
        values = target.numbers[1]
        guess = _best_number(values[target.control])
        return _near(guess, values[truth])
    common = int(counts.argmax()) if len(target.control) else 0
    told = [place for place, label in enumerate(target.labels) if label is not None and label.strip("*")]
    right: Truths = truth == common
    if (target.is_large and target.ranges is None) or not told:
        return right
    places = np.flatnonzero(counts).astype(np.int32)
    hits = [int(counts[places][_right(target, np.full(len(places), label), places)].sum()) for label in told]
    best = told[int(np.argmax(hits))]
    return _right(target, np.full(len(truth), best), truth) if max(hits) > counts[common] else right


def _best_number(numbers: Floats) -> float:
    """Return the number that is close to most others."""
    present = numbers[np.isfinite(numbers)]
    if not len(present):
        return float("nan")
    guesses = np.unique(np.quantile(present, np.linspace(0, 1, GUESSES), method="nearest"))
    return float(max(guesses, key=lambda guess: int(_near(guess, present).sum())))


def _near(said: Floats | float, real: Floats) -> Truths:
    near: Truths = np.abs(said - real) <= TOLERANCE * np.abs(real)
    return near


def _right(target: AttackColumn, guesses: npt.NDArray[np.integer], truth: Codes) -> Truths:
    """Return whether published values are correct: equal to the true ones, covering them, or near them if numeric."""
    if target.numbers is not None:
        said, real = target.numbers[0][guesses], target.numbers[1][truth]
        return _near(said, real)
    if target.ranges is not None:
        low, high, values = target.ranges
        inside: Truths = (values[truth] >= low[guesses]) & (values[truth] <= high[guesses])
        return inside
    if target.is_large:
        same: Truths = target.label_places[truth] == guesses
        return same
    hits: Truths = target.covers[guesses, truth]
    return hits
