"""What a notebook shows, and what the library says to who works in one."""

import re

import pandas as pd
import pytest

import sfumato as sf
from refusals import coded, refused

FRAME = pd.DataFrame({"age": [str(20 + row % 10) for row in range(40)], "sex": ["m", "f"] * 20})
PLAN = sf.Plan(sf.KAnonymity(3), method=sf.Optimal(suppression=0.05), other="insensitive").quasi(
    "sex", age=sf.intervals(5, 10)
)


@pytest.fixture(scope="module")
def release():
    return sf.anonymize(FRAME, PLAN)


@pytest.mark.parametrize(
    "shown",
    [
        lambda: sf.compare(FRAME, PLAN, methods=["optimal"], k=[2, 3]),
        lambda: sf.protect(
            pd.DataFrame({"town": ["a", "b", "c", "Total"], "value": [1, 20, 30, 51]}),
            dimensions={"town": {"column": "town", "total": "Total"}},
            primary=[{"rule": "frequency", "min": 3}],
        ),
    ],
)
def test_a_page_within_a_notebook_leaves_the_style_of_the_notebook_alone(shown):
    html = shown()._repr_html_()
    assert not re.search("<!doctype|<html|<head|<body|<main|<title", html)
    (style,) = re.findall("<style>(.*?)</style>", html, re.DOTALL)
    assert style.startswith(".sfumato-part {")
    assert style.rstrip().endswith("}")
    depth = 0
    for place, sign in enumerate(style):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth or place in (len(style.rstrip()) - 1, *range(len(".sfumato-part "))), "a rule outside of the part"
    assert not re.search(r":root|@page|\bbody\s*\{|\bmain\s*\{", style)


def test_a_release_is_verified_as_it_would_be_handed_out(release):
    verdict = sf.verify(release)
    assert verdict.satisfied
    assert verdict.rows == len(release.data)
    assert not sf.verify(release, k=1_000).satisfied
    html = verdict._repr_html_()
    assert "k-anonymity" in html
    assert "<style" not in html


def test_a_dataset_is_one_line_and_a_few_rows():
    dataset = sf.datasets.census(1_000)
    assert repr(dataset).startswith("Dataset(census; 1,000 rows; ")
    assert len(repr(dataset)) < 300
    assert dataset._repr_html_().count("<tr>") == 6
    assert "Callable" not in dir(sf.datasets)
    assert "census" in dir(sf.datasets)


def test_an_engine_that_there_is_not_is_refused():
    with pytest.raises(sf.PlanError, check=refused("error.plan.engine.unknown_engine", name="polars")):
        sf.anonymize(FRAME, PLAN, engine="polars")


def test_a_transformer_that_is_not_fitted_says_so():
    pytest.importorskip("sklearn")
    with pytest.raises(sf.PlanError, check=coded("plan.not-fitted")):
        sf.Anonymizer(PLAN).transform(FRAME)


def test_who_draws_no_trade_off_hears_who_does():
    with pytest.raises(sf.PlanError, check=coded("plan.plot.there_is_no_trade_off")):
        sf.anonymize(FRAME, PLAN.by(sf.Local())).plot.tradeoff()


@pytest.mark.parametrize(("codes", "words"), [((1067, 53113), "several lengths"), ((1067, 1109), "of 4 digits")])
def test_first_digits_of_codes_that_lost_their_zeros_are_not_published(codes, words):
    people = pd.DataFrame({"age": range(20, 60), "plz": [codes[row % 2] + row // 2 % 5 for row in range(40)]})
    plan = sf.suggest(people)
    assert plan.columns["plz"].hierarchy == sf.suppress_all()
    assert words in plan.reasons["plz"]
    assert 'dtype={"plz": str}' in plan.reasons["plz"]
    assert any(note.code == "note.lost_zeros" for note in plan.notes)
    assert (
        sf.suggest(people.assign(plz=people["plz"].map("{:05}".format))).columns["plz"].hierarchy != sf.suppress_all()
    )


def test_reasons_are_whole_where_there_is_room():
    people = pd.DataFrame({"age": range(20, 60), "plz": [1067 + row % 5 for row in range(40)]})
    plan = sf.suggest(people)
    assert plan.reasons["plz"].split(": ")[-1] in plan._repr_html_()
    assert "whole in plan.reasons" in str(plan)


def test_a_step_that_takes_another_back_is_noted():
    assert "was identifier by an earlier step" in str(sf.Plan(sf.KAnonymity(2)).identifiers("a").quasi("a"))
    assert not sf.suggest(FRAME).identifiers("age").notes
