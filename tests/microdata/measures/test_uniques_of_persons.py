"""Unique rows where a column names persons: what nobody else has is unique, however many rows of one person have it."""

from collections import defaultdict
from itertools import combinations

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_stages import disclosure as pipeline

PLAN = {
    "version": 1,
    "columns": {
        "who": {"role": "person"},
        "q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "s": {"role": "sensitive"},
        "t": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"order": "keep"},
    "seed": 1,
}
ROWS = [
    ("1", "a", "x", "u"),
    ("1", "a", "x", "u"),
    ("2", "b", "y", "v"),
    ("3", "b", "z", "v"),
    ("3", "c", "z", "w"),
    ("4", "c", "x", ""),
]


def frame(rows):
    return pl.DataFrame(rows, schema=["who", "q", "s", "t"], orient="row")


def of_one_person(rows, places):
    """Rows that nobody else's row equals in some columns, counted by hand."""
    persons = defaultdict(set)
    for row in rows:
        persons[tuple(row[place] for place in places)].add(row[0])
    return sum(len(persons[tuple(row[place] for place in places)]) == 1 for row in rows)


def test_a_value_that_two_rows_of_one_person_have_is_nobody_elses() -> None:
    report = anonymize(frame(ROWS), PLAN).report
    assert report.risk["outliers"]["singled_out_alone_by"] == {"q": 2}


def test_rows_of_one_person_that_look_alike_are_unique_by_other_columns() -> None:
    disclosed = anonymize(frame(ROWS), PLAN).report.disclosure
    # All are published with q as *: x is of two persons, y and z of one each; a missing t is known of nobody.
    assert {entry.columns: entry.rows for entry in disclosed.unique_rows} == {("s",): 3, ("t",): 3, ("s", "t"): 5}
    assert disclosed.unique_in_classes == {"s": 3, "t": 3}
    assert not disclosed.unmeasured


def test_of_too_many_rows_it_is_said_that_they_were_counted_one_by_one(monkeypatch) -> None:
    monkeypatch.setattr(pipeline, "MOST_AT_ONCE", 5)
    disclosed = anonymize(frame(ROWS), PLAN).report.disclosure
    assert disclosed.unique_in_classes == {"s": 1, "t": 1}
    assert "Too many rows: those of one person that look alike were not taken for unique ones." in disclosed.unmeasured


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from("1234")] * 2, *[st.sampled_from("uvw")] * 2), min_size=4, max_size=14))
def test_figures_are_those_of_the_persons(rows) -> None:
    if len({row[0] for row in rows}) < 2:
        return
    report = anonymize(frame(rows), PLAN | {"method": {"name": "optimal", "suppression": 0}}).report
    assert report.risk["outliers"]["singled_out_alone_by"] == {"q": of_one_person(rows, (1,))}
    counted = {entry.columns: entry.rows for entry in report.disclosure.unique_rows}
    for places in [(2,), (3,), *combinations((2, 3), 2)]:
        assert counted[tuple("qst"[place - 1] for place in places)] == of_one_person(rows, places)


@pytest.mark.parametrize("engine", ["duckdb", "frames"])
def test_engines_count_the_same_persons(engine, tmp_path) -> None:
    source = pd.DataFrame(ROWS, columns=["who", "q", "s", "t"])
    if engine == "duckdb":
        source.to_csv(tmp_path / "rows.csv", index=False)
        source = tmp_path / "rows.csv"
    report = anonymize(source, PLAN, engine=engine).report
    assert report.disclosure.unique_in_classes == {"s": 3, "t": 3}
    assert report.risk["outliers"]["singled_out_alone_by"] == {"q": 2}
