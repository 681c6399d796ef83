"""Numbers that lie far out are published with others, however ordinary the rest is."""

import random

import polars as pl
import pytest

import sfumato as sf
from sfumato.microdata.rounding_suggestion import proposed_publication, published_counts

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
