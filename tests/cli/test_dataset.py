"""The command `dataset`: files and plans, and no surprise for what is there already."""

import duckdb
import pytest
import yaml

from sfumato.cli.main import run


def test_census_to_parquet(tmp_path):
    path = tmp_path / "x.parquet"
    assert run(["dataset", "census", "--rows", "1000", "--seed", "3", "--out", str(path)]) == 0
    assert len(duckdb.from_parquet(str(path)).fetchall()) == 1000


def test_patients_with_their_plan_in_a_new_folder(tmp_path, capsys):
    plan = tmp_path / "new" / "plan.yaml"
    assert run(["dataset", "patients", "--out", str(plan.parent), "--plan", str(plan), "--k", "3"]) == 0
    content = yaml.safe_load(plan.read_text(encoding="utf-8"))
    assert content["data"] == {"source": "patients.csv", "separator": ";"}
    assert content["privacy"] == [{"model": "k-anonymity", "k": 3}]
    lines = (plan.parent / "patients.csv").read_text(encoding="utf-8").splitlines()
    assert (lines[0], len(lines)) == ("name;date_of_birth;sex;zip;illness", 301)
    streams = capsys.readouterr()
    assert (streams.out, "300 rows" in streams.err) == ("", True)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["censsus", "--out", "x.csv"], 2, 'Did you mean "census"?'),
        (["census", "--out", "there.csv"], 2, "exists already"),
        (["census", "--out", "x.xlsx"], 2, "neither"),
        (["stroke", "--rows", "5", "--out", "x.csv"], 2, "--rows"),
        (["census", "--rows", "0", "--out", "x.csv"], 2, "rows"),
        (["census"], 2, "--out"),
        (["census", "--out", "there.csv/x.csv"], 5, "folder"),
    ],
)
def test_wrong_use(arguments, code, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.csv").write_text("mine")
    assert run(["dataset", *arguments]) == code
    assert words in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there.csv"]
    assert (tmp_path / "there.csv").read_text() == "mine"
