"""Tables counted from rows of persons: empty combinations, group disclosure, categories that are names."""

import json
from itertools import product

import pandas
import pytest

import sfumato as sf
from sfumato.cli.main import run
from sfumato.errors import PlanError
from sfumato.tables import tabulate as counting
from sfumato.tables.plan.table_plan import read_table_plan

CREW = [("Porter", "TRUE")] + [("Stoker", "TRUE")] * 9 + [("Stoker", "FALSE")] * 6
CREW += [("Steward", "TRUE")] * 7 + [("Steward", "FALSE")] * 5 + [("Mate", "FALSE")] * 4 + [("Mate", "TRUE")] * 2
DIMENSIONS = {"job": {"column": "job"}, "died": {"column": "died"}}
PLAN = {
    "version": 1,
    "table": {"value": "count", "microdata": "crew.csv"},
    "dimensions": DIMENSIONS,
    "primary": [{"rule": "frequency", "min": 3}],
}


@pytest.fixture
def folder(tmp_path):
    lines = ["job,died", *(",".join(row) for row in CREW)]
    (tmp_path / "crew.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def of(table, job, died):
    texts = table.columns.texts
    return dict(zip(zip(texts["job"], texts["died"], strict=True), texts["count_published"], strict=True))[job, died]


def protected(folder, **table):
    plan = PLAN | {"table": PLAN["table"] | table}
    return sf.protect(None, read_table_plan(plan, folder)).tables["table"]


def test_what_all_of_a_group_have_in_common_is_suppressed(folder):
    done = protected(folder)
    assert [of(done, "Porter", died) for died in ("Total", "TRUE", "FALSE")] == ["*"] * 3
    assert len(done.columns) == 5 * 3
    assert done.report["group_disclosure"] == ["job", "died"]
    rules = [rule for rule in done.plan.plain["primary"] if rule["rule"] == "group-disclosure"]
    assert [rule["dimension"] for rule in rules] == ["job", "died"]
    assert done.plan.plain["table"]["group_disclosure"] is True
    assert sf.audit(pandas.DataFrame(dict(done.external.texts)), done.plan).passed


def test_it_is_switched_off_by_a_word_and_the_page_says_so(folder):
    done = protected(folder, group_disclosure=False)
    assert of(done, "Porter", "FALSE") == "0"
    assert done.report["group_disclosure"] == []
    assert "Group disclosure was not considered" in done.page(done.report)
    assert "Group disclosure was not considered" not in protected(folder).page(done.report)


@pytest.mark.parametrize("holding", [None, "who"])
def test_persons_with_several_rows_are_groups_too(folder, holding):
    lines = ["job,died,who", *(f"{job},{died},p{place}" for place, (job, died) in enumerate(CREW)), "Porter,TRUE,p0"]
    (folder / "crew.csv").write_text("\n".join(lines) + "\n")
    done = protected(folder, **({"holding": holding} if holding else {}))
    assert of(done, "Porter", "FALSE") == "*"


def test_several_tables_have_the_rule_for_the_dimensions_that_they_have(folder):
    tables = [{"name": "both", "dimensions": DIMENSIONS}, {"name": "jobs", "dimensions": {"job": DIMENSIONS["job"]}}]
    plan = {key: own for key, own in PLAN.items() if key != "dimensions"} | {"tables": tables}
    done = sf.protect(None, read_table_plan(plan, folder))
    assert of(done.tables["both"], "Porter", "FALSE") == "*"
    assert [rule["dimension"] for rule in done.tables["jobs"].plan.plain["primary"][1:]] == ["job"]


def test_the_command_writes_it_into_the_plan(folder, capsys):
    (folder / "plan.json").write_text(json.dumps(PLAN))
    assert run(["protect", str(folder / "plan.json"), "--out", str(folder / "out")]) == 0
    (saved,) = (folder / "out").glob("plan.yaml")
    assert "group_disclosure: true" in saved.read_text() and "dimension: died" in saved.read_text()
    capsys.readouterr()
    external = next((folder / "out").rglob("table-external.csv"))
    assert run(["audit", str(external), "--plan", str(saved), "--quiet"]) == 0


def test_tables_of_cells_and_sums_have_no_rule_of_their_own():
    cells = {key: own for key, own in PLAN.items() if key != "table"} | {"table": {"value": "n"}}
    assert len(read_table_plan(cells).primary) == 1
    sums = PLAN | {"table": PLAN["table"] | {"value": "hours"}}
    assert len(read_table_plan(sums).primary) == 1
    asked = cells | {"table": {"value": "n", "group_disclosure": True}}
    assert [getattr(rule, "dimension", None) for rule in read_table_plan(asked).primary] == [None, "job", "died"]


@pytest.mark.parametrize("value", [None, "hours"])
def test_every_crossing_within_hierarchies_is_a_cell(value):
    rows = [("a", "1", "f", 3), ("a", "2", "m", 4), ("b", "1", "m", 5)]
    frame = pandas.DataFrame(rows, columns=["area", "place", "sex", "hours"])
    made = sf.tabulate(frame, {"area": {"levels": ["area", "place"]}, "sex": {"column": "sex"}}, value=value)
    units = [("Total", "Total"), ("a", "Total"), ("b", "Total"), ("a", "1"), ("a", "2"), ("b", "1")]
    keys = set(zip(made["area"], made["place"], made["sex"], strict=True))
    assert keys == {(*unit, sex) for unit, sex in product(units, ("Total", "f", "m"))} and len(made) == 18
    assert made["count"].tolist().count(0) == 4


def test_too_many_cells_are_refused_with_their_number(monkeypatch):
    monkeypatch.setattr(counting, "MOST_CELLS", 11)
    frame = pandas.DataFrame({"a": ["x", "y"], "b": ["u", "v"], "c": ["s", "s"]})
    assert len(sf.tabulate(frame, ["a", "b"])) == 9
    with pytest.raises(PlanError, match="cross in 18 cells"):
        sf.tabulate(frame, ["a", "b", "c"])


NAMES = ["Anna Becker", "Jonas Keller", "Petra Vogel", "Ida Kern", "Max Becker", "Olga Braun", "Karl Weber"]


@pytest.mark.parametrize("names", [NAMES, [f"K-{place * 7919 % 9973:05d}" for place in range(60)]])
def test_categories_that_are_persons_are_asked_about(tmp_path, names):
    frame = pandas.DataFrame({"who": names, "sex": (["f", "m"] * len(names))[: len(names)]})
    with pytest.raises(PlanError) as refused:
        sf.tabulate(frame, ["who", "sex"])
    assert refused.value.code == "plan.person-categories" and "confirmed: true" in str(refused.value)
    assert names[0] not in str(refused.value)
    dimensions = {"who": {"column": "who", "confirmed": True}, "sex": {"column": "sex"}}
    assert len(sf.tabulate(frame, dimensions)) == 3 * (len(names) + 1)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    plan = PLAN | {"dimensions": {"who": {"column": "who"}}, "table": {"value": "count", "microdata": "rows.csv"}}
    with pytest.raises(PlanError, match="single persons"):
        sf.protect(None, read_table_plan(plan, tmp_path))
