"""Neighbors are those that comparing each row with each, column by column, finds."""

import numpy as np
import pytest

from sfumato.microdata.attacks.coded_rows import AttackColumn, AttackRows, coded_rows
from sfumato.microdata.attacks.linkage import NUMBERS, _kind, space_of

ROWS = 50


@pytest.fixture
def rows() -> AttackRows:
    random = np.random.default_rng(1)

    def drawn() -> dict[str, list[str | None]]:
        return {
            "age": [str(number) for number in random.integers(0, 9, ROWS)],
            "wage": [None if number < 5 else str(number) for number in random.integers(0, 50, ROWS).tolist()],
            "ward": random.choice(["x", "y", None], ROWS).tolist(),
        }

    published = drawn()
    published["ward"][::5] = ["*"] * (ROWS // 5)
    return coded_rows(published, drawn(), drawn(), ["age"], ["wage", "ward"])


def apart(column: AttackColumn, row: int, target: int) -> float:
    if _kind(column) != NUMBERS:
        return float(column.distance[column.published[row], column.raw[target]])
    labels, values = column.numbers
    label, value = labels[column.published[row]], values[column.raw[target]]
    if np.isnan(label) or np.isnan(value):
        return float(np.isnan(label) != np.isnan(value))
    return min(abs(label - value) / (np.nanmax(values) - np.nanmin(values)), 1.0)


def distances(columns, target: int) -> np.ndarray:
    return np.array([sum(apart(column, row, target) for column in columns) for row in range(ROWS)])


def test_guesses_are_what_most_of_the_nearest_rows_say(rows) -> None:
    space = space_of(rows.columns, [column.raw for column in rows.columns])
    votes = space.votes(["wage", "ward"])
    for target in range(ROWS):
        for place, name in enumerate(("wage", "ward")):
            far = distances([column for column in rows.columns if column.name != name], target)
            nearest = np.flatnonzero(far <= far.min() + 1e-8)
            said = np.bincount(rows[name].published[nearest], minlength=len(rows[name].labels))
            one = votes[place]
            assert one.labels[target] == said.argmax() and one.counts[target] == said.max()
            assert one.rows[target] == len(nearest)
            rest = np.delete(said, said.argmax())
            assert one.next_counts[target] == rest.max()
            assert (one.next_labels[target] == -1) == (rest.max() == 0)


@pytest.mark.parametrize(
    ("said", "own", "left"),
    [
        ("aab", 1, "a"),
        ("aab", 2, "b"),
        ("a", 1, None),
        ("bba", 1, "a"),
        ("aaa", 1, "a"),
        ("aaa", 3, None),
        ("abcc", 1, "a"),
    ],
)
def test_votes_without_ones_own_rows(said, own, left) -> None:
    """The own rows say what most do; of labels that as many have, the first is said."""
    published = {"ward": ["y"] * 3 + ["x"] * len(said), "kind": [*"abc", *said]}
    asked = {"ward": ["x"], "kind": ["z"]}
    rows = coded_rows(published, asked, asked, ["ward"], ["kind"])
    votes = space_of(rows.columns, [column.raw for column in rows.columns]).votes(["kind"])[0]
    answer = int(votes.without(np.array([own]))[0])
    assert (None if answer == -1 else rows["kind"].labels[answer]) == left


def test_numbers_equally_far_are_equally_near() -> None:
    """3 and 7 are as far from 5, whatever share of the range a step is."""
    published = {"size": ["3", "7", "49", "0"], "kind": ["a", "b", "b", "a"]}
    asked = {"size": ["5", "0", "49"], "kind": ["z", "z", "z"]}
    rows = coded_rows(published, asked, asked, ["size"], ["kind"])
    votes = space_of(rows.columns, [column.raw for column in rows.columns]).votes(["kind"])[0]
    assert votes.rows.tolist() == [2, 1, 1]


def test_columns_that_the_attacker_does_not_know(rows) -> None:
    space = space_of(rows.columns, [column.raw for column in rows.columns], unknown=["wage"])
    chosen = space.nearest(1, np.random.default_rng(2))[:, 0]
    known = [column for column in rows.columns if column.name != "wage"]
    for target in range(ROWS):
        far = distances(known, target)
        assert far[chosen[target]] == pytest.approx(far.min(), abs=1e-8)


def test_the_nearest_rows_are_nearest(rows) -> None:
    space = space_of(rows.columns, [column.raw for column in rows.columns])
    chosen = space.nearest(3, np.random.default_rng(2))
    for target in range(ROWS):
        far = distances(rows.columns, target)
        assert np.allclose(np.sort(far)[:3], far[chosen[target]], atol=1e-8)
        assert len({*chosen[target].tolist()}) == 3


@pytest.mark.parametrize("names", [("age", "wage", "ward"), ("age", "ward"), ("ward",), ("wage",)])
@pytest.mark.parametrize("count", [1, 3])
def test_looking_by_a_column_finds_what_looking_at_all_rows_does(rows, names, count) -> None:
    """The same rows, in the same order: of those equally near the ones that chance puts first."""
    columns = [rows[name] for name in names]
    space = space_of(columns, [column.raw for column in columns])
    whole = space.nearest(count, np.random.default_rng(3), look=ROWS)
    for look in (0, 5):
        assert np.array_equal(space.nearest(count, np.random.default_rng(3), look=look), whole)
