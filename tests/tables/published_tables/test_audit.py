"""Audits of published tables: texts as anyone writes them, judged by rules and by what can be computed."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.pipelines.tables.audit import audit
from sfumato.tables.attack.findings import DisclosureStatus
from sfumato.tables.published_tables.parse_cells import read_texts

NONE = np.nan


def test_review_of_masks_in_the_value_column(make_plan):
    frame = pytest.importorskip("pandas").DataFrame(
        {"Kreis": [0, 1, 1, 1, 2, 2], "Quartier": [0, 0, 1, 2, 0, 1], "Wert": ["19", "9", "1–3", "*", "10", "10"]}
    )
    review = audit(frame, make_plan())
    assert review.passed
    assert [(f.lower, f.upper) for f in review.findings] == [(1, 3), (6, 8)]
    leaky = frame.assign(Wert=["19", "9", "1–3", "7", "10", "10"])
    assert audit(leaky, make_plan()).counts() == {"checked": 1, "exact": 1, "too_narrow": 0, "inconsistent": 0}


def test_review_refuses_published_totals_that_do_not_add_up(make_plan):
    frame = pytest.importorskip("pandas").DataFrame(
        {"Kreis": [0, 1, 1, 1], "Quartier": [0, 0, 1, 2], "Wert": ["9", "8", "1–3", "*"]}
    )
    with pytest.raises(DataError, check=coded("data.totals")):
        audit(frame, make_plan())


def table(rows, columns=("Kreis", "Quartier", "Wert")):
    return pytest.importorskip("pandas").DataFrame(rows, columns=list(columns))


SHOWN = ("Kreis", "Quartier", "Wert", "Wert_published")
CLEAR = [(0, 0, 19, "19"), (1, 0, 9, "9"), (1, 1, 2, "2"), (1, 2, 7, "7"), (2, 0, 10, "10"), (2, 1, 10, "10")]


def test_unsafe_cells_in_the_clear_are_leaks(make_plan):
    review = audit(table(CLEAR, SHOWN), make_plan())
    assert not review.passed
    assert [(leak.name, leak.verdict, leak.published) for leak in review.leaks] == [("Quartier 1", "exact", True)]
    assert review.counts() == {"checked": 0, "exact": 1, "too_narrow": 0, "inconsistent": 0}
    without = audit(table([row[:2] + row[3:] for row in CLEAR]), make_plan())
    assert [leak.name for leak in without.leaks] == ["Quartier 1"]


def test_false_values_are_told(make_plan):
    rows = [(0, 0, 24, "25"), (1, 0, 11, "11"), (1, 1, 11, "11"), (2, 0, 13, "13"), (2, 1, 13, "13")]
    review = audit(table(rows, SHOWN), make_plan())
    assert review.contradictions == ("the grand total",)
    assert not review.passed


TEXTS = {
    "1,040": (1040, None),
    "1 040": (1040, None),
    "1'040.5": (1040.5, None),
    "-7": (-7, None),
    "2e3": (2000, None),
    "*": (None, (NONE, NONE)),
    "1-3": (None, (1, 3)),
    "1–3": (None, (1, 3)),
    "1—3": (None, (1, 3)),
    "11..13": (None, (11, 13)),
    "1 bis 3": (None, (1, 3)),
    "-30--20": (None, (-30, -20)),
    "<=3": (None, (NONE, 3)),
    "≤3": (None, (NONE, 3)),
    "<4": (None, (NONE, 3)),
    ">=4": (None, (4, NONE)),
    ">3": (None, (4, NONE)),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_read(text):
    exact, ranges = read_texts((text, "8"), "Wert")
    value, span = TEXTS[text]
    if span is None:
        assert exact[0] == value
    else:
        assert np.isnan(exact[0])
        assert np.array_equal((ranges.low[0], ranges.high[0]), span, equal_nan=True)


@pytest.mark.parametrize("text", ["", "about 3", "1,04", "3-1", "n/a?", "1_000", "nan", "~3"])
def test_other_texts_are_refused_without_showing_them(text):
    with pytest.raises(DataError) as caught:
        read_texts(("8", text), "Wert")
    assert (caught.value.code, caught.value.rows) == ("data.unreadable-cell", (2,))
    assert not text or f" {text} " not in str(caught.value)


def test_every_rule_is_judged_as_far_as_the_file_allows(make_plan):
    rows = [(0, 0, "19"), (1, 0, "9"), (1, 1, "*"), (1, 2, "7"), (2, 0, "10"), (2, 1, "10")]
    review = audit(table(rows), make_plan(primary=[{"rule": "frequency", "min": 3}]))
    assert [(leak.name, leak.lower) for leak in review.leaks] == [("Quartier 1", 2)]
    shown = [(*row[:2], "2" if row[:2] == (1, 1) else row[2]) for row in rows]
    exposed = audit(table(shown), make_plan(primary=[{"rule": "frequency", "min": 3}]))
    assert [leak.published for leak in exposed.leaks] == [True]
    missing = audit(table(rows), make_plan(primary=[{"rule": "status", "column": "mark"}]))
    assert missing.unjudged == ("status",)
    assert [leak.name for leak in missing.leaks] == ["Quartier 1"]


def test_masked_cells_that_can_only_be_small_must_keep_their_range(make_plan):
    rows = [(0, 0, "19"), (1, 0, "4"), (1, 1, "*"), (1, 2, "*"), (1, 3, "*"), (2, 0, "15"), (2, 1, "15")]
    review = audit(table(rows), make_plan())
    assert {leak.verdict for leak in review.leaks} == {DisclosureStatus.TOO_NARROW}
    assert [leak.upper for leak in review.leaks] == [2, 2, 2]


def test_cells_and_relations_are_audited_without_values(tmp_path):
    (tmp_path / "relations.csv").write_text("relation,cell_id,coef\nr,0,-1\nr,1,1\nr,2,1\n")
    plan = {"version": 1, "table": {"cells": "cells.csv", "relations": str(tmp_path / "relations.csv")}}
    frame = table([("0", "9"), ("1", "*"), ("2", "4")], ("id", "value_published"))
    review = audit(frame, plan)
    assert [(leak.name, leak.lower) for leak in review.leaks] == [("cell 1", 5)]


def test_published_totals_that_contradict_each_other_are_bad_data(make_plan):
    rows = [(0, 0, "19"), (1, 0, "9"), (1, 1, "*"), (1, 2, "*"), (2, 0, "*"), (2, 1, "11")]
    with pytest.raises(DataError) as caught:
        audit(table(rows), make_plan())
    assert caught.value.code == "data.contradiction"


def test_masked_zeros_of_others_are_held_possible(make_plan):
    rows = [(0, 0, "12"), (1, 0, "1"), (1, 1, "*"), (1, 2, "*"), (2, 0, "11"), (2, 1, "11")]
    review = audit(table(rows), make_plan())
    assert not review.contradictions
    assert [(finding.lower, finding.upper) for finding in review.findings] == [(0, 1), (0, 1)]


def test_cases_that_are_handed_out_are_used(make_plan):
    rows = [(0, 0, "25", ""), (1, 0, "5", ""), (1, 1, "*", "primary"), (1, 2, "*", "secondary"), (2, 0, "20", "")]
    columns = ("Kreis", "Quartier", "Wert_published", "Wert_case")
    review = audit(table([*rows, (2, 1, "20", "")], columns), make_plan())
    assert [(leak.name, leak.lower, leak.upper) for leak in review.leaks] == [
        ("Quartier 1", 1, 1),
        ("Quartier 2", 4, 4),
    ]


MASKED = [(0, 0, "74"), (1, 0, "23"), (1, 1, "*"), (1, 2, "*"), (2, 0, "51"), (2, 1, "51")]
BESIDE = {
    "share in %": ["100", "31.1", "4.1", "27.0", "68.9", "68.9"],
    "mean age": ["40", "41", "35", "42", "39", "39"],
    "thousands": ["0.074", "0.023", "0.003", "0.02", "0.051", "0.051"],
    "persons": ["74", "23", "3", "20", "51", "51"],
}


@pytest.mark.parametrize("name", BESIDE)
def test_columns_that_tell_masked_cells_are_not_passed_over(name, make_plan):
    frame = table(MASKED)
    assert audit(frame, make_plan()).passed
    review = audit(frame.assign(**{name: BESIDE[name]}), make_plan())
    assert not review.passed
    assert [one.name for one in review.unexplained] == [name]


@pytest.mark.parametrize(
    "more",
    [
        {"men": ["70", "31", "12", "19", "39", "39"], "all": ["144", "54", "15", "39", "90", "90"]},
        {"2021": ["70", "31", "12", "19", "39", "39"], "change": ["4", "-8", "-9", "1", "12", "12"]},
        {
            "boys": ["30", "11", "7", "4", "19", "19"],
            "girls": ["40", "20", "5", "15", "20", "20"],
            "all": ["144", "54", "15", "39", "90", "90"],
        },
    ],
    ids=["what is left of all", "a change and what it was", "what several leave of all"],
)
def test_columns_that_add_up_with_masked_cells_are_not_passed_over(more, make_plan):
    review = audit(table(MASKED).assign(**more), make_plan())
    assert not review.passed
    assert [one.name for one in review.unexplained] == [*more]
    assert all("adds up" in one.what for one in review.unexplained)
    name, own = next(iter(more.items()))
    masked = {name: ["*" if row in (2, 3) else text for row, text in enumerate(own)]}
    rest = audit(table(MASKED).assign(**(more | masked)), make_plan()).unexplained
    assert [(one.name, one.relation) for one in rest] == [(other, "") for other in more if other != name]


@pytest.mark.parametrize(
    "more",
    [
        {"share in %": ["100", "31.1", "*", "", "68.9", "68.9"]},
        {"size": ["small", "", "large", "small", "", ""], "note": ["", "a", "b", "", "", ""]},
        {"year": ["2021"] * 6},
    ],
)
def test_columns_that_tell_nothing_of_masked_cells_are(more, make_plan):
    assert audit(table(MASKED).assign(**more), make_plan()).passed
