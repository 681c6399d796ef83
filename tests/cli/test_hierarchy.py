"""The command `hierarchy`: a column's ladder printed, saved, and the same again when a plan names the file."""

import pytest
import yaml

from sfumato import datasets
from sfumato.cli.main import run

FOUR_SEXES = "female;*\nmale;*\n"


@pytest.fixture
def plan(tmp_path):
    datasets.four_rows().write(tmp_path / "four.csv")
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump(datasets.four_rows().plan("four.csv", k=2), sort_keys=False), encoding="utf-8")
    return path


def test_a_ladder_is_printed(plan, capsys):
    assert run(["hierarchy", str(plan), "sex"]) == 0
    assert capsys.readouterr().out == FOUR_SEXES


def test_the_ladder_of_dates(plan, capsys):
    assert run(["hierarchy", str(plan), "date_of_birth", "--separator", ","]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "19780808,197808H1,197808**,1978Q3,1978H2,1978,197*,19**,1***,****"


@pytest.mark.parametrize("column", ["date_of_birth", "zip", "sex"])
def test_a_saved_ladder_named_in_the_plan_gives_the_same_ladder(plan, column, tmp_path, capsys):
    saved = tmp_path / "ladder.csv"
    assert run(["hierarchy", str(plan), column, "--out", str(saved)]) == 0
    content = yaml.safe_load(plan.read_text(encoding="utf-8"))
    content["columns"][column]["hierarchy"] = {"type": "file", "path": "ladder.csv"}
    plan.write_text(yaml.safe_dump(content), encoding="utf-8")
    capsys.readouterr()
    assert run(["hierarchy", str(plan), column]) == 0
    assert capsys.readouterr().out == saved.read_text(encoding="utf-8")


def test_other_data_can_be_given(plan, tmp_path, capsys):
    datasets.eight_rows().write(tmp_path / "eight.csv")
    assert run(["hierarchy", str(plan), "zip", "--data", str(tmp_path / "eight.csv")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 8


def test_a_missing_value_is_no_row_of_the_ladder(plan, tmp_path, capsys):
    text = (tmp_path / "four.csv").read_text(encoding="utf-8").replace("72021;Asthma", ";Asthma")
    (tmp_path / "four.csv").write_text(text, encoding="utf-8")
    assert run(["hierarchy", str(plan), "zip"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["sexx"], 2, 'Did you mean "sex"?'),
        (["illness"], 2, "no quasi-identifier"),
        (["sex", "--out", "plan.yaml"], 2, "exists already"),
        (["sex", "--separator", "||"], 2, "one character"),
        (["sex", "--out", "none/x.csv"], 5, "cannot be written"),
    ],
)
def test_wrong_use(plan, arguments, code, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert run(["hierarchy", "plan.yaml", *arguments]) == code
    assert words in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before


def test_an_impossible_date_is_reported_without_its_value(plan, tmp_path, capsys):
    text = (tmp_path / "four.csv").read_text(encoding="utf-8").replace("19980102", "19911520")
    (tmp_path / "four.csv").write_text(text, encoding="utf-8")
    assert run(["hierarchy", str(plan), "date_of_birth"]) == 3
    error = capsys.readouterr().err
    assert "row 2" in error
    assert "date_of_birth" in error
    assert "19911520" not in error
