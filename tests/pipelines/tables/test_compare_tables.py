"""One table in every way: figures of each, a page, and coarser tables that cost less."""

import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import PlanError
from sfumato.localization.messages import from_json
from sfumato.pipelines.tables.compare_tables import METHODS, compare_tables
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.deadline import within
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.tables.redesign import redesign

INNER = {
    ("a", "1"): 40, ("a", "2"): 31, ("a", "3"): 2, ("a", "4"): 1,
    ("b", "1"): 25, ("b", "2"): 18, ("b", "3"): 1, ("b", "4"): 2,
    ("c", "1"): 33, ("c", "2"): 12, ("c", "3"): 2, ("c", "4"): 2,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    rows = ["area,size,n"]
    for area in ("Total", "a", "b", "c"):
        for size in ("Total", "1", "2", "3", "4"):
            value = sum(n for (x, y), n in INNER.items() if area in ("Total", x) and size in ("Total", y))
            rows.append(f"{area},{size},{value}")
    (tmp_path / "cells.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "plan.yaml").write_text(
        "version: 1\ntable: {source: cells.csv, value: n}\n"
        "dimensions: {area: {column: area}, size: {column: size}}\nprimary: [{rule: frequency, min: 3}]\n"
    )
    return tmp_path


def test_every_way_is_compared(folder, sfumato):
    ran = sfumato("compare-tables", folder / "plan.yaml", "--out", folder / "out", "--redesign", 5, "--json")
    assert ran.code == 0, ran.err
    report = from_json(ran.out)
    assert report == from_json((folder / "out" / "compare.json").read_text())
    runs = {run["method"]: run for run in report["runs"]}
    assert len(runs) == len(METHODS)
    assert not [run["error"] for run in runs.values() if run["error"]]
    assert runs["optimal"]["masked"] > 6 and runs["optimal"]["satisfied"]
    assert runs["controlled rounding to 3"]["broken"] == 0 and runs["controlled rounding to 3"]["masked"] == 0
    assert runs["deterministic rounding to 3"]["unsafe_too_narrow"] > 0
    assert not runs["deterministic rounding to 3"]["satisfied"]
    assert runs["adjustment"]["broken"] == 0 and runs["adjustment"]["changed"] > 0
    assert report["unsafe"] == 6
    changes = [line.values["change"] for line in report["redesign"] if line.code == "reason.redesign"]
    assert {"dimension": "size", "one": "3", "other": "4"} in [change.values for change in changes]
    page = (folder / "out" / "compare.html").read_text()
    assert "Methods to protect a table" in page and "merge size 3 and 4" in page


def test_text_and_choice_of_methods(folder, sfumato):
    ran = sfumato("compare-tables", folder / "plan.yaml", "--methods", "fast,controlled", "--redesign", 0, "--quiet")
    assert "controlled rounding to 3" in ran.out and "random" not in ran.out
    assert "satisfies the rules" in ran.out
    with pytest.raises(PlanError, check=coded("plan.compare-tables.is_not_compared")):
        compare_tables(folder / "plan.yaml", methods=("nothing",))


def test_a_merged_table_is_the_one_that_protect_gets(folder):
    plan = read_table_plan(folder / "plan.yaml")
    from sfumato.tables.build import read_source

    found = redesign(plan, read_source(plan), within(20))
    best = next(one for one in found.proposals if one.change.label == "merge size 3 and 4")
    merged = {
        (x, "3+4" if y in "34" else y): n + (INNER[x, "4"] if y == "3" else 0)
        for (x, y), n in INNER.items()
        if y != "4"
    }
    cells = {"area": [], "size": [], "n": []}
    for area in ("Total", "a", "b", "c"):
        for size in ("Total", "1", "2", "3+4"):
            cells["area"].append(area)
            cells["size"].append(size)
            whole = sum(n for (x, y), n in merged.items() if area in ("Total", x) and size in ("Total", y))
            cells["n"].append(str(whole))
    by_hand = sf.protect(
        __import__("pandas").DataFrame(cells),
        value="n",
        dimensions={"area": {"column": "area"}, "size": {"column": "size"}},
        primary=[{"rule": "frequency", "min": 3}],
        method={"name": "fast"},
    )
    assert by_hand.report["masked"] == best.masked < found.masked
    assert best.cells == len(TextColumns({"n": tuple(cells["n"])}))


def test_no_time_no_proposals(folder):
    plan = read_table_plan(folder / "plan.yaml")
    from sfumato.tables.build import read_source

    found = redesign(plan, read_source(plan), within(0.8))
    assert found.tried <= found.possible


def test_one_table_of_microdata_is_compared(folder):
    rows = [f"{area},{size}" for (area, size), n in INNER.items() for _ in range(n)]
    (folder / "people.csv").write_text("\n".join(["area,size", *rows]) + "\n")
    plan = (
        (folder / "plan.yaml").read_text().replace("source: cells.csv, value: n", "microdata: people.csv, value: count")
    )
    (folder / "micro.yaml").write_text(plan + "output: {files: [jj, hst]}\n")
    ways = {"methods": ("optimal", "controlled", "cell-key"), "redesign_seconds": 0}
    one, other = (compare_tables(folder / name, **ways) for name in ("plan.yaml", "micro.yaml"))
    figures = [[(run.masked, run.unsafe_exact, run.mean_change) for run in each.runs[:2]] for each in (one, other)]
    assert figures[0] == figures[1] and one.unsafe == other.unsafe > 0
    several = plan.replace(
        "dimensions: {area: {column: area}, size: {column: size}}",
        "tables: [{name: a, dimensions: {area: {column: area}}}, {name: b, dimensions: {size: {column: size}}}]",
    )
    (folder / "several.yaml").write_text(several)
    with pytest.raises(PlanError, check=coded("plan.compare-tables.a_comparison_is_of_one")):
        compare_tables(folder / "several.yaml")


def test_ways_that_need_no_rules_are_compared_without_them(folder):
    plan = (
        (folder / "plan.yaml")
        .read_text()
        .replace("primary: [{rule: frequency, min: 3}]", "method: {name: rounding, base: 5}")
    )
    (folder / "plan.yaml").write_text(plan)
    runs = {run.method: run for run in compare_tables(folder / "plan.yaml", redesign_seconds=0).runs}
    assert {name for name, run in runs.items() if run.error} == {"optimal", "fast", "ranges", "adjustment"}
    assert runs["controlled rounding to 5"].changed > 0
