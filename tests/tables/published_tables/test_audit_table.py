"""The audit of files that `protect` itself wrote: what it published must pass, with the plan that it was made by."""

import pytest

from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.protect import protect
from sfumato.report.tables.report import BY_CASES, review_figures, review_lines

pandas = pytest.importorskip("pandas")
SIGNED = {"area": ["Total", *"abcd"], "n": [60, -50, 25, 45, 40], "f": [30, 1, 9, 10, 10]}
COUNTS = {"area": ["Total", *"abc"], "n": [60, 5, 12, 43]}
FEW = {"frequency": "f", "primary": [{"rule": "frequency", "min": 3}]}
BELOW_30 = {"primary": [{"rule": "range", "min": 1, "max": 30}]}
PLANS = {
    "only masked cells are negative": (SIGNED, FEW),
    "negative ranges": (SIGNED, FEW | {"protection": {"lower": 5, "upper": 5}}),
    "less protection than the rule": (COUNTS, BELOW_30 | {"protection": {"percent": 5}}),
    "an upper bound within the rule": (
        {"area": ["Total", *"abc"], "n": [5, 3, 20, -18]},
        BELOW_30 | {"attacker": {"upper": 25}},
    ),
}


AREA = {"area": {"column": "area"}}


@pytest.mark.parametrize("method", ["optimal", "fast", "ranges"])
@pytest.mark.parametrize("name", PLANS)
def test_own_files_pass(name, method, tmp_path):
    cells, parts = PLANS[name]
    protect(pandas.DataFrame(cells), value="n", dimensions=AREA, method=method, **parts).save(tmp_path / "out")
    review = audit(tmp_path / "out" / "table-external.csv", tmp_path / "out" / "plan.yaml")
    assert review.passed
    assert review.counts()["checked"] >= 2


def published(rows, **more):
    names = ("area", "n_published", "n_lower", "n_upper")
    plan = {"version": 1, "table": {"value": "n"}, "dimensions": AREA} | BELOW_30 | more
    return audit(pandas.DataFrame(rows, columns=names), plan)


def test_nothing_is_negative_until_something_is():
    """Of 40 = a + b + 40, both are 0 to one who holds nothing negative possible, and cannot be known to another."""
    rows = [("Total", "40", "", ""), ("a", "*", "", ""), ("b", "*", "", ""), ("c", "40", "", "")]
    assert published(rows).counts()["exact"] == 2
    assert published(rows, attacker={"lower": -5}).counts()["exact"] == 0
    signed = [*rows[:2], ("b", "-4-4", "-4", "4"), rows[3]]
    assert published(signed).counts()["exact"] == 0


def test_ranges_that_never_add_up_are_still_told():
    rows = [("Total", "10", "", ""), ("a", "20-30", "20", "30"), ("b", "*", "", ""), ("c", "-5-40", "-5", "40")]
    assert published(rows).contradictions == ()
    assert published([*rows[:3], ("c", "40-50", "40", "50")], attacker={"lower": 0}).contradictions
    assert published([*rows[:2], ("b", "1-2", "1", "2"), ("c", "*", "", "")]).contradictions == ()


def test_protection_of_the_plan_replaces_the_range_of_the_rule():
    rows = [("Total", "60", "", ""), ("a", "3-7", "3", "7"), ("b", "10-14", "10", "14"), ("c", "43", "", "")]
    assert published(rows).counts()["too_narrow"] == 2
    assert published(rows, protection={"percent": 5}).passed
    exact = [rows[0], ("a", "5-5", "5", "5"), ("b", "12-12", "12", "12"), rows[3]]
    assert published(exact, protection={"percent": 5}).counts()["exact"] == 2


SMALL = {"version": 1, "table": {"value": "n"}, "primary": [{"rule": "frequency", "min": 3}]}


def test_cases_that_a_file_tells_are_used_and_named(tmp_path):
    """Of 4 = 1 + 3 the cell that is not small must be 3, to one who sees which of them is small."""
    cells = pandas.DataFrame({"area": ["Total", *"abc"], "n": [24, 1, 3, 20]})
    protect(cells, SMALL | {"dimensions": AREA, "method": "optimal"}).save(tmp_path / "out")
    told, plan = tmp_path / "out" / "published.csv", tmp_path / "out" / "plan.yaml"
    found = audit(told, plan)
    assert found.counts()["exact"] == 2
    assert BY_CASES in review_lines(found)
    assert review_figures(found)["by_cases"]
    handed_out = audit(tmp_path / "out" / "table-external.csv", plan)
    assert handed_out.passed
    assert not handed_out.by_cases
    both = audit([told, told], [SMALL | {"dimensions": AREA}] * 2)
    assert both.by_cases
    assert both.counts()["exact"] == 2


def test_a_file_without_cases_beside_one_that_tells_them():
    """Neither d nor e is told to be no primary cell: only a table that tells the cases of its cells does."""
    told = pandas.DataFrame(
        {"x": ["Total", *"abc"], "n_published": ["20", "*", "*", "14"], "n_case": ["", "primary", "secondary", ""]}
    )
    silent = pandas.DataFrame({"y": ["Total", *"def"], "n": ["20", "*", "*", "15"]})
    plans = [SMALL | {"dimensions": {name: {"column": name}}} for name in "xy"]
    found = audit([told, silent], plans)
    assert not found.contradictions
    ranges = {finding.name: (finding.lower, finding.upper) for finding in found.findings}
    assert ranges == {"x a": (1, 2), "x b": (4, 5), "y d": (1, 4), "y e": (1, 4)}
