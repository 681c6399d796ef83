"""K-Optimize through the command line: the known answer, and what the folder says of it."""

import json
from pathlib import Path

import yaml

from sfumato.datasets import stroke

PLAN = """
version: 1
data: {source: stroke.csv}
columns:
  id:                {role: identifier}
  gender:            {role: quasi-identifier, hierarchy: {type: any}}
  age:
    role: quasi-identifier
    min_level: 1
    hierarchy: {type: intervals, start: 0, end: 82, bounds: [[28, 56]]}
  hypertension:      {role: quasi-identifier, hierarchy: {type: any}}
  heart_disease:     {role: quasi-identifier, hierarchy: {type: any}}
  ever_married:      {role: quasi-identifier, hierarchy: {type: any}}
  work_type:         {role: quasi-identifier, hierarchy: {type: any}}
  residence_type:    {role: quasi-identifier, hierarchy: {type: any}}
  avg_glucose_level:
    role: quasi-identifier
    min_level: 1
    hierarchy: {type: intervals, start: 55, end: 272, bounds: [[127.01, 199.01]]}
  bmi:
    role: quasi-identifier
    min_level: 1
    hierarchy: {type: intervals, start: 10, end: 98, bounds: [[40, 70]], numbers: decimal}
  smoking_status:    {role: quasi-identifier, hierarchy: {type: any}}
  stroke:            {role: quasi-identifier, hierarchy: {type: any}}
privacy: [{model: k-anonymity, k: 10}]
method: {name: k-optimize, features: isolate}
"""


def written(folder: Path, **method: object) -> Path:
    stroke().write(folder / "stroke.csv")
    plan = yaml.safe_load(PLAN)
    plan["method"] |= method
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan, sort_keys=False), encoding="utf-8")
    return path


def test_the_known_answer_and_its_folder(sfumato, tmp_path) -> None:
    ran = sfumato("anonymize", written(tmp_path), "--out", tmp_path / "out", "--json", "--quiet")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    saved = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert {name: saved[name] for name in report} == report
    assert report["loss"]["value"] == 3628
    assert (report["proved_optimal"], report["gap"], report["bound"]) == (True, 0.0, 3628)
    assert report["published"]["smoking_status"] == ["formerly smoked", "never smoked", "*"]
    assert report["features"] == {"kind": "isolate", "count": 25}
    verified = sfumato("verify", tmp_path / "out")
    assert verified.code == 0, verified.err


def test_no_time_gives_a_release_and_its_gap(sfumato, tmp_path) -> None:
    ran = sfumato("anonymize", written(tmp_path, time_limit=0), "--out", tmp_path / "out", "--json", "--quiet")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    assert not report["proved_optimal"]
    assert 0 < report["gap"] < 1
    assert "time limit" in report["remarks"][0]
    assert all(model["satisfied"] for model in report["models"])


def test_without_suppression_nothing_is_suppressed(sfumato, tmp_path) -> None:
    plan = written(tmp_path, features="ordered", suppression=0)
    ran = sfumato("anonymize", plan, "--out", tmp_path / "out", "--json", "--quiet")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    assert (report["suppressed_rows"], report["proved_optimal"]) == (0, True)


def test_refuses_another_model_by_name(sfumato, tmp_path) -> None:
    path = written(tmp_path)
    plan = yaml.safe_load(path.read_text(encoding="utf-8"))
    plan["columns"]["stroke"] = {"role": "sensitive"}
    plan["privacy"].append({"model": "l-diversity", "variant": "distinct", "l": 2, "column": "stroke"})
    path.write_text(yaml.safe_dump(plan, sort_keys=False), encoding="utf-8")
    ran = sfumato("anonymize", path, "--out", tmp_path / "out")
    assert ran.code == 2
    assert "k-optimize" in ran.err
    assert not (tmp_path / "out").exists()
