"""Forcing: a column is said to be forced up only where rows would fail one level below that the plan allows."""

import polars as pl

from sfumato.microdata.measures.overview import forcing
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize

FRAME = pl.DataFrame({"age": ["20", "21", "22", "23"] * 4, "sex": ["m", "m", "f", "f"] * 4})


def plan(k=1, min_level=0):
    hierarchy = {"type": "intervals", "start": 20, "end": 23, "widths": [2]}
    age = {"role": "quasi-identifier", "type": "integer", "hierarchy": hierarchy, "min_level": min_level}
    return {
        "version": 1,
        "columns": {"age": age, "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
        "privacy": [{"model": "k-anonymity", "k": k}],
        "output": {"order": "keep"},
    }


def test_nothing_forces_a_level_that_the_plan_asks_for():
    """At its min_level a column is by the plan; above it, by rows that would fail below."""
    assert anonymize(FRAME, plan(min_level=1)).report.risk["forcing"] == {}
    assert anonymize(FRAME, plan(k=8, min_level=1)).report.risk["forcing"] == {}
    starred = anonymize(FRAME, plan(k=16, min_level=1)).report
    assert starred.levels == {"age": 2, "sex": 1}
    # With ages in two intervals of eight rows, or sexes of eight, all sixteen rows would fail.
    assert starred.risk["forcing"] == {"age": {"level": 1, "rows": 16}, "sex": {"level": 0, "rows": 16}}


def test_a_column_is_not_forced_by_no_row():
    coarse = anonymize(FRAME, plan(min_level=1))
    # The very same release under a plan that would have let the ages stand: with k = 1 no row would fail then.
    assert coarse.report.levels["age"] == 1
    assert forcing(read_plan(plan()), coarse.table, coarse.recoding, 1_000_000) == {}
    assert forcing(read_plan(plan(k=8)), coarse.table, coarse.recoding, 1_000_000)["age"] == {"level": 0, "rows": 16}


def test_the_page_does_not_blame_rows_for_the_plan():
    assert "because of" not in anonymize(FRAME, plan(k=8, min_level=1)).reports()["report.html"]
    assert "age is at level 1 because of 16 rows" in anonymize(FRAME, plan(k=8)).reports()["report.html"]
