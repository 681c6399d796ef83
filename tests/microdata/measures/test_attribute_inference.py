"""Columns that give a quasi-identifier away are found by guesses, and others are not."""

import random
from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.microdata.measures.inference import correct_guesses
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.suggest import suggest_for_frame
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.report import html, text

ROWS = 600


def pupils(noise: float = 0.03) -> pl.DataFrame:
    chance = random.Random(4)
    years = [chance.randrange(2000, 2013) for _ in range(ROWS)]
    grades = [2018 - year + (chance.random() < noise) for year in years]
    sexes = [chance.choice("mf") for _ in range(ROWS)]
    return pl.DataFrame(
        {"birth_year": years, "sex": sexes, "grade": grades, "score": [chance.randrange(40) for _ in years]}
    )


def plan(grade="sensitive"):
    years = {"type": "intervals", "start": 2000, "end": 2015, "widths": [4, 8]}
    return {
        "version": 1,
        "columns": {
            "birth_year": {"role": "quasi-identifier", "type": "integer", "hierarchy": years},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "grade": {"role": grade},
            "score": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 60}],
    }


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_a_column_that_undoes_a_generalization_is_said_loudly(role):
    report = anonymize(pupils(), plan(role)).report
    (tell,) = report.disclosure.inference_risks
    assert (tell.column, tell.quasi_identifier, tell.level) == ("grade", "birth_year", 0)
    assert tell.guessed_with_column > 0.9 and tell.guessed_by_label < 0.4
    assert "grade nearly determines birth_year" in text(report)
    assert "grade nearly determines birth_year" in html(ReportData(report))


def test_rows_unique_by_a_class_and_a_column_are_counted():
    published = anonymize(pupils(), plan()).data
    rows = Counter(published.select("birth_year", "sex", "score").rows())
    report = anonymize(pupils(), plan()).report
    assert report.disclosure.unique_in_classes["score"] == sum(count == 1 for count in rows.values())


def test_a_column_that_says_nothing_new_tells_nothing():
    frame = pupils().with_columns(grade=pl.Series([str(place) for place in range(ROWS)]))
    assert anonymize(frame, plan()).report.disclosure.inference_risks == ()
    assert anonymize(pupils(noise=1.0).with_columns(grade=pl.lit("x")), plan()).report.disclosure.inference_risks == ()


def test_where_the_quasi_identifier_is_published_as_finely_nothing_is_told():
    fine = plan() | {"privacy": [{"model": "k-anonymity", "k": 2}], "method": {"name": "optimal"}}
    report = anonymize(pupils(noise=0), fine).report
    assert report.levels["birth_year"] == 0 and report.disclosure.inference_risks == ()


def test_a_proposed_plan_does_not_publish_it_plainly():
    proposal = suggest_for_frame(pupils())
    assert proposal.plan["columns"]["grade"]["role"] == "quasi-identifier"
    assert 'nearly determines "birth_year"' in proposal.reasons["grade"]
    assert anonymize(pupils(), proposal.plan).report.disclosure.inference_risks == ()


def test_what_the_law_protects_is_withheld_rather():
    frame = pupils().rename({"grade": "diagnosis"})
    proposal = suggest_for_frame(frame)
    assert proposal.plan["columns"]["diagnosis"]["role"] == "identifier"
    assert proposal.reasons["diagnosis"].startswith("decide yourself")


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=20))
def test_right_guesses_are_those_of_the_other_rows(pairs):
    members = defaultdict(list)
    for group, value in pairs:
        members[group].append(value)
    right = 0.0
    for values in members.values():
        for place, value in enumerate(values):
            others = Counter(values[:place] + values[place + 1 :])
            best = [other for other, rows in others.items() if rows == max(others.values())]
            right += 1.0 if best == [value] else 0.5 if value in best else 0.0
    groups, values = (np.array(part, np.int64) for part in zip(*pairs, strict=True))
    assert correct_guesses(groups, values, np.ones(len(pairs), np.int64)) == pytest.approx(right / len(pairs))


def bodies(count: int = 400) -> pl.DataFrame:
    chance = random.Random(5)
    heights = [chance.randrange(150, 200) for _ in range(count)]
    weights = [chance.randrange(45, 130) for _ in range(count)]
    return pl.DataFrame(
        {
            "height": heights,
            "weight": weights,
            "bmi": [round(weight / (height / 100) ** 2, 1) for height, weight in zip(heights, weights, strict=True)],
            "sugar": [weight + chance.randrange(60) for weight in weights],
        }
    )


def body_plan(role: str = "sensitive") -> dict[str, object]:
    ranges = {"type": "intervals", "start": 0, "end": 240, "widths": [20, 60]}
    quasi = {"role": "quasi-identifier", "type": "integer", "hierarchy": ranges}
    columns = {"height": quasi, "weight": quasi, "bmi": {"role": role}, "sugar": {"role": "sensitive"}}
    return {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_a_column_computed_from_two_others_is_said_loudly(role):
    report = anonymize(bodies(), body_plan(role)).report
    (tell,) = report.disclosure.pair_inferences
    assert (tell.column, tell.quasi_identifiers) == ("bmi", ("height", "weight")) and tell.share > 0.98
    assert "INFERENCE     bmi can be inferred from height and weight" in text(report)


@pytest.mark.parametrize("publish", [None, {"round": 2}])
def test_two_private_columns_that_tell_a_quasi_identifier_are_said_as_loudly(publish):
    """Weight and body mass index, published beside classes of heights, tell the height."""
    plan = body_plan()
    published = {} if publish is None else {"publish": publish}
    plan["columns"] |= {name: {"role": "sensitive"} | published for name in ("weight", "bmi")}
    report = anonymize(bodies(), plan).report
    (tell,) = report.disclosure.pair_inferences
    assert (tell.column, tell.quasi_identifiers) == ("bmi", ("height", "weight")) and tell.share > 0.98
    assert "INFERENCE     bmi can be inferred from height and weight" in text(report)


def test_what_is_computed_from_two_quasi_identifiers_is_one_itself_or_withheld():
    suggestion = suggest_for_frame(bodies().rename({"bmi": "diagnosis_score"}))
    assert suggestion.plan["columns"]["diagnosis_score"]["role"] in ("quasi-identifier", "identifier")
    assert 'computed from "height" and "weight"' in suggestion.reasons["diagnosis_score"]


def test_categories_that_two_columns_decide_are_seen():
    chance = random.Random(6)
    sexes, years = ([chance.choice(pool) for _ in range(500)] for pool in ("mf", ["1960", "1970", "1980"]))
    groups = [f"g{(sex == 'm') ^ (year == '1970')}" for sex, year in zip(sexes, years, strict=True)]
    any_ = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    columns = {"sex": any_, "year": any_, "group": {"role": "insensitive"}}
    asked = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 3}]}
    report = anonymize(pl.DataFrame({"sex": sexes, "year": years, "group": groups}), asked).report
    assert [tell.column for tell in report.disclosure.pair_inferences] == ["group"]
