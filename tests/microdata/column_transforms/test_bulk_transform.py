"""Numbers published step by step are published as they are one by one."""

import random
from decimal import Decimal

import numpy as np
import pytest

from sfumato.microdata.publish_plan import PublishPlan, RoundingGrid, publish_once

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
