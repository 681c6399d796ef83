"""Parts of attacks: coded rows, nearest rows, predicates, orders from seeds, and the result with its intervals."""

from collections.abc import Iterator
from itertools import product
from random import Random

import numpy as np
import pytest

from sfumato.microdata.attacks import inference as learned_inference
from sfumato.microdata.attacks.coded_rows import AttackColumn, AttackRows, CodedTexts, coded_rows
from sfumato.microdata.attacks.inference import Trees
from sfumato.microdata.attacks.label_semantics import meaning_of
from sfumato.microdata.attacks.linkage import NUMBERS, _kind, space_of
from sfumato.microdata.attacks.result import AttackResult, Rate, judged_together
from sfumato.microdata.attacks.row_order import by_python, by_r, shuffled
from sfumato.microdata.attacks.singling_out import AT_ONCE, Condition, PredicateCounts
from sfumato.microdata.keyed_random import row_hash
from sfumato.microdata.keyed_random import shuffled as by_row_order
from sfumato.microdata.sequential_releases import attack_histories, attack_rows, histories_of

# Neighbors are those that comparing each row with each, column by column, finds.

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


# Orders by a seed are those that the programs themselves draw, whole or the first places of them.


@pytest.mark.parametrize("number", [1, 2, 3, 16, 300, 70_000])
@pytest.mark.parametrize("seed", [0, 42, 20260101])
def test_python(number, seed) -> None:
    rows = list(range(number))
    Random(seed).shuffle(rows)
    assert by_python(seed, number).tolist() == rows


def words_of_r(seed: int) -> Iterator[int]:
    state, words = seed, []
    for _ in range(50 + 625):
        state = (69069 * state + 1) % 2**32
        words.append(state)
    twister = np.random.RandomState()
    twister.set_state(("MT19937", np.array(words[51:], np.uint32), 624, 0, 0.0))
    while True:
        yield from twister.randint(0, 2**32, 4096, np.uint32).tolist()


@pytest.mark.parametrize("number", [1, 2, 300, 70_000])
def test_r_draws_by_bits_until_one_fits(number) -> None:
    """Of more than 65,536 rows it takes two words for each."""
    words, left, order = words_of_r(42), list(range(number)), []
    while left:
        bits, at = (len(left) - 1).bit_length(), len(left)
        while at >= len(left):
            at = 0
            for _ in range(bits // 16 + 1):
                at = at << 16 | next(words) >> 16
            at &= (1 << bits) - 1
        order.append(left[at])
        left[at] = left[-1]
        left.pop()
    assert by_r(42, number).tolist() == order
    assert by_r(42, number, min(number, 9)).tolist() == order[:9]


@pytest.mark.parametrize("number", [1, 7, 8, 500])
def test_orders_begin_alike_where_the_first_places_are_asked_for(number) -> None:
    whole, begun = dict(shuffled(7, number)), dict(shuffled(7, number, first=5))
    assert [*whole] == [*begun]
    for name, order in whole.items():
        assert sorted(order.tolist()) == [*range(number)]
        assert order[:5].tolist() == begun[name][:5].tolist()


def test_the_orders_of_releases() -> None:
    orders, key = dict(shuffled(7, 501)), "seed 7:order:"
    assert orders["shuffled by the seed 7 (a hash for four rows)"].tolist() == by_row_order(range(1, 502), key).tolist()
    by_hash = sorted(range(501), key=lambda row: row_hash(row + 1, key))
    assert orders["shuffled by the seed 7 (a hash for each row)"].tolist() == by_hash


# Columns that hold each text once are read as lists of texts are.

TEXTS = ["b", None, "a", "b", "c", "a", None, "d"]


def test_rows_are_taken_joined_and_changed() -> None:
    column = CodedTexts.of(TEXTS)
    assert [*column] == TEXTS and column[3] == "b" and [*column[2:4]] == ["a", "b"]
    some = column.taken(np.array([5, 4, 0]))
    assert [*some] == ["a", "c", "b"]
    assert [*some.joined(CodedTexts.of(["z", "a"]))] == ["a", "c", "b", "z", "a"]
    assert [*column.mapped(lambda texts: [None if text == "a" else text for text in texts])] == [
        None if text == "a" else text for text in TEXTS
    ]


def test_different_texts_come_as_the_rows_do() -> None:
    """What is drawn by chance depends on it: the same rows give the same attacks, however they were read."""
    some = CodedTexts.of(TEXTS).taken(np.array([5, 4, 0, 5]))
    texts, codes = some.distinct
    assert texts == ("a", "c", "b") and codes.tolist() == [0, 1, 2, 0]


def test_trees_learn_from_some_of_very_many_rows(monkeypatch) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setattr(learned_inference, "MOST_ROWS", 100)
    columns = {"ward": ["x", "y"] * 200, "kind": ["a", "b"] * 200}
    rows = coded_rows(columns, columns, columns, ["ward"], ["kind"])
    said = Trees(rows["kind"], [rows["ward"]], 1).answers({"raw": np.arange(6, dtype=np.int32)})
    assert [rows["kind"].labels[code] for code in said["raw"]] == ["a", "b"] * 3


# Predicates hold for as many rows as looking at each row counts.

PREDICATE_ROWS = 60
LIMITS = {">=": np.greater_equal, "<=": np.less_equal}


@pytest.fixture
def predicate_rows() -> AttackRows:
    random = np.random.default_rng(1)

    def drawn() -> dict[str, list[str | None]]:
        return {
            "age": [str(number) for number in random.integers(0, 30, PREDICATE_ROWS)],
            "wage": [None if number < 3 else str(number) for number in random.integers(0, 20, PREDICATE_ROWS).tolist()],
            "ward": random.choice(["x", "y", None], PREDICATE_ROWS).tolist(),
        }

    published = drawn()
    published["ward"][::5] = ["*"] * (PREDICATE_ROWS // 5)
    return coded_rows(published, drawn(), drawn(), ["age"], ["wage"])


def holds(rows: AttackRows, one: Condition, which: str) -> np.ndarray:
    column = rows.columns[one.column]
    codes = getattr(column, which)
    if one.op != "=":
        numbers = column.numbers[int(which != "published")]
        return LIMITS[one.op](numbers[codes], column.numbers[int(one.guessed)][one.label])
    if which == "published" or one.guessed:
        return codes == one.label
    return column.covers[one.label, codes]


def drawn(rows: AttackRows, guessed: bool) -> list[tuple[Condition, ...]]:
    conditions = [
        [
            Condition(place, label, op, guessed)
            for label, op in product(range(0, len(column.values if guessed else column.labels), 4), ("=", ">=", "<="))
            if op == "=" or column.numbers is not None
        ]
        for place, column in enumerate(rows.columns)
    ]
    return [*((one,) for part in conditions for one in part), *product(*conditions)]


@pytest.mark.parametrize(
    ("which", "guessed"), [("published", False), ("raw", False), ("control", False), ("raw", True)]
)
def test_counts(predicate_rows, which, guessed) -> None:
    predicates = drawn(predicate_rows, guessed)
    assert len(predicates) > AT_ONCE, "counted in several parts"
    expected = [
        int(np.all([holds(predicate_rows, one, which) for one in predicate], axis=0).sum()) for predicate in predicates
    ]
    counts, told = PredicateCounts(predicate_rows.columns, which), []
    assert counts.of(predicates, PREDICATE_ROWS, lambda: told.append(1)).tolist() == expected
    assert counts.of(predicates, 2).tolist() == [min(number, 3) for number in expected]
    assert {0, 1, 2} <= {*expected} and len(told) == -(-len(predicates) // AT_ONCE)


def test_nothing_to_count(predicate_rows) -> None:
    assert PredicateCounts(predicate_rows.columns, "raw").of([], 1).tolist() == []


# Rates, intervals and risks against figures worked out by hand and formulas of the papers.


@pytest.mark.parametrize(
    ("successes", "attempts", "interval"),
    [(0, 10, (0.0, 0.2775)), (10, 10, (0.7225, 1.0)), (1, 4, (0.0456, 0.6994)), (50, 100, (0.4038, 0.5962))],
)
def test_wilson_intervals(successes, attempts, interval) -> None:
    assert Rate(successes, attempts).interval() == pytest.approx(interval, abs=1e-4)


def test_the_risk_is_what_the_control_leaves() -> None:
    attack = AttackResult("linking", "", Rate(60, 100), Rate(1, 100), Rate(20, 100))
    assert attack.risk == pytest.approx((0.6 - 0.2) / (1 - 0.2))
    assert attack.risk_interval[0] < attack.risk < attack.risk_interval[1]
    assert attack.judged(5).evidence


def test_no_better_than_the_baseline_is_no_evidence() -> None:
    attack = AttackResult("inference", "", Rate(800, 1000), Rate(800, 1000), Rate(500, 1000)).judged(1)
    assert not attack.evidence
    assert attack.verdict == "attack failed, no evidence"


def test_many_attacks_are_judged_more_strictly_together() -> None:
    close = AttackResult("x", "", Rate(57, 100), Rate(0, 100), Rate(28, 100))
    assert judged_together((close,))[0].evidence
    assert not judged_together((close,) * 200)[0].evidence


@pytest.mark.parametrize(
    ("label", "value", "covers"),
    [
        ("30-39", "39", True),
        ("30-39", "40", False),
        ("[30, 40)", "40", False),
        ("[30–40]", "40", True),
        (">89", "89", False),
        (">89", "90", True),
        ("72***", "72021", True),
        ("72***", "7202", False),
        ("{a, b}", "b", True),
        ("****", "x", True),
        ("a", "a", True),
        ("07", "7", False),
        (None, None, True),
        (None, "a", False),
    ],
)
def test_labels_stand_for_values(label, value, covers) -> None:
    assert bool(meaning_of([label], [value]).covers[0, 0]) is covers


def test_histories_that_nobody_shares() -> None:
    releases = [dict.fromkeys("abcdef", 1), {"a": 1, "b": 1, "c": 1, "d": 2, "e": 2}]
    histories = histories_of(releases)
    assert (histories.persons, histories.smallest) == (6, 1)
    attack = attack_histories(releases, 3).judged(1)
    assert attack.evidence and attack.certain == 3, "d and e moved, f went"
    assert not attack_histories(releases[:1] * 3, 3).judged(1).evidence


def test_a_row_that_came_is_seen() -> None:
    from collections import Counter

    first = {("f",): Counter(flu=4, cold=2), ("m",): Counter(flu=6)}
    second = {("f",): Counter(flu=4, cold=2), ("m",): Counter(flu=6, hiv=1)}
    assert attack_rows(first, second, 5).certain == 1
    assert attack_rows(first, first, 5).certain == 0
    other = {("f",): Counter(flu=9, cold=8), ("m",): Counter(hiv=7)}
    assert attack_rows(first, other, 5).certain == 0, "other persons altogether"


def test_somebody_alone_in_several_classes_is_one_person() -> None:
    outcome = attack_histories([{"a": (("x",), ("y",), ("z",))}], 2)
    assert outcome.details["persons"] == outcome.details["below_k"] == 1


# What an attacker reads from labels: ranges of numbers and of dates stand for what lies between their ends.


@pytest.mark.parametrize(
    ("label", "inside", "outside"),
    [
        ("[10–20]", "20", "21"),
        ("[-10–4.5]", "-3", "4.6"),
        ("[1950-01-01–1959-12-31]", "1959-12-31", "1960-01-01"),
        ("[01.01.1950–31.12.1959]", "31.12.1959", "01.01.1960"),
        ("[1950-01-01–1959-12-31]", "05.06.1950", "05.06.1960"),
    ],
)
def test_ranges_of_classes_are_understood(label, inside, outside):
    assert meaning_of([label], [inside, outside]).covers.tolist() == [[True, False]]
