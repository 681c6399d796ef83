"""Rounding, coding and binning of columns: at once as one by one, and suggested."""

import random
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.microdata.publish_plan import PublishPlan, RoundingGrid, publish_once
from sfumato.microdata.rounding_suggestion import proposed_publication, published_counts

# Numbers published step by step are published as they are one by one.

PLANS = [
    PublishPlan(round=0.1),
    PublishPlan(round=0.25),
    PublishPlan(round=5, top=80, bottom=-70),
    PublishPlan(round=25, top=68.5, bottom=-30),
    PublishPlan(bin=0.3),
    PublishPlan(top=10),
    PublishPlan(bottom=-3, top=3),
]


def one_by_one(plan: PublishPlan, text: str) -> str:
    number = Decimal(text)
    return next((label for one in plan.operations() if (label := one.publish(number)) is not None), text)


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_halves_and_ends_fall_as_they_do_one_by_one(plan):
    draw = random.Random(3)
    halves = [f"{draw.randrange(-2000, 2000) / 20:.2f}".rstrip("0").rstrip(".") for _ in range(400)]
    forms = [form for form in dict.fromkeys(halves) if form != "-0"]
    assert plan.publish(forms) == [one_by_one(plan, form) for form in forms]


def test_no_number_is_rounded_beyond_a_limit():
    forms = ["118", "119", "-118", "-119", "113", "60"]
    shown = PublishPlan(round=25, top=118.5, bottom=-118.5).publish(forms)
    assert shown == ["100", ">118.5", "-100", "<-118.5", "100", "50"]
    assert PublishPlan(round=25, bottom=110).publish(["111", "109"]) == ["125", "<110"]
    assert PublishPlan(round=25, bottom=110, top=118).publish(["111", "115"]) == ["100", "125"]


def test_each_step_is_published_once():
    """A number of a step stands for all others: halves fall by whole numbers, not by binary fractions."""
    plan, asked = PublishPlan(round=0.1, top=30), []
    forms = [f"{number / 100:g}" for number in range(5000)]
    grid = RoundingGrid(top=Decimal(30), rounded=Decimal("0.1"))
    steps = grid.steps(forms, np.array([*map(float, forms)]))
    labels = publish_once(forms, steps, lambda form: asked.append(form) or one_by_one(plan, form))
    assert labels == [one_by_one(plan, form) for form in forms]
    assert len(asked) == len({*labels})


def test_long_numbers_have_no_whole_steps():
    assert RoundingGrid(rounded=Decimal("0.000001")).steps(["12345678901"], np.array([12345678901.0])) is None
    assert PublishPlan(round=0.000001).publish(["12345678901", "12345678901.5"]) == ["12345678901", "12345678901.5"]


def test_numbers_that_are_one_binary_fraction_stay_apart():
    forms = ["9007199254740992", "9007199254740993", "9007199254740995"]
    assert PublishPlan(top=9007199254740992).publish(forms)[0] == forms[0]
    assert PublishPlan(round=2).publish(forms) == ["9007199254740992", "9007199254740994", "9007199254740996"]


def test_what_is_no_number_is_none_of_the_others():
    assert PublishPlan(round=10).publish(["12", "many", "18"]) == ["10", None, "20"]


# Numbers that lie far out are published with others, however ordinary the rest is.

INCOMES = {str(1000 * thousands): 40 for thousands in range(20, 60)}


@pytest.mark.parametrize("outlier", ["9450000", "-80000", "61000"])
def test_a_single_outlier_is_published_with_k_others(outlier):
    plan = proposed_publication(INCOMES | {outlier: 1}, 5)
    assert plan is not None
    published = published_counts(plan, INCOMES | {outlier: 1})
    assert outlier not in published and min(published.values()) >= 5


def test_numbers_that_many_have_stay():
    assert proposed_publication(INCOMES, 5) is None


def test_a_step_of_a_scale_is_no_outlier():
    assert proposed_publication({"0": 300, "1": 200, "2": 60, "3": 2}, 5) is None


def test_it_is_proposed_and_released():
    draw = random.Random(2)
    frame = pl.DataFrame(
        {
            "age": [str(draw.randrange(18, 80)) for _ in range(500)],
            "income": [str(1000 * draw.randrange(20, 60)) for _ in range(499)] + ["9450000"],
        }
    )
    release = sf.anonymize(frame, sf.suggest(frame))
    assert not any(text == "9450000" for text in release.data["income"].cast(pl.String))


# Proposed steps leave something to read: numbers are rounded for the rows' sake, never until nothing is left.


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
