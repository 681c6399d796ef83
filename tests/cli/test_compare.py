"""`sfumato compare` from the command line."""

import json

import pytest

from sfumato import datasets


@pytest.fixture
def plan(tmp_path):
    rows = datasets.census(300)
    rows.write(tmp_path / "rows.csv")
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(rows.plan("rows.csv", 3)), encoding="utf-8")
    return path


def test_writes_the_folder_and_prints_the_table(sfumato, plan, tmp_path):
    ran = sfumato("compare", plan, "--methods", "optimal,local,mondrian", "--k", "2,5", "--out", tmp_path / "out")
    assert ran.code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["compare.csv", "compare.html", "compare.json"]
    assert ran.out.startswith("Choose ") and "mondrian" in ran.out
    assert "compare.html" in ran.err


def test_json_and_quiet(sfumato, plan, tmp_path):
    out = tmp_path / "out"
    ran = sfumato("compare", plan, "--k", "2", "--suppression", "0,0.1", "--out", out, "--json", "--quiet")
    runs = json.loads(ran.out)["runs"]
    assert [run["suppression"] for run in runs] == [0.0, 0.1] * 4
    assert ran.err == ""


def test_no_answer_at_all(sfumato, plan, tmp_path):
    ran = sfumato("compare", plan, "--k", "9999", "--methods", "mondrian", "--out", tmp_path / "out")
    assert ran.code == 4 and "No method found a release" in ran.out
    assert (tmp_path / "out" / "compare.html").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--methods", "optimum"), "Did you mean"),
        (("--k", "two"), "separated by commas"),
        (("--engine", "abacus"), "is no engine"),
    ],
)
def test_wrong_use(sfumato, plan, tmp_path, options, words):
    ran = sfumato("compare", plan, *options, "--out", tmp_path / "out")
    assert ran.code == 2 and words in ran.err and not (tmp_path / "out").exists()


def test_nothing_is_overwritten(sfumato, plan, tmp_path):
    (tmp_path / "out").mkdir()
    ran = sfumato("compare", plan, "--out", tmp_path / "out")
    assert ran.code == 2 and "exists" in ran.err


def test_changes_are_tried_on_request_and_one_is_taken(sfumato, tmp_path) -> None:
    rows = "".join(f"{age};x\n" for age in [30] * 20 + [50] * 20 + [70, 71])
    (tmp_path / "rows.csv").write_text(f"age;town\n{rows}", encoding="utf-8")
    known = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "data": {"source": "rows.csv"},
        "columns": {"age": known, "town": known},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal"},
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    asked = sfumato("anonymize", tmp_path / "plan.json", "--out", tmp_path / "one", "--remedies", "--json")
    advice = json.loads(asked.out)["advice"]
    assert asked.code == 0 and advice["remedies"]
    taken = sfumato("anonymize", tmp_path / "plan.json", "--out", tmp_path / "two", "--apply", "1", "--json")
    assert taken.code == 0
    after = advice["remedies"][0]["after"]
    assert json.loads(taken.out)["mean_loss"] == pytest.approx(after["loss"])
    assert sfumato("anonymize", tmp_path / "plan.json", "--out", tmp_path / "three", "--apply", "9").code == 2
