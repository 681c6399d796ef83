"""Ranges that end nearer than the rules ask: of the house's own tables and of published ones."""

import pandas
import pytest

import sfumato as sf

AREA = {"area": {"column": "area", "total": "Total"}}


def published(tmp_path, *texts, rule=None, **more):
    """The audit of a table of which the first line is the total."""
    lines = [f"{area},{text}" for area, text in zip(["Total", *"abcdef"], texts, strict=False)]
    (tmp_path / "table.csv").write_text("\n".join(["area,n", *lines]) + "\n")
    plan = {
        "version": 1,
        "table": {"value": "n"},
        "dimensions": AREA,
        "primary": [rule or {"rule": "frequency", "min": 4}],
    }
    return sf.audit(tmp_path / "table.csv", plan | more)


@pytest.mark.parametrize(
    ("texts", "narrow"),
    [
        (("20", "2-3", "*", "10"), 1),  # 2 needs 1 to 3, and 3 needs 2 to 4.
        (("20", "1-3", "*", "10"), 0),  # All that the rule calls sensitive.
        (("20", "1-2", "*", "10"), 0),  # 1 needs 1 to 2: nothing below is possible.
        (("20", "2-4", "*", "10"), 0),  # 4 is not sensitive.
        (("20", "≤3", "*", "10"), 0),
        (("14", "2-3", "*", "10"), 1),  # What is left of 4 may be 1.
    ],
)
def test_a_published_range_within_the_sensitive_values_is_too_narrow(tmp_path, texts, narrow):
    assert published(tmp_path, *texts).counts()["too_narrow"] == narrow


def test_it_does_not_matter_which_rule_calls_the_values_sensitive(tmp_path):
    assert published(tmp_path, "20", "2-3", "*", "10", rule={"rule": "range", "min": 1, "max": 3}).too_narrow == 1
    assert published(tmp_path, "60", "12-13", "*", "10", rule={"rule": "frequency", "min": 20}).too_narrow == 1
    wide = published(tmp_path, "20", "2-3", "*", "10", protection={"lower": 1, "upper": 0})
    assert wide.too_narrow == 0


def test_what_empty_cells_tell_anyway_is_no_finding(tmp_path):
    assert published(tmp_path, "3", "1-2", "1-2", "0").too_narrow == 0


def test_own_releases_pass(tmp_path):
    cells = pandas.DataFrame({"area": ["Total", *"abcdef"], "n": [33, 2, 3, 0, 1, 7, 20]})
    plan = {"version": 1, "table": {"value": "n"}, "dimensions": AREA, "primary": [{"rule": "frequency", "min": 4}]}
    sf.protect(cells, plan).save(tmp_path / "out")
    assert sf.audit(tmp_path / "out" / "table-external.csv", plan).passed


def test_the_report_lists_the_ends_that_are_nearer_than_asked():
    """A count of 1 must not be known within 1, and everyone knows that it is not 0: a zero would be printed."""
    cells = pandas.DataFrame({"area": ["Total", *"abcd"], "n": [24, 1, 0, 10, 13]})
    done = sf.protect(cells, value="n", dimensions=AREA, primary=[{"rule": "frequency", "min": 3}])
    (end,) = done.report["inherent_disclosure"]
    assert end == {"cell": "area a", "end": "lower", "requested": 1, "guaranteed": 0, "attacker": "everyone"}
    assert sf.audit(done).inherently_disclosed
