"""Attribute disclosure: measured of every release, promised or not, against figures counted by hand."""

from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_stages import disclosure as pipeline
from sfumato.report.release.report import text

QI = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def plan(privacy=(), **more):
    columns = {"q": QI, "illness": {"role": "sensitive"}, "pay": {"role": "sensitive"}, "note": {"role": "insensitive"}}
    return {
        "version": 1,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}, *privacy],
        "output": {"order": "keep"},
    } | more


ROWS = pl.DataFrame(
    {
        "q": ["a", "a", "b", "b", "b", "c"],
        "illness": ["flu", "flu", "flu", "hiv", None, "hiv"],
        "pay": ["1", "2", "3", "3", "5", "5"],
        "note": ["x", "x", "y", "y", "z", ""],
    }
)


def test_classes_of_one_value_are_counted_without_any_promise() -> None:
    report = anonymize(ROWS[:5], plan()).report
    illness, pay = report.disclosure.sensitive["illness"], report.disclosure.sensitive["pay"]
    assert (illness.classes, illness.homogeneous_classes, illness.homogeneous_rows, illness.l) == (2, 1, 2, 1)
    # Of the five published rows three have flu; all of class a have.
    assert illness.t == pytest.approx(0.4)
    assert (pay.homogeneous_classes, pay.homogeneous_rows, pay.l) == (0, 0, 2)
    assert report.to_dict()["disclosure"]["sensitive"]["illness"]["homogeneous_rows"] == 2
    assert "illness: in 1 of 2 classes all rows share one value (2 rows)" in text(report)


def test_rows_that_are_unique_by_other_columns_are_counted_alone_and_by_twos() -> None:
    report = anonymize(ROWS[:5], plan()).report
    rows = {entry.columns: entry.rows for entry in report.disclosure.unique_rows}
    # A missing illness is not known of anybody.
    assert rows[("illness",)] == 1
    assert (rows[("pay",)], rows[("note",)]) == (3, 1)
    assert (rows[("illness", "pay")], rows[("pay", "note")], rows[("illness", "note")]) == (4, 3, 2)
    assert report.disclosure.most_telling.columns == ("illness", "pay")
    assert "illness + pay: 4 rows (80.0 %) are unique" in text(report)


def test_star_rows_are_no_class_and_their_veil_is_no_value() -> None:
    star = {"output": {"suppressed": "star", "order": "keep"}, "method": {"name": "optimal", "suppression": 0.3}}
    report = anonymize(ROWS, plan([{"model": "l-diversity", "l": 1, "column": "illness"}], **star)).report
    assert report.suppressed_rows == 1
    assert report.disclosure.sensitive["illness"].classes == 2


def test_what_would_take_too_long_is_left_out_and_said(monkeypatch) -> None:
    monkeypatch.setattr(pipeline, "MOST_WORK", 5)
    report = anonymize(ROWS[:5], plan()).report
    assert list(report.disclosure.sensitive) == ["illness"]
    assert len(report.disclosure.unmeasured) == 3


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from(["", "u", "v", "w"])] * 3), min_size=4, max_size=14))
def test_figures_are_those_of_the_rows(rows) -> None:
    frame = pl.DataFrame({"q": ["a", "b"] * (len(rows) // 2) + ["a"] * (len(rows) % 2)}).with_columns(
        **{name: pl.Series([row[place] for row in rows]) for place, name in enumerate(("illness", "pay", "note"))}
    )
    release = anonymize(frame, plan())
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
    report = anonymize(rows, plan()).report
    illness = report.disclosure.sensitive["illness"]
    assert (illness.l, illness.part_blank_classes, illness.part_blank_rows) == (1, 1, 3)
    assert (illness.spellings, illness.l_without_spelling_variants) == (2, 1)
    assert "illness: 2 of its values are probably other spellings of the same value" in text(report)
    assert report.disclosure.sensitive["pay"].l_without_spelling_variants is None


def test_each_sentence_about_classes_is_true_of_their_blanks() -> None:
    """One class all blank, one of blanks and a code, one of a code alone: three sentences, and no other is diverse."""
    rows = pl.DataFrame({"q": ["a"] * 3 + ["b"] * 4 + ["c"] * 2, "pay": ["1"] * 9, "note": ["x"] * 9})
    report = anonymize(
        rows.with_columns(illness=pl.Series([None] * 3 + [None, "50", "50", None] + ["50"] * 2)), plan()
    ).report
    told = text(report)
    assert "illness: in 1 of 3 classes all rows share one value (2 rows)." in told
    assert "illness: in 1 of 3 classes all rows are blank (3 rows)" in told
    assert "illness: in 1 of 3 classes some rows are blank and all others share one value (4 rows" in told
    assert "In no class do all rows" not in told
