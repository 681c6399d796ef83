"""The first job through the command line: the known answers, the release folder, re-applying."""

import csv
import json
from pathlib import Path

import pytest
import yaml

from sfumato.datasets import eight_rows, four_rows, patients

DATES = ["day", "half-month", "month", "quarter", "half-year", "year", "decade", "century", "millennium", "any"]
PATIENT_COLUMNS = {
    "name": {"role": "identifier"},
    "date_of_birth": {"role": "quasi-identifier", "hierarchy": {"type": "date", "format": "%Y%m%d", "levels": DATES}},
    "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
    "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "illness": {"role": "sensitive"},
}
MARITAL = {
    "Never-married": "NM",
    "Married-civ-spouse": "Married",
    "Married-AF-spouse": "Married",
    "Divorced": "leave",
    "Separated": "leave",
    "Widowed": "alone",
    "Married-spouse-absent": "alone",
}
ADULT_COLUMNS = {
    "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "race": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "marital-status": {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": MARITAL}},
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"type": "intervals", "start": 16, "end": 95, "widths": [5, 10, 20]},
    },
    "education": {"role": "insensitive"},
    "native-country": {"role": "insensitive"},
    "workclass": {"role": "insensitive"},
    "occupation": {"role": "sensitive"},
    "salary-class": {"role": "insensitive"},
}


def written(folder: Path, source: Path, columns: dict, k: int, method: dict, **more: object) -> Path:
    plan = {
        "version": 1,
        "data": {"source": str(source), **more.pop("data", {})},
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": k}],
        "method": method,
        "seed": 1,
        "output": {"order": "keep"} | more.pop("output", {}),
        **more,
    }
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan, sort_keys=False), encoding="utf-8")
    return path


def rows_of(path: Path, delimiter: str = ";") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter=delimiter))


@pytest.mark.parametrize(
    ("dataset", "k", "levels", "score", "reached", "satisfying"),
    [
        pytest.param(four_rows, 2, (3, 3, 0), 0.8, 2, 42, id="four rows"),
        pytest.param(eight_rows, 2, (9, 5, 0), 1.7333, 4, 2, id="eight rows"),
    ],
)
def test_known_answers_of_the_exhaustive_search(
    sfumato, tmp_path, dataset, k, levels, score, reached, satisfying
) -> None:
    source = tmp_path / "rows.csv"
    dataset().write(source)
    plan = written(tmp_path, source, PATIENT_COLUMNS, k, {"name": "exhaustive"})
    ran = sfumato("anonymize", plan, "--out", tmp_path / "out", "--json")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    assert tuple(report["levels"][name] for name in ("date_of_birth", "zip", "sex")) == levels
    assert report["loss"]["name"] == "score"
    assert report["loss"]["value"] == pytest.approx(score, abs=5e-5)
    assert report["classes"]["smallest"] == reached
    assert report["models"] == [{"model": "k-anonymity", "requested": k, "achieved": reached, "satisfied": True}]
    assert report["satisfying_nodes"] == satisfying
    assert report["nodes"] == {"total": 120, "checked": 120}


def test_the_table_of_all_nodes_holds_the_other_known_node(sfumato, tmp_path) -> None:
    source = tmp_path / "rows.csv"
    four_rows().write(source)
    plan = written(tmp_path, source, PATIENT_COLUMNS, 2, {"name": "exhaustive"})
    assert sfumato("anonymize", plan, "--out", tmp_path / "out").code == 0
    nodes = rows_of(tmp_path / "out" / "nodes.csv")
    assert len(nodes) == 120
    node = next(n for n in nodes if (n["date_of_birth"], n["zip"], n["sex"]) == ("4", "3", "0"))
    assert (float(node["loss"]), int(node["k"]), node["satisfied"]) == (0.9, 2, "true")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("k", "levels", "score", "reached", "satisfying"), [(2, (3, 2, 0), 0.6333, 2, 56), (4, (6, 5, 0), 1.4333, 4, 12)]
)
def test_known_answers_on_the_original_patients(
    sfumato, tmp_path, shared, k, levels, score, reached, satisfying
) -> None:
    plan = written(
        tmp_path, shared / "patients20.csv", PATIENT_COLUMNS, k, {"name": "exhaustive"}, data={"on_invalid": "drop"}
    )
    report = json.loads(sfumato("anonymize", plan, "--out", tmp_path / "out", "--json").out)
    assert tuple(report["levels"][name] for name in ("date_of_birth", "zip", "sex")) == levels
    assert report["loss"]["value"] == pytest.approx(score, abs=5e-5)
    assert (report["classes"]["smallest"], report["satisfying_nodes"]) == (reached, satisfying)
    assert (report["rows"], report["dropped_rows"]) == (18, 2)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("k", "rows", "height", "candidates"),
    [
        (10, 20, 4, {(0, 1, 2, 1): (0, 2.050633), (1, 1, 1, 1): (17, 2.164567)}),
        (
            5,
            50,
            3,
            {
                (0, 0, 2, 1): (37, 1.054251),
                (0, 1, 0, 2): (32, 1.116986),
                (0, 1, 1, 1): (26, 1.165972),
                (0, 1, 2, 0): (22, 2.001459),
                (1, 1, 0, 1): (34, 2.05283),
            },
        ),
    ],
)
def test_known_answers_of_samarati(sfumato, tmp_path, shared, k, rows, height, candidates) -> None:
    plan = written(
        tmp_path, shared / "adult.csv", ADULT_COLUMNS, k, {"name": "samarati", "suppression": {"rows": rows}}
    )
    report = json.loads(sfumato("anonymize", plan, "--out", tmp_path / "out", "--json").out)
    found = {
        tuple(node["levels"].values()): (node["suppressed_rows"], pytest.approx(node["loss"], abs=1e-6))
        for node in report["candidates"]
    }
    assert found == candidates
    best = min(candidates, key=lambda node: candidates[node][1])
    assert tuple(report["levels"].values()) == best
    assert sum(best) == height
    assert report["suppressed_rows"] == candidates[best][0]
    if k == 10:
        assert tuple(report["better"]["levels"].values()) == (0, 0, 1, 4)
        assert report["better"]["loss"] == pytest.approx(1.114145, abs=1e-6)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("k", "suppression", "cost"),
    [(5, 0.0, 33_627_534), (5, 0.01, 7_220_555), (10, 0.0, 55_170_356), (10, 0.01, 10_541_769)],
)
def test_known_discernibility_on_adult(sfumato, tmp_path, shared, k, suppression, cost) -> None:
    names = (shared / "adult.csv").read_text(encoding="utf-8").splitlines()[0].split(";")
    columns = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": {"type": "file", "path": str(shared / "adult_hierarchies" / f"adult_hierarchy_{name}.csv")},
        }
        for name in names
    }
    method = {"name": "optimal", "loss": "discernibility", "suppression": suppression}
    plan = written(tmp_path, shared / "adult.csv", columns, k, method)
    report = json.loads(sfumato("anonymize", plan, "--out", tmp_path / "out", "--json").out)
    assert (report["loss"]["value"], report["proved_optimal"]) == (cost, True)


def test_the_release_folder_is_as_promised(sfumato, tmp_path) -> None:
    source = tmp_path / "rows.csv"
    patients().write(source)
    method = {"name": "optimal", "suppression": 0.05}
    plan = written(tmp_path, source, PATIENT_COLUMNS, 5, method, output={"class_column": "class", "order": "keep"})
    ran = sfumato("anonymize", plan, "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("k-anonymity 5: holds")
    folder = tmp_path / "out"
    assert {path.name for path in folder.iterdir()} == {
        "data.csv",
        "report.html",
        "report-external.html",
        "report.json",
        "report-external.json",
        "plan.yaml",
        "recoding.json",
    }
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    contract = {
        "version": str,
        "method": str,
        "proved_optimal": bool,
        "levels": dict,
        "loss": dict,
        "rows": int,
        "suppressed_rows": int,
        "classes": dict,
        "models": list,
        "risk": dict,
        "utility": dict,
        "nodes": dict,
        "seconds": dict,
        "engine": str,
        "seed": int,
        "input_sha256": str,
    }
    assert {key: type(report[key]) for key in contract} == contract
    stages = {"count", "search", "bound", "apply", "perturb", "verify", "check", "trade_off"}
    assert set(report["seconds"]) == stages | {"total"}
    rows = rows_of(folder / "data.csv")
    assert len(rows) == report["rows"] - report["suppressed_rows"]
    assert {row["name"] for row in rows} == {"*"}
    labels = {row["class"]: (row["date_of_birth"], row["zip"], row["sex"]) for row in rows}
    assert len(labels) == len(set(labels.values())) == report["classes"]["count"]
    assert sfumato("verify", folder).code == 0


def test_the_resolved_plan_gives_the_same_release_again(sfumato, tmp_path) -> None:
    source = tmp_path / "data" / "rows.csv"
    source.parent.mkdir()
    patients().write(source)
    plan = written(tmp_path, Path("data/rows.csv"), PATIENT_COLUMNS, 3, {"name": "optimal", "suppression": 0.02})
    assert sfumato("anonymize", plan, "--out", tmp_path / "one").code == 0
    assert sfumato("anonymize", tmp_path / "one" / "plan.yaml", "--out", tmp_path / "two").code == 0
    assert (tmp_path / "one" / "data.csv").read_bytes() == (tmp_path / "two" / "data.csv").read_bytes()


def test_data_given_on_the_command_line_replace_the_source(sfumato, tmp_path) -> None:
    four_rows().write(tmp_path / "four.csv")
    eight_rows().write(tmp_path / "eight.csv")
    plan = written(tmp_path, Path("four.csv"), PATIENT_COLUMNS, 2, {"name": "exhaustive"})
    ran = sfumato("anonymize", plan, "--data", tmp_path / "eight.csv", "--out", tmp_path / "out", "--json")
    assert json.loads(ran.out)["rows"] == 8


@pytest.mark.parametrize("engine", ["duckdb", "frames"])
def test_every_engine_writes_the_same_bytes(sfumato, tmp_path, engine) -> None:
    source = tmp_path / "rows.csv"
    patients().write(source)
    method = {"name": "optimal", "suppression": 0.05}
    output = {"order": "shuffle", "suppressed": "star", "class_column": "class"}
    plan = written(tmp_path, source, PATIENT_COLUMNS, 5, method, output=output, data={"separator": ";"})
    assert sfumato("anonymize", plan, "--out", tmp_path / "reference").code == 0
    assert sfumato("anonymize", plan, "--engine", engine, "--out", tmp_path / "out").code == 0
    assert (tmp_path / "out" / "data.csv").read_bytes() == (tmp_path / "reference" / "data.csv").read_bytes()


def released(sfumato, folder: Path) -> Path:
    patients().write(folder / "rows.csv")
    plan = written(folder, folder / "rows.csv", PATIENT_COLUMNS, 5, {"name": "optimal", "suppression": 0.05})
    assert sfumato("anonymize", plan, "--out", folder / "release").code == 0
    return folder / "release"


def test_a_recoding_is_applied_to_the_same_rows_alike(sfumato, tmp_path) -> None:
    folder = released(sfumato, tmp_path)
    ran = sfumato("apply", folder / "recoding.json", tmp_path / "rows.csv", "--out", tmp_path / "again")
    assert ran.code == 0, ran.err
    assert (tmp_path / "again" / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()


def test_a_recoding_that_breaks_a_promise_on_new_rows_says_so(sfumato, tmp_path) -> None:
    folder = released(sfumato, tmp_path)
    patients(100, seed=3).write(tmp_path / "new.csv")
    arguments = ("apply", folder / "recoding.json", tmp_path / "new.csv", "--out", tmp_path / "new")
    ran = sfumato(*arguments)
    assert ran.code == 1
    assert "violates a privacy model" in ran.err
    assert not (tmp_path / "new").exists()
    assert sfumato(*arguments, "--drop-violating").code == 0
    names = "date_of_birth,zip,sex"
    assert sfumato("verify", tmp_path / "new" / "data.csv", "--k", 5, "--quasi-identifiers", names).code == 0


def test_a_value_outside_the_recoding_is_refused(sfumato, tmp_path) -> None:
    folder = released(sfumato, tmp_path)
    patients(20, seed=3).write(tmp_path / "new.csv")
    text = (
        (tmp_path / "new.csv").read_text(encoding="utf-8").replace(";female;", ";other;").replace(";male;", ";other;")
    )
    (tmp_path / "new.csv").write_text(text, encoding="utf-8")
    recoding = json.loads((folder / "recoding.json").read_text(encoding="utf-8"))
    recoding["plan"]["columns"]["sex"]["hierarchy"] = {"type": "order", "size": 2}
    (folder / "recoding.json").write_text(json.dumps(recoding), encoding="utf-8")
    ran = sfumato("apply", folder / "recoding.json", tmp_path / "new.csv", "--out", tmp_path / "new")
    assert ran.code == 3
    assert 'column "sex"' in ran.err
    assert "other" not in ran.err
