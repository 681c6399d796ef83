"""What labels cover for a reader: by their texts, and always what is really published with them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.measures.label_coverage import covers, domain_of
from sfumato.microdata.measures.recoded_view import view_of
from sfumato.microdata.plan.model import ColumnPlan
from sfumato.pipelines.release import anonymize
from sizes import size

TREE = {"type": "tree", "parents": {"a1": "A", "a2": "A", "b1": "B", "b2": "B"}}


def released(columns, k, method, **asked):
    bare = {"role": "quasi-identifier"}
    if method["name"] in ("local", "optimal"):
        bare["hierarchy"] = {"type": "any"}
    plan = {
        "version": 1,
        "data": {"on_missing": "category"},
        "columns": {name: bare | asked.get(name, {}) for name in columns},
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": method,
        "output": {"order": "keep"},
    }
    return anonymize(pl.DataFrame(columns), plan)


def read(labels, values, levels=(), type_="text", rows=None):
    """What each label covers, as texts."""
    ladder = make_hierarchy(values, levels)
    column = ColumnPlan("quasi-identifier", type_)
    domain = domain_of(ladder, column, np.ones(len(values), int) if rows is None else np.array(rows))
    owners, ranks = covers(labels, domain)
    found = {label: set() for label in labels}
    for owner, rank in zip(owners.tolist(), ranks.tolist(), strict=True):
        found[labels[owner]].add(values[domain.values[rank]])
    return found


def test_labels_of_every_level_cover_the_values_below_them():
    levels = [["A", "A", "B"], ["AB", "AB", "AB"]]
    assert read(("x", "A", "AB", "*"), ["x", "y", "z"], levels) == {
        "x": {"x"},
        "A": {"x", "y"},
        "AB": {"x", "y", "z"},
        "*": {"x", "y", "z"},
    }


def test_a_label_covers_what_the_data_hold_alone():
    assert read(("A", "*"), ["x", "y", "z"], [["A", "A", "B"]], rows=[1, 0, 2]) == {"A": {"x"}, "*": {"x", "z"}}


def test_sets_cover_their_members_also_where_these_hold_commas():
    values = ["a", "b", "a, b", "c, d", "e"]
    found = read(("{a, e}", "{c, d, e}", "{a, b, e}"), values)
    assert found["{a, e}"] == {"a", "e"}
    assert found["{c, d, e}"] == {"c, d", "e"}
    # This may be {a, b, e} or {"a, b", e}: a reader cannot tell.
    assert found["{a, b, e}"] == {"a", "b", "a, b", "e"}


def test_ranges_cover_by_number_and_not_by_text():
    labels = ("[-1.5–9]", "[10–20]", "9")
    found = read(labels, ["-1.5", "10", "20", "9"], type_="decimal")
    # The ends of a range; what lies between is added with the ranks.
    assert found == {"[-1.5–9]": {"-1.5", "9"}, "[10–20]": {"10", "20"}, "9": {"9"}}


def test_a_range_ends_at_the_nearest_values_that_the_data_hold():
    assert read(("[1–4]",), ["1", "2", "3", "4"], type_="integer", rows=[0, 1, 1, 0]) == {"[1–4]": {"2", "3"}}


def test_a_reader_does_not_know_which_values_really_lie_behind_a_star():
    x = ["a1", "b1", "a2", "a2", "a2", "b2", "b2", "b2"]
    release = released({"x": x}, 2, {"name": "local"}, x={"hierarchy": TREE})
    assert sorted(release.data["x"].to_list()) == ["*", "*", "a2", "a2", "a2", "b2", "b2", "b2"]
    found = release.report.utility
    # Two stars are missing values: of six rows a2 and b2 have three each, where a1, b1, a2 and b2 have 1, 1, 3, 3 of 8.
    assert found["distributions"]["x"]["total_variation"] == pytest.approx(0.25)
    assert found["losses"]["loss-metric"]["value"] == pytest.approx(2 / 8)
    assert found["losses"]["loss-metric"]["value"] == pytest.approx(release.report.loss.value)


def test_decimals_and_dates_without_a_hierarchy_are_numbers():
    columns = {
        "b": ["0.5", "0.6", "10.5", "10.6"],
        "t": ["2020-01-01", "2020-01-02", "2021-01-01", "2021-01-03"],
    }
    asked = {"b": {"type": "decimal"}, "t": {"type": "date"}}
    release = released(columns, 2, {"name": "mondrian", "bounds": "own"}, **asked)
    found = release.report.utility
    assert found["losses"]["loss-metric"]["value"] == pytest.approx(release.report.loss.value)
    # A reader of `[0.5–0.6]` thinks both as likely as they are.
    assert found["distributions"]["b"] == {"total_variation": 0.0, "earth_mover": pytest.approx(0.0)}
    assert found["distributions"]["t"]["earth_mover"] == pytest.approx(0.0)
    pair = found["association_pairs"][0]
    assert pair["correlation_before"] > 0.99 and pair["correlation"] == pytest.approx(1.0)
    unchanged = released(columns, 1, {"name": "optimal"}, **asked).report.utility["distributions"]
    assert unchanged["t"] == {"total_variation": 0.0, "earth_mover": 0.0}


def test_texts_that_look_like_numbers_are_none():
    columns = {"zip": ["1", "9"] * 2 + ["5"] * 4}
    release = released(columns, 4, {"name": "mondrian"})
    assert set(release.data["zip"].to_list()) == {"5", "{1, 9}"}
    assert release.report.utility["distributions"]["zip"]["earth_mover"] is None
    assert release.report.utility["losses"]["loss-metric"]["value"] == pytest.approx(release.report.loss.value)


def test_k_optimize_publishes_a_value_alike_in_all_rows():
    columns = {"x": ["a"] * 6 + ["b"] * 3 + ["c"] * 3}
    method = {"name": "k-optimize", "features": "isolate", "loss": "loss-metric"}
    release = released(columns, 4, method)
    assert sorted(set(release.data["x"].to_list())) == ["*", "a"]
    found = release.report.utility
    # The stars are missing values, and half of the rows have `a`.
    assert found["distributions"]["x"]["total_variation"] == pytest.approx(0.5)
    assert found["losses"]["loss-metric"]["value"] == pytest.approx(release.report.loss.value)


METHODS = (
    {"name": "mondrian"},
    {"name": "mondrian", "mode": "relaxed"},
    {"name": "mondrian", "bounds": "cut"},
    {"name": "local"},
    {"name": "local", "suppression": 0.3},
    {"name": "k-optimize", "features": "ordered"},
    {"name": "k-optimize", "features": "isolate", "loss": "loss-metric"},
)
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "a, b", "c, a", "{b", "d}", None]),
        st.sampled_from(["-1.5", "0", "0.25", "9", "10", None]),
        st.sampled_from(["a1", "a2", "b1", "b2", None]),
        st.sampled_from(["1999-12-31", "2000-01-01", "2024-02-29", None]),
    ),
    min_size=4,
    max_size=25,
)


@pytest.mark.parametrize("method", METHODS, ids=str)
@settings(max_examples=size(8, 20), deadline=None)
@given(rows=ROWS, k=st.integers(2, 4))
def test_a_label_covers_every_value_that_is_published_with_it(method, rows, k):
    columns = {name: pl.Series([row[place] for row in rows], dtype=pl.String) for place, name in enumerate("sntd")}
    asked = {"n": {"type": "decimal"}, "t": {"hierarchy": TREE}, "d": {"type": "date"}}
    release = released(columns, k, method, **asked)
    view = view_of(release.plan, release.table, release.recoding)
    pieces = view.published
    for place, column in enumerate(view.columns):
        covered = {(label, int(column.values[rank])) for label, rank in zip(column.labels, column.covered, strict=True)}
        assert len(covered) == len(column.labels)
        labels = view.class_labels[pieces.classes, place].tolist()
        assert set(zip(labels, view.table.codes[pieces.combinations, place].tolist(), strict=True)) <= covered
        counted = column.informative | (column.widths == 1)
        assert column.after.sum() == pytest.approx(column.label_rows[counted].sum())
