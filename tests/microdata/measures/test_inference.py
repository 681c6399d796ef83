"""Attribute disclosure, and published columns that predict a quasi-identifier."""

import random
from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.microdata.measures.inference import correct_guesses
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_stages import disclosure as pipeline
from sfumato.pipelines.suggest import suggest_for_frame
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.report import html, text

# Columns that give a quasi-identifier away are found by guesses, and others are not.

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
    assert proposal.plan["columns"]["grade"]["role"] == "undecided"
    assert '"birth_year" could be inferred' in proposal.reasons["grade"]
    assert anonymize(pupils(), proposal.plan).report.disclosure.inference_risks == ()


def test_what_the_law_protects_is_withheld_rather():
    frame = pupils().rename({"grade": "diagnosis"})
    proposal = suggest_for_frame(frame)
    assert proposal.plan["columns"]["diagnosis"]["role"] == "undecided"
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


def test_what_is_computed_from_two_quasi_identifiers_awaits_a_decision():
    suggestion = suggest_for_frame(bodies().rename({"bmi": "diagnosis_score"}))
    assert suggestion.plan["columns"]["diagnosis_score"]["role"] == "undecided"
    assert '"height", "weight" could be inferred' in suggestion.reasons["diagnosis_score"]


def test_categories_that_two_columns_decide_are_seen():
    chance = random.Random(6)
    sexes, years = ([chance.choice(pool) for _ in range(500)] for pool in ("mf", ["1960", "1970", "1980"]))
    groups = [f"g{(sex == 'm') ^ (year == '1970')}" for sex, year in zip(sexes, years, strict=True)]
    any_ = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    columns = {"sex": any_, "year": any_, "group": {"role": "insensitive"}}
    asked = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 3}]}
    report = anonymize(pl.DataFrame({"sex": sexes, "year": years, "group": groups}), asked).report
    assert [tell.column for tell in report.disclosure.pair_inferences] == ["group"]


# Attribute disclosure: measured of every release, promised or not, against figures counted by hand.

QI = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def disclosure_plan(privacy=(), **more):
    columns = {"q": QI, "illness": {"role": "sensitive"}, "pay": {"role": "sensitive"}, "note": {"role": "insensitive"}}
    return {
        "version": 1,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}, *privacy],
        "output": {"order": "keep"},
    } | more


DISCLOSURE_ROWS = pl.DataFrame(
    {
        "q": ["a", "a", "b", "b", "b", "c"],
        "illness": ["flu", "flu", "flu", "hiv", None, "hiv"],
        "pay": ["1", "2", "3", "3", "5", "5"],
        "note": ["x", "x", "y", "y", "z", ""],
    }
)


def test_classes_of_one_value_are_counted_without_any_promise() -> None:
    report = anonymize(DISCLOSURE_ROWS[:5], disclosure_plan()).report
    illness, pay = report.disclosure.sensitive["illness"], report.disclosure.sensitive["pay"]
    assert (illness.classes, illness.homogeneous_classes, illness.homogeneous_rows, illness.l) == (2, 1, 2, 1)
    # Of the five published rows three have flu; all of class a have.
    assert illness.t == pytest.approx(0.4)
    assert (pay.homogeneous_classes, pay.homogeneous_rows, pay.l) == (0, 0, 2)
    assert report.to_dict()["disclosure"]["sensitive"]["illness"]["homogeneous_rows"] == 2
    assert "illness: in 1 of 2 classes all rows share one value (2 rows)" in text(report)


def test_rows_that_are_unique_by_other_columns_are_counted_alone_and_by_twos() -> None:
    report = anonymize(DISCLOSURE_ROWS[:5], disclosure_plan()).report
    rows = {entry.columns: entry.rows for entry in report.disclosure.unique_rows}
    # A missing illness is not known of anybody.
    assert rows[("illness",)] == 1
    assert (rows[("pay",)], rows[("note",)]) == (3, 1)
    assert (rows[("illness", "pay")], rows[("pay", "note")], rows[("illness", "note")]) == (4, 3, 2)
    assert report.disclosure.most_telling.columns == ("illness", "pay")
    assert "illness + pay: 4 rows (80.0 %) are unique" in text(report)


def test_star_rows_are_no_class_and_their_veil_is_no_value() -> None:
    star = {"output": {"suppressed": "star", "order": "keep"}, "method": {"name": "optimal", "suppression": 0.3}}
    report = anonymize(
        DISCLOSURE_ROWS,
        disclosure_plan([{"model": "l-diversity", "l": 1, "column": "illness"}], **star),
    ).report
    assert report.suppressed_rows == 1
    assert report.disclosure.sensitive["illness"].classes == 2


def test_what_would_take_too_long_is_left_out_and_said(monkeypatch) -> None:
    monkeypatch.setattr(pipeline, "MOST_WORK", 5)
    report = anonymize(DISCLOSURE_ROWS[:5], disclosure_plan()).report
    assert list(report.disclosure.sensitive) == ["illness"]
    assert len(report.disclosure.unmeasured) == 3


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from(["", "u", "v", "w"])] * 3), min_size=4, max_size=14))
def test_figures_are_those_of_the_rows(rows) -> None:
    frame = pl.DataFrame({"q": ["a", "b"] * (len(rows) // 2) + ["a"] * (len(rows) % 2)}).with_columns(
        **{name: pl.Series([row[place] for row in rows]) for place, name in enumerate(("illness", "pay", "note"))}
    )
    release = anonymize(frame, disclosure_plan())
    published = release.data.rows(named=True)
    for name, figures in release.report.disclosure.sensitive.items():
        classes: dict = {}
        for row in published:
            classes.setdefault(row["q"], []).append(row[name] or None)
        contents = [(values, {*values}) for values in classes.values()]
        alone = [values for values, told in contents if len(told) == 1 and None not in told]
        blank = [values for values, told in contents if told == {None}]
        part = [values for values, told in contents if len(told) == 2 and None in told]
        assert (figures.homogeneous_classes, figures.homogeneous_rows) == (len(alone), sum(map(len, alone)))
        assert (figures.blank_classes, figures.blank_rows) == (len(blank), sum(map(len, blank)))
        assert (figures.part_blank_classes, figures.part_blank_rows) == (len(part), sum(map(len, part)))
        assert figures.l == min(len({*values} - {None}) for values in classes.values())
    counted = {entry.columns: entry.rows for entry in release.report.disclosure.unique_rows}
    for width in (1, 2):
        for names in combinations(("illness", "pay", "note"), width):
            keys = Counter(tuple(row[name] for name in names) for row in published)
            assert counted[names] == sum(count == 1 and all(key) for key, count in keys.items())


def test_a_missing_value_is_none_and_spellings_are_said() -> None:
    frame = pl.DataFrame({"q": ["a"] * 3 + ["b"] * 3, "pay": ["1"] * 6, "note": ["x"] * 6})
    rows = frame.with_columns(illness=pl.Series(["no", "No ", "N", "yes", None, None]))
    report = anonymize(rows, disclosure_plan()).report
    illness = report.disclosure.sensitive["illness"]
    assert (illness.l, illness.part_blank_classes, illness.part_blank_rows) == (1, 1, 3)
    assert (illness.spellings, illness.l_without_spelling_variants) == (2, 1)
    assert "illness: 2 of its values are probably other spellings of the same value" in text(report)
    assert report.disclosure.sensitive["pay"].l_without_spelling_variants is None


def test_each_sentence_about_classes_is_true_of_their_blanks() -> None:
    """One class all blank, one of blanks and a code, one of a code alone: three sentences, and no other is diverse."""
    rows = pl.DataFrame({"q": ["a"] * 3 + ["b"] * 4 + ["c"] * 2, "pay": ["1"] * 9, "note": ["x"] * 9})
    report = anonymize(
        rows.with_columns(illness=pl.Series([None] * 3 + [None, "50", "50", None] + ["50"] * 2)),
        disclosure_plan(),
    ).report
    told = text(report)
    assert "illness: in 1 of 3 classes all rows share one value (2 rows)." in told
    assert "illness: in 1 of 3 classes all rows are blank (3 rows)" in told
    assert "illness: in 1 of 3 classes some rows are blank and all others share one value (4 rows" in told
    assert "In no class do all rows" not in told
