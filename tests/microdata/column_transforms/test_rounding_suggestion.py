"""Proposed steps leave something to read: numbers are rounded for the rows' sake, never until nothing is left."""

import random

import pytest

from sfumato.microdata.rounding_suggestion import proposed_publication, published_counts


def counted(numbers):
    return {text: numbers.count(text) for text in dict.fromkeys(numbers)}


def scores(rows):
    draw = random.Random(rows)
    return counted([str(round(min(max(draw.gauss(100, 11), 78), 123))) for _ in range(rows)])


def incomes(rows):
    draw = random.Random(rows)
    return counted([f"{draw.uniform(1000, 5000):.2f}" for _ in range(rows)])


@pytest.mark.parametrize("rows", [60, 90, 200, 600, 3000])
@pytest.mark.parametrize(("numbers", "largest"), [(scores, 10), (incomes, 500)])
def test_a_step_leaves_a_useful_number_of_values(numbers, largest, rows):
    counts = numbers(rows)
    for most in (None, 8):
        plan = proposed_publication(counts, 5, most)
        if plan is None:
            continue
        assert plan.round is None or plan.round <= largest
        assert len(published_counts(plan, counts)) >= 6


@pytest.mark.parametrize("numbers", [scores, incomes])
@pytest.mark.parametrize("rows", [60, 200])
def test_beyond_the_limits_lie_at_least_k_rows(numbers, rows):
    counts = numbers(rows)
    published = published_counts(proposed_publication(counts, 5, 8), counts)
    tails = [size for label, size in published.items() if label[0] in "<>"]
    assert tails and min(tails) >= 5


def test_numbers_beside_many_zeros_are_rounded_by_their_own_spread():
    draw = random.Random(4)
    counts = {"0": 900} | dict.fromkeys({str(draw.randrange(1000, 90_000)) for _ in range(100)}, 1)
    plan = proposed_publication(counts, 5)
    assert plan.round >= 1000
    assert len(published_counts(plan, counts)) >= 6


def test_counts_of_a_few_are_not_rounded():
    plan = proposed_publication({"0": 300, "1": 260, "2": 30, "3": 4, "4": 3, "5": 2, "6": 1, "19": 1}, 5)
    assert plan is None or plan.round in (None, 1)
