"""The pipeline from frames to the release folder."""

import json
import random
import re
from datetime import date
from hashlib import sha256

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import PlanError, SfumatoError, ViolationError
from sfumato.localization.messages import words_in
from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.protect import protect, run
from sfumato.report.tables.page import html
from sfumato.report.tables.report import summary
from sfumato.tables import suppress_table
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.cells.system import ProtectionLevels
from sfumato.tables.plan.table_plan import read_table_plan

PARTS = {
    "value": "Wert",
    "dimensions": {"area": {"levels": ["Kreis", "Quartier"], "total": 0}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
}
CELLS = {
    "Kreis": [0, 1, 1, 1, 2, 2, 2, 3, 3],
    "Quartier": [0, 0, 1, 2, 0, 1, 2, 0, 1],
    "Wert": [28, 9, 2, 7, 2, 2, 0, 17, 17],
}
PUBLISHED = ["28", "9", "1–3", "6-8", "1-3", "1–3", "0", "16-18", "16-18"]


def frames():
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    shuffled = pandas.DataFrame(CELLS, index=list("zyxwvutsr"))
    return {
        "pandas": shuffled,
        "polars": polars.DataFrame(CELLS),
        "arrow": arrow.table(CELLS),
        "lazy": polars.LazyFrame(CELLS),
    }


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "lazy"])
def test_every_frame_comes_back_as_it_went_in(kind):
    frame = frames()[kind]
    protected = protect(frame, **PARTS, method={"name": "intervals", "tie_break": "max"})
    column = protected.data["Wert_published"]
    assert (column.to_pylist() if kind == "arrow" else list(column)) == PUBLISHED
    assert kind == "lazy" or type(protected.data) is type(frame)
    if kind == "pandas":
        assert list(protected.data.index) == list("zyxwvutsr")
        assert list(frame.columns) == list(CELLS)
    assert audit(protected.data, protected.plan).passed


def test_order_of_rows_does_not_matter():
    frame = frames()["pandas"]
    one = protect(frame, **PARTS).data.sort_values(["Kreis", "Quartier"])
    two = protect(frame.iloc[::-1], **PARTS).data.sort_values(["Kreis", "Quartier"])
    assert one["Wert_published"].tolist() == two["Wert_published"].tolist()


def test_plan_and_parts_are_not_mixed():
    with pytest.raises(PlanError):
        protect(frames()["pandas"], {"version": 1}, value="Wert")


def test_something_else_is_no_table():
    with pytest.raises(PlanError, check=coded("plan.no-frame")):
        protect(42, **PARTS)


def test_folder_is_whole_and_never_overwritten(known, make_plan, tmp_path):
    protected = run(make_plan("intervals"), known)
    out = tmp_path / "new" / "out"
    protected.save(out)
    names = sorted(path.name for path in out.iterdir())
    reports = ["report-external.html", "report.html", "report.json"]
    assert names == ["annex.md", "plan.yaml", "published.csv", *reports, "table-external.csv", "table.csv"]
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    report = json.loads((out / "report.json").read_text())
    assert {"cells", "primary", "secondary", "masked", "cost", "proved_optimal", "gap", "audit"} <= set(report)
    assert report["masked"] == report["primary"] + report["secondary"] == 6
    with pytest.raises(PlanError) as caught:
        protected.save(out)
    assert caught.value.code == "plan.output-exists"


def test_nothing_is_left_when_writing_fails(known, make_plan, tmp_path, monkeypatch):
    protected = run(make_plan(), known)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sfumato.pipelines.tables.table_release.html", full)
    with pytest.raises(SfumatoError, check=coded("engine.unwritable.cannot_be_written")):
        protected.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_public_files_show_no_hidden_value(make_city, make_plan, tmp_path):
    cells = make_city({"1": [2, 7431], "2": [9000, 8000]})
    protected = run(make_plan(), cells)
    protected.save(tmp_path / "out")
    hidden = [
        value
        for value, case in zip(cells.text("Wert"), protected.columns.text("Wert_case"), strict=True)
        if case == "secondary"
    ]
    assert hidden == ["7431"]
    for name in ("published.csv", "report-external.html"):
        assert "7431" not in (tmp_path / "out" / name).read_text()


def test_failed_audit_publishes_nothing(known, make_plan, monkeypatch):
    make = suppress_table.make_problem
    monkeypatch.setattr(suppress_table, "make_problem", lambda table, *_: make(_unprotected(table)))
    with pytest.raises(ViolationError):
        run(make_plan(), known)


def _unprotected(table):
    return table.with_columns(
        protection_levels=ProtectionLevels(table.protection_levels.lower * 0, table.protection_levels.upper * 0)
    )


def test_holdings_bring_insiders(make_plan):
    columns = {
        "area": ["Total", "a", "b", "c", "d"],
        "turnover": [100, 5, 6, 40, 49],
        "hold": [9, 1, 1, 3, 4],
        "t1": [20, 5, 6, 20, 20],
        "t2": [20, 0, 0, 15, 10],
    }
    parts = {
        "value": "turnover",
        "holdings": "hold",
        "contributions": ["t1", "t2"],
        "dimensions": {"area": {"column": "area"}},
        "primary": [{"rule": "p-percent", "p": 10}],
    }
    frame = pytest.importorskip("pandas").DataFrame(columns)
    with_insiders = protect(frame, **parts)
    assert with_insiders.report["secondary"] == 1
    without = protect(frame, **parts, method={"name": "optimal", "insiders": False})
    assert without.report["secondary"] == 0


@pytest.mark.parametrize("method", ["optimal", "fast", "ranges"])
def test_ranges_hold_the_true_value(make_city, make_plan, method):
    cells = make_city({"1": [2, 1, 30], "2": [3, 44], "3": [12, 15, 1]})
    protected = run(make_plan(method), cells)
    values, low = cells.numbers("Wert"), protected.columns.optional("Wert_lower")
    high = protected.columns.optional("Wert_upper")
    for value, least, most in zip(values, low, high, strict=True):
        assert not value < least
        assert not value > most


def test_ranges_are_no_wider_than_suppression(make_plan):
    columns = {"r": ["T"] * 4 + ["a"] * 4 + ["b"] * 4 + ["c"] * 4, "c": ["T", "x", "y", "z"] * 4}
    grid = [[300, 100, 100, 100], [90, 2, 48, 40], [110, 58, 22, 30], [100, 40, 30, 30]]
    frame = pytest.importorskip("pandas").DataFrame(columns | {"n": [value for line in grid for value in line]})
    parts = {
        "value": "n",
        "dimensions": {"r": {"column": "r", "total": "T"}, "c": {"column": "c", "total": "T"}},
        "primary": [{"rule": "range", "min": 1, "max": 3}],
    }
    blank, ranged = (protect(frame, **parts, method=method) for method in ("optimal", "ranges"))
    width = {
        name: sum(finding.upper - finding.lower for part in done.parts for finding in part.audit.findings)
        for name, done in {"blank": blank, "ranged": ranged}.items()
    }
    assert ranged.passed
    assert width["ranged"] <= width["blank"]


@pytest.mark.parametrize("method", ["intervals", "optimal", "fast", "ranges"])
def test_nothing_unsafe_leaves_the_table_as_it_is(make_city, make_plan, method):
    cells = make_city({"1": [12, 30], "2": [9, 44]})
    protected = run(make_plan(method), cells)
    assert protected.columns.text("Wert_published") == cells.text("Wert")
    assert protected.report["masked"] == 0


def test_audit_of_what_protect_returned(known, make_plan):
    protected = run(make_plan(), known)
    assert audit(protected).counts() == {"checked": 4, "exact": 0, "too_narrow": 0, "inconsistent": 0}
    assert "Protected table" in protected._repr_html_()


def test_costly_levels_stay_open(make_city, make_plan):
    cells = make_city({"1": [2, 3, 40], "2": [30, 44]})
    dear = run(make_plan({"name": "optimal", "cost": "unit", "level_factor": 100}), cells)
    assert dear.columns.text("Wert_case")[:2] == ("", "")


def firms(**more):
    columns = {"area": ["Total", "a", "b", "c", "d"], "n": [310, 50, 60, 100, 100]} | more
    return pytest.importorskip("pandas").DataFrame(columns)


FLAT = {"value": "n", "dimensions": {"area": {"column": "area"}}}
SMALL = [{"rule": "range", "min": 1, "max": 3}]


def test_table_to_hand_out_tells_no_mask_from_another(tmp_path):
    frame = pytest.importorskip("pandas").DataFrame({"area": ["Total", "a", "b"], "n": [5, 1, 4], "f": [9, 9, 9]})
    done = protect(frame, **FLAT, primary=SMALL)
    done.save(tmp_path / "out")
    lines = (tmp_path / "out" / "table-external.csv").read_text().splitlines()
    assert lines == ["area,n_published,n_lower,n_upper", "Total,5,,", "a,*,1,4", "b,*,1,4"]
    page = (tmp_path / "out" / "report-external.html").read_text()
    cells = re.findall(r"<td>([^<]*)</td>", page.lower())
    assert not any("primary" in cell or "secondary" in cell for cell in cells)
    assert "<td>suppressed</td>" in page
    assert sha256((tmp_path / "out" / "table-external.csv").read_bytes()).hexdigest() in page
    assert words_in().day(date.today()) in page
    heads = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', page)
    assert {"area", "published", "at least", "at most"} <= set(heads) and "" not in heads
    assert audit(tmp_path / "out" / "table-external.csv", tmp_path / "out" / "plan.yaml").passed


def test_page_tells_no_digits_of_the_cost(known, make_plan):
    done = run(make_plan(), known)
    done.report["gap"] = 7 / 1234
    page = html(done, done.report)
    assert "0.005" not in page


def test_rows_to_hand_out_stand_by_their_codes(known, make_plan, make_city):
    """A file that came sorted by value would tell masked values by their neighbors."""
    cells = make_city({"9": [2, 30, 1], "10": [12, 44], "x": [8]})
    outputs = set()
    for seed in range(5):
        rows = list(range(len(cells)))
        random.Random(seed).shuffle(rows)
        if seed == 4:
            rows.sort(key=lambda row: cells.numbers("Wert")[row])
        external = run(make_plan(), cells.rows(np.array(rows))).external
        outputs.add(tuple(external.texts.values()))
    assert len(outputs) == 1
    assert (external.text("Kreis")[:5], external.text("Quartier")[:5]) == (("0", "9", "9", "9", "9"), tuple("00123"))
    assert external.text("Kreis")[5:] == ("10", "10", "10", "x", "x")


def test_rows_of_groups_hierarchies_and_ids_are_sorted_too(tmp_path):
    (tmp_path / "tree.csv").write_text("b1,b\nb10,b\nb9,b\na1,a\n")
    codes = ["b9", "a1", "Total", "b", "b10", "a", "b1"]
    values = [4, 50, 81, 31, 7, 50, 20]
    frame = pytest.importorskip("pandas").DataFrame(
        {"year": [2021] * 7 + [2020] * 7, "code": codes * 2, "n": values + [3 * value for value in values]}
    )
    dimensions = {"code": {"column": "code", "hierarchy": str(tmp_path / "tree.csv")}}
    external = protect(frame, value="n", group_by=["year"], dimensions=dimensions, primary=SMALL).external
    assert external.text("year") == ("2020",) * 7 + ("2021",) * 7
    assert external.text("code")[:7] == ("Total", "a", "a1", "b", "b1", "b10", "b9")
    (tmp_path / "cells.csv").write_text("id,value,status\n10,4,s\n2,6,s\n1,20,s\n9,10,s\n")
    (tmp_path / "relations.csv").write_text("relation,cell_id,coef\nr,1,-1\nr,2,1\nr,9,1\nr,10,1\n")
    plan = {"version": 1, "table": {"cells": "cells.csv", "relations": "relations.csv"}}
    done = run(read_table_plan(plan, tmp_path), read_columns(tmp_path / "cells.csv"))
    assert done.external.text("id") == ("1", "2", "9", "10")


@pytest.mark.parametrize("method", ["ranges", "intervals"])
def test_ranges_that_show_the_primary_cells_withstand_who_knows_the_rule(make_city, make_plan, method):
    cells = make_city({"1": [1, 4], "2": [20, 30]})
    done = run(make_plan(method), cells)
    assert done.columns.text("Wert_published")[1] != "5"
    assert "–" not in "".join(done.external.text("Wert_published"))


@pytest.mark.parametrize(
    "rule", [{"rule": "range", "min": 1, "max": 3}, {"rule": "frequency", "min": 4}], ids=lambda rule: rule["rule"]
)
def test_known_cases_are_withstood_for_every_rule(rule):
    """Beside a hidden 1, a hidden 4 that is known to be at least 4 would tell it."""
    frame = pytest.importorskip("pandas").DataFrame({"area": ["Total", *"abcd"], "n": [58, 1, 4, 23, 30]})
    plain = protect(frame, **FLAT, primary=[rule])
    wary = protect(frame, **FLAT, primary=[rule], attacker={"rule": True})
    assert plain.data["n_published"].tolist() == ["58", "*", "*", "23", "30"]
    assert wary.data["n_published"].tolist() == ["58", "*", "4", "*", "30"]


def test_a_row_of_ones_does_not_follow_from_published_zeros():
    """A row whose total equals the number of its masked cells: all of them are 1, for zeros would be shown."""
    dimensions = {name: {"column": name, "total": "T"} for name in ("r", "c")}
    frame = pytest.importorskip("pandas").DataFrame(
        {
            "r": ["T"] * 5 + ["x"] * 5 + ["y"] * 5,
            "c": ["T", "a", "b", "d", "z"] * 3,
            "n": [84, 21, 32, 31, 0, 3, 1, 1, 1, 0, 81, 20, 31, 30, 0],
        }
    )
    done = protect(frame, value="n", dimensions=dimensions, primary=[{"rule": "range", "min": 1, "max": 2}])
    published = dict(zip(zip(frame["r"], frame["c"], strict=True), done.data["n_published"], strict=True))
    assert published["x", "T"] == "*"
    assert published["x", "z"] == "0"
    every = protect(frame, value="n", dimensions=dimensions, primary=[{"rule": "frequency", "min": 5}])
    assert every.passed


@pytest.mark.parametrize(
    "more",
    [
        {"frequency": [40, 1, 1, 15, 16]},
        {"holdings": [40, 1, 1, 15, 16]},
        {"frequency": None},
    ],
)
def test_single_respondents_do_not_learn_of_one_another(more):
    (name, counts), *_ = more.items()
    given = {} if counts is None else {name: "k"}
    frame = firms(t1=[90, 50, 60, 20, 20], t2=[45, 0, 0, 19, 19], **({"k": counts} if counts else {}))
    parts = FLAT | {"contributions": ["t1", "t2"], "primary": [{"rule": "p-percent", "p": 10}], **given}
    assert protect(frame, **parts).report["secondary"] == 1
    assert protect(frame, **parts, method={"name": "optimal", "insiders": False}).report["secondary"] == 0


def test_plan_of_the_folder_runs_again(known, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "sex.csv").write_text("m,persons\nw,persons\n")
    rows = ["sex,n", "Total,40", "persons,40", "m,2", "w,38"]
    (tmp_path / "in" / "cells.csv").write_text("\n".join(rows) + "\n")
    text = "version: 1\ntable: {source: cells.csv, value: n}\nprimary: [{rule: range, min: 1, max: 3}]\n"
    text += "dimensions: {sex: {column: sex, hierarchy: sex.csv}}\nprotection: {upper: 1}\n"
    (tmp_path / "in" / "plan.yaml").write_text(text)
    first = protect(tmp_path / "in" / "plan.yaml")
    first.save(tmp_path / "deep" / "out")
    again = protect(tmp_path / "deep" / "out" / "plan.yaml")
    assert again.columns.texts == first.columns.texts
    assert str(tmp_path) not in (tmp_path / "deep" / "out" / "plan.yaml").read_text()


def test_files_come_back_as_a_frame_with_all_columns(tmp_path):
    (tmp_path / "cells.csv").write_text("area,n\nTotal,24\na,2\nb,9\nc,13\n")
    data = protect(tmp_path / "cells.csv", **FLAT, primary=SMALL).data
    assert list(data.columns)[:3] == ["area", "n", "n_published"]
    assert list(data["n_published"]) == ["24", "*", "*", "13"]


def test_a_table_whose_first_row_is_masked_is_a_frame_as_well(tmp_path):
    (tmp_path / "cells.csv").write_text("area,n\na,2\nb,9\nc,13\nTotal,24\n")
    data = protect(tmp_path / "cells.csv", **FLAT, primary=SMALL, method="optimal").data
    assert list(data["n_case"]) == ["primary", "secondary", "", ""]


def test_columns_are_not_written_over():
    with pytest.raises(SfumatoError, check=coded("data.column-taken")) as caught:
        protect(firms(n_published=[""] * 5), **FLAT, primary=SMALL)
    assert caught.value.code == "data.column-taken"


def test_empty_tables_and_codes_are_refused():
    with pytest.raises(SfumatoError, check=coded("data.empty.no_cells")):
        protect(firms().iloc[:0], **FLAT, primary=SMALL)
    frame = firms().assign(area=["Total", "", "b", "c", "d"])
    with pytest.raises(SfumatoError, check=coded("data.no-code")):
        protect(frame, **FLAT, primary=SMALL)


def test_gap_says_what_is_proved(known, make_plan):
    report = run(make_plan(), known).report
    assert report["bound"] == report["cost"]
    said = summary(report | {"cost": 200, "bound": 50, "gap": 0.75, "proved_optimal": False})
    assert "none costs less than 50: at most 75.00 % of the cost can be saved" in said


def test_a_table_of_one_masked_cell_is_audited():
    cells = TextColumns({"area": ("Total",), "n": ("2",)})
    plan = {
        "version": 1,
        "table": {"value": "n"},
        "dimensions": {"area": {"column": "area"}},
        "primary": [{"rule": "frequency", "min": 3}],
    }
    done = run(read_table_plan(plan), cells)
    assert done.passed
    assert done.report["masked"] == 1


@pytest.mark.parametrize(("size", "seed"), [(4, 1), (6, 17)])
def test_numbers_of_many_decimals_contradict_nothing(size, seed):
    """A number of seventeen digits that lay near a whole number of steps was moved there, and its totals were not."""
    draw = random.Random(seed)
    inner = np.array([[draw.random() * 100 for _ in range(size)] for _ in range(size)])
    whole = np.vstack([np.column_stack([inner, inner.sum(1)]), [*inner.sum(0), inner.sum()]])
    names = [*map(str, range(size)), "Total"]
    cells = {"a": np.repeat(names, size + 1), "b": np.tile(names, size + 1), "n": whole.reshape(-1)}
    protected = protect(
        pytest.importorskip("pandas").DataFrame(cells),
        value="n",
        dimensions={name: {"column": name} for name in "ab"},
        primary=[{"rule": "range", "min": -5, "max": 8}],
        method={"name": "fast"},
    )
    assert protected.passed
