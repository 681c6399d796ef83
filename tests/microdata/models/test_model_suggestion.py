"""Promises that are proposed: only what says that something is not there may fill a class."""

import random

import polars as pl
import pytest

import sfumato as sf
from sfumato.hierarchies.spellings import is_negative
from sfumato.pipelines.plan_suggestion.plan_draft import proposed_promise


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "Nein",
        "none",
        "keine",
        "0",
        "0.0",
        "false",
        "Negative",
        "HIV-negativ",
        "gesund",
        "no disease",
        "not detected",
    ],
)
def test_negatives(text):
    assert is_negative(text)


@pytest.mark.parametrize("text", ["yes", "positive", "1", "HIV", "normalized", "November", "Nonne", "nodule", "10", ""])
def test_others_are_none(text):
    assert not is_negative(text)


def test_a_frequent_value_is_exempt_only_where_it_is_a_negative():
    exempt = proposed_promise("x", {"negative": 850, "positive": 150}, 0, 5)
    assert exempt is not None and (exempt["model"], exempt["values"]) == ("alpha-k-anonymity", ["positive"])
    delicate = proposed_promise("x", {"positive": 850, "negative": 150}, 0, 5)
    assert delicate is not None and (delicate["model"], delicate["l"]) == ("l-diversity", 2)


@pytest.mark.parametrize(
    ("counts", "model"),
    [
        ({"0": 850, "1": 150}, "alpha-k-anonymity"),
        ({"0": 850, "1.0": 150}, "alpha-k-anonymity"),
        ({"0": 700, "1": 100, "2": 100, "3": 100}, "l-diversity"),
        ({"0": 700} | {str(amount): 10 for amount in range(100, 130)}, "alpha-k-anonymity"),
        ({"0": 700, "flu": 200, "asthma": 100}, "alpha-k-anonymity"),
    ],
)
def test_a_zero_is_a_negative_beside_one_or_many_numbers_alone(counts, model):
    promise = proposed_promise("x", counts, 0, 5)
    assert promise is not None and promise["model"] == model


def test_spellings_are_taken_together():
    promise = proposed_promise("x", {"HIV": 500, "hiv": 290, "H.I.V.": 200, "flu": 6, "Flu": 4}, 0, 5)
    assert promise is not None and (promise["model"], promise["values"]) == ("alpha-k-anonymity", ["Flu", "flu"])


def test_a_missing_value_harms_nobody():
    promise = proposed_promise("x", {"cancer": 20, "flu": 10}, 70, 5)
    assert promise is not None and promise["values"] == ["cancer", "flu"]


def test_no_class_of_a_proposed_release_is_all_positive():
    draw = random.Random(4)
    frame = pl.DataFrame(
        {
            "age": [str(draw.randrange(18, 80)) for _ in range(600)],
            "hiv_status": ["positive" if draw.random() < 0.85 else "negative" for _ in range(600)],
        }
    )
    release = sf.anonymize(frame, sf.suggest(frame))
    least = release.data.group_by("age").agg(pl.col("hiv_status").n_unique())["hiv_status"].min()
    assert least == 2


def test_of_what_nearly_everybody_has_the_rare_values_are_limited():
    draw = random.Random(4)
    frame = pl.DataFrame(
        {
            "age": [str(draw.randrange(18, 80)) for _ in range(300)],
            "cancer": ["yes" if draw.random() < 0.98 else "no" for _ in range(300)],
        }
    )
    plan = sf.suggest(frame)
    assert plan.columns["cancer"].role == "sensitive"
    assert [(model.alpha, model.values) for model in plan.privacy if model.column == "cancer"] == [(0.8, ("no",))]
