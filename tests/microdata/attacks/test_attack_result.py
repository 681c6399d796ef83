"""Rates, intervals and risks against figures worked out by hand and formulas of the papers."""

import pytest

from sfumato.microdata.attacks.label_semantics import meaning_of
from sfumato.microdata.attacks.result import AttackResult, Rate, judged_together
from sfumato.microdata.sequential_releases import attack_histories, attack_rows, histories_of


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
