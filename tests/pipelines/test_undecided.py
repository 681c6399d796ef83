"""Columns whose role is undecided: removed like identifiers, counted by themselves everywhere."""

import json
from pathlib import Path

import polars as pl
import pytest
import yaml

import sfumato as sf
from refusals import refused
from sfumato.errors import PlanError
from sfumato.hierarchies.role_detection.suggestion import Suggestion
from sfumato.localization.messages import words_in
from sfumato.microdata.plan.model import ROLES
from sfumato.microdata.plan.read import plan_schema
from sfumato.pipelines.apply import apply
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.suggest import suggest_for_frame
from sfumato.report.release import findings
from sfumato.report.release.report import promise_text
from sfumato.values import replace

ROWS = 60
FRAME = pl.DataFrame(
    {
        "age": [30 + row % 4 for row in range(ROWS)],
        "sex": [("f", "m")[row % 2] for row in range(ROWS)],
        "call": [row * 7 % 11 for row in range(ROWS)],
        "ui": [row % 3 for row in range(ROWS)],
    }
)
KNOWN = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}


def plan_of(**columns: dict) -> dict:
    return {
        "version": 1,
        "columns": {"age": KNOWN, "sex": KNOWN} | columns,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "output": {"format": "csv", "order": "keep"},
    }


UNDECIDED = plan_of(call={"role": "undecided"}, ui={"role": "undecided"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("undecided") / "release"
    anonymize(FRAME, UNDECIDED).save(path)
    return path


def test_undecided_columns_are_removed_and_counted(folder: Path) -> None:
    report = json.loads((folder / "report.json").read_text())
    rows = pl.read_csv(folder / "data.csv", infer_schema=False)
    assert {*rows["call"]} == {*rows["ui"]} == {"*"}
    assert report["undecided_columns"] == report["removed_columns"] == ["call", "ui"]
    assert report["column_outcomes"]["call"] == "removed"


def test_the_head_line_counts_what_awaits_a_decision(folder: Path) -> None:
    release = anonymize(FRAME, UNDECIDED)
    for language, start in (("en", "2 of 4 columns await"), ("de", "Über 2 von 4 Spalten")):
        (line,) = findings.undecided(words_in(language), release.report)
        assert line.startswith(start)
    assert "2 of 4 columns await" in promise_text(release.report)
    assert "2 of 4 columns await" in (folder / "report.html").read_text()
    assert "2 of 4 columns await" not in (folder / "report-external.html").read_text()
    decided = anonymize(FRAME, plan_of(call={"role": "identifier"}, ui={"role": "sensitive"}))
    assert findings.undecided(words_in(), decided.report) == []
    assert "undecided_columns" not in decided.report.to_dict()


def test_later_steps_treat_them_as_removed(folder: Path, tmp_path: Path) -> None:
    assert sf.verify(folder).satisfied
    FRAME.write_csv(tmp_path / "later.csv")
    apply(folder / "recoding.json", tmp_path / "later.csv", tmp_path / "out", released=False)
    rows = pl.read_csv(tmp_path / "out" / "data.csv", infer_schema=False)
    assert {*rows["call"]} == {"*"}
    assert sf.attack(folder, FRAME).to_dict()["found"] in (True, False)
    assert sf.compare(FRAME, UNDECIDED, methods=["optimal"]).answers


def test_a_schema_and_a_builder_know_them() -> None:
    role = plan_schema()["properties"]["columns"]["additionalProperties"]["properties"]["role"]
    assert role["enum"] == list(ROLES) and "undecided" in ROLES
    plan = sf.read_plan(UNDECIDED)
    assert plan.named("undecided") == ("call", "ui") and "2 undecided" in repr(plan)
    assert plan.sensitive("call").named("undecided") == ("ui",)
    rest = {**plan_of(), "other": "undecided"}
    assert anonymize(FRAME, rest).report.removed_columns == ("call", "ui")


def test_they_are_published_in_no_way() -> None:
    with pytest.raises(PlanError, check=refused("plan.faults")):
        sf.read_plan(plan_of(call={"role": "undecided", "publish": {"round": 2}}, ui={"role": "undecided"}))


def test_what_is_unknown_is_suggested_as_undecided() -> None:
    assert Suggestion("identifier", "", undecided=True).plan() == {"role": "undecided"}


BATTERY = pl.DataFrame(
    FRAME.to_dict(as_series=False)
    | {f"qz10_{item}": [f"{row * item % 97}k{row % 9}" for row in range(ROWS)] for item in range(1, 4)}
)


def test_one_line_decides_families() -> None:
    plan = plan_of(**{name: {"role": "undecided"} for name in ("call", "ui", "q1", "q2")})
    read = sf.read_plan(plan | {"decide": {"sensitive": ["q*"], "insensitive": ["call"]}})
    assert [read.columns[name].role for name in ("call", "ui", "q1", "q2")] == [
        "insensitive",
        "undecided",
        "sensitive",
        "sensitive",
    ]
    assert sf.read_plan(read.to_dict()) == read


@pytest.mark.parametrize(
    ("decide", "issue"),
    [
        ({"sensitive": ["zz*"]}, "decides_nothing"),
        ({"sensitive": ["age"]}, "decides_nothing"),
        ({"sensitive": ["call"], "insensitive": ["c*"]}, "decided_twice"),
        ({"person": ["call"]}, "unknown_key"),
        ({"sensitive": "call"}, "list"),
    ],
)
def test_decisions_about_nothing_are_refused(decide: dict, issue: str) -> None:
    with pytest.raises(PlanError, check=refused("plan.faults", issue)):
        sf.read_plan(UNDECIDED | {"decide": decide})


def test_the_suggested_line_runs_as_it_is() -> None:
    suggested = suggest_for_frame(BATTERY)
    columns = {**suggested.plan["columns"], **{f"qz10_{item}": {"role": "undecided"} for item in range(1, 4)}}
    text = replace(suggested, plan=suggested.plan | {"columns": columns}).to_yaml()
    lines = [line.removeprefix("# ") for line in text.splitlines()]
    start = next(place for place, line in enumerate(lines) if line.startswith("decide:"))
    end = lines.index("columns:")
    plan = yaml.safe_load("\n".join(["version: 1", *lines[start:end], *text.splitlines()[end:]]))
    assert "qz10_*" in plan["decide"]["sensitive"]
    assert sf.read_plan(plan).named("undecided") == ()
