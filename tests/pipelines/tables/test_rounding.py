"""Rounding from a plan to the release folder: library, command line, groups, several tables with their own bases."""

import csv
import json

import pandas
import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import PlanError, ViolationError
from sfumato.localization.messages import words_in
from sfumato.tables.plan.table_plan import read_table_plan, table_plan_dict

CELLS = "Kreis,Quartier,Wert\n0,0,28\n1,0,9\n1,1,2\n1,2,7\n2,0,2\n2,1,2\n2,2,0\n3,0,17\n3,1,17\n"
PLAN = """
version: 1
table: {source: cells.csv, value: Wert}
dimensions: {area: {levels: [Kreis, Quartier], total: 0}}
method: {name: rounding, base: 5, kind: KIND}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cells.csv").write_text(CELLS)
    return tmp_path


def rows_of(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("kind", ["controlled", "small-count", "random", "deterministic"])
def test_the_release_folder(folder, sfumato, kind):
    (folder / "plan.yaml").write_text(PLAN.replace("KIND", kind))
    ran = sfumato("protect", folder / "plan.yaml", "--out", folder / "out", "--json")
    assert ran.code == 0, ran.err
    report = json.loads((folder / "out" / "report.json").read_text())
    assert json.loads(ran.out) == report
    assert report["kind"] == kind
    external = rows_of(folder / "out" / "table-external.csv")
    assert list(external[0]) == ["Kreis", "Quartier", "Wert_published"]
    published = [float(row["Wert_published"]) for row in external]
    if kind != "small-count":
        assert all(value % 5 == 0 for value in published)
    for row in rows_of(folder / "out" / "table.csv"):
        assert float(row["Wert_lower"]) <= float(row["Wert"]) <= float(row["Wert_upper"])
    assert "<h1>" in (folder / "out" / "report.html").read_text()
    again = read_table_plan(folder / "out" / "plan.yaml")
    assert again.perturbation == read_table_plan(folder / "plan.yaml").perturbation


def test_the_text_says_what_is_promised(folder, sfumato):
    (folder / "plan.yaml").write_text(PLAN.replace("KIND", "controlled"))
    ran = sfumato("protect", folder / "plan.yaml", "--out", folder / "out")
    assert "controlled rounding to base 5" in ran.out
    assert "All 4 additive constraints are satisfied." in ran.out
    assert "nothing is guaranteed" in ran.out


def test_rules_are_kept_or_nothing_is_published(folder):
    frame = pandas.read_csv(folder / "cells.csv", dtype=str)
    parts = {"value": "Wert", "dimensions": {"area": {"levels": ["Kreis", "Quartier"], "total": "0"}}}
    rule = [{"rule": "frequency", "min": 3}]
    done = sf.protect(frame, **parts, primary=rule, method={"name": "rounding", "base": 5})
    assert done.passed
    assert done.report["reader"]["unsafe"] == 3
    assert (done.data["Wert_published"].astype(int) % 5 == 0).all()
    method = {"name": "rounding", "base": 5, "kind": "deterministic"}
    with pytest.raises(ViolationError, check=coded("promise.audit.a_reader_computes_unsafe")):
        sf.protect(frame, **parts, primary=rule, method=method)


def test_one_cell_that_a_reader_computes_is_one_cell():
    frame = pandas.DataFrame({"region": ["A", "B", "C", "Total"], "n": [1, 10, 15, 26]})
    with pytest.raises(ViolationError, check=coded("promise.audit.a_reader_computes_unsafe")):
        sf.protect(
            frame,
            value="n",
            dimensions={"region": {"levels": ["region"], "total": "Total"}},
            primary=[{"rule": "frequency", "min": 3}],
            method={"name": "rounding", "base": 2, "kind": "deterministic"},
        )


def test_random_rounding_is_repeated_by_its_secret_and_follows_the_key(folder):
    frame = pandas.read_csv(folder / "cells.csv", dtype=str)
    parts = {"value": "Wert", "dimensions": {"area": {"levels": ["Kreis", "Quartier"], "total": "0"}}}
    method = {"name": "rounding", "base": 5, "kind": "random", "secret": "kept in the house"}
    one, two = (sf.protect(frame, **parts, method=method) for _ in range(2))
    assert one.data["Wert_published"].tolist() == two.data["Wert_published"].tolist()
    frame["key"] = ["0", *(str(2**64 - 1 - place) for place in range(8))]
    keyed = sf.protect(frame, **parts, method={"name": "rounding", "base": 5, "kind": "random", "key": "key"})
    assert keyed.data["Wert_published"].tolist() == ["30", "5", "0", "5", "0", "0", "0", "15", "15"]


def test_the_secret_is_not_written_into_the_folder(folder):
    plan = read_table_plan(
        {
            "version": 1,
            "table": {"source": "cells.csv", "value": "Wert"},
            "dimensions": {"area": {"levels": ["Kreis", "Quartier"], "total": "0"}},
            "method": {"name": "rounding", "base": 5, "kind": "random", "secret": "kept in the house"},
        },
        folder,
    )
    sf.protect(plan=plan).save(folder / "out")
    assert all("kept in the house" not in path.read_text() for path in (folder / "out").iterdir())
    assert "secret" not in table_plan_dict(plan, folder)["method"]


def test_tables_that_share_cells_are_rounded_together(tmp_path):
    (tmp_path / "one.csv").write_text("a,b,n\nT,T,31\nT,x,13\nT,y,18\np,T,14\np,x,6\np,y,8\nq,T,17\nq,x,7\nq,y,10\n")
    (tmp_path / "two.csv").write_text("a,c,n\nT,T,31\nT,u,4\nT,v,27\np,T,14\np,u,1\np,v,13\nq,T,17\nq,u,3\nq,v,14\n")
    flat = {"total": "T"}
    done = sf.protect(
        plan=read_table_plan(
            {
                "version": 1,
                "table": {"value": "n"},
                "tables": [
                    {
                        "name": "one",
                        "source": "one.csv",
                        "dimensions": {"a": {"column": "a", **flat}, "b": {"column": "b", **flat}},
                    },
                    {
                        "name": "two",
                        "source": "two.csv",
                        "base": 10,
                        "dimensions": {"a": {"column": "a", **flat}, "c": {"column": "c", **flat}},
                    },
                ],
                "method": {"name": "rounding", "base": 5, "steps": 3},
            },
            tmp_path,
        )
    )
    one, two = (
        {key[:2]: int(key[2]) for key in zip(*list(table.external.texts.values()), strict=True)}
        for table in done.tables.values()
    )
    assert one["T", "T"] == two["T", "T"] and one["p", "T"] == two["p", "T"]
    assert all(value % 10 == 0 for value in two.values())
    assert all(value % 5 == 0 for value in one.values())
    assert done.report["additivity"]["broken"] == 0
    done.save(tmp_path / "out")
    assert (tmp_path / "out" / "two" / "table-external.csv").exists()


def test_a_base_below_the_precision_is_refused(folder):
    (folder / "plan.yaml").write_text(PLAN.replace("KIND", "controlled").replace("base: 5", "base: 0.5"))
    with pytest.raises(PlanError, check=coded("plan.base")):
        sf.protect(folder / "plan.yaml")


def test_the_audit_attacks_rounded_tables(folder, sfumato):
    plan = PLAN + "primary: [{rule: frequency, min: 3}]\n"
    (folder / "plan.yaml").write_text(plan.replace("KIND", "controlled"))
    assert sfumato("protect", folder / "plan.yaml", "--out", folder / "out").code == 0
    for name in ("table-external.csv", "table.csv"):
        ran = sfumato("audit", folder / "out" / name, "--plan", folder / "plan.yaml")
        assert ran.code == 0, ran.err
    (folder / "plan.yaml").write_text(plan.replace("KIND", "deterministic"))
    published = "Kreis,Quartier,Wert\n0,0,30\n1,0,10\n1,1,0\n1,2,5\n2,0,0\n2,1,0\n2,2,0\n3,0,15\n3,1,15\n"
    (folder / "rounded.csv").write_text(published)
    ran = sfumato("audit", folder / "rounded.csv", "--plan", folder / "plan.yaml", "--json")
    report = json.loads(ran.out)
    assert ran.code == 1
    assert {(cell["cell"], cell["lower"]) for cell in report["cells"]} == {("Quartier 1", 2), ("Kreis 2", 2)}
    (folder / "rounded.csv").write_text(published.replace("0,0,30", "0,0,90"))
    assert sfumato("audit", folder / "rounded.csv", "--plan", folder / "plan.yaml").code == 3


def test_changed_tables_are_not_audited_together():
    table = pandas.DataFrame({"a": ["T", "p", "q"], "n": [9, 2, 7]})
    plan = {
        "version": 1,
        "table": {"value": "n", "frequency": "n"},
        "dimensions": {"a": {"column": "a", "total": "T"}},
        "primary": [{"rule": "frequency", "min": 3}],
        "method": {"name": "rounding", "base": 5},
    }
    with pytest.raises(PlanError, check=coded("plan.changed-together")):
        sf.audit([table, table], [{**plan, "method": {"name": "optimal"}}, plan])


def test_a_refusal_names_the_first_cells_that_a_reader_computes_in_both_languages():
    """By their codes, and never by what they hold."""
    years, areas = ["2020", "2021"], [f"a{place}" for place in range(7)]
    rows = [(year, area, 1) for year in years for area in areas] + [(year, "Total", 7) for year in years]
    frame = pandas.DataFrame(rows, columns=["year", "area", "n"])
    with pytest.raises(ViolationError) as caught:
        sf.protect(
            frame,
            value="n",
            group_by=["year"],
            dimensions={"area": {"levels": ["area"], "total": "Total"}},
            primary=[{"rule": "frequency", "min": 3}],
            method={"name": "rounding", "base": 2, "kind": "deterministic"},
        )
    names = "2020, area a0; 2020, area a1; 2020, area a2; 2020, area a3; 2020, area a4"
    assert str(caught.value).startswith(
        f"a data user computes 14 sensitive cells more closely than the rules allow: {names}"
    )
    german = words_in("de").text(caught.value.text)
    assert german.startswith(
        f"Wer die Tabelle liest, berechnet 14 sensible Zellen genauer, als die Regeln erlauben: {names} und"
    )
    assert "9 weitere. Nehmen Sie" in german
