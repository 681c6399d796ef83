"""Ordinary mistakes: each with its reason and exit code, none reported as a bug in Sfumato."""

import json

import pytest
import yaml

from sfumato.cli import main

ROWS = "age,zip\n" + "30,7000\n30,7000\n40,7001\n40,7001\n"
PLAN = {
    "version": 1,
    "data": {"source": "rows.csv"},
    "columns": {
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"order": "keep"},
}
RISK = ("risk", "rows.csv", "--quasi-identifiers", "age")
VERIFY = ("verify", "rows.csv", "--k", "2", "--quasi-identifiers", "age")
LONG = "x" * 300 + ".csv"
ONE_CHARACTER = "the separator must be one character"
CASES = {
    **{
        f"{arguments[0]} with the separator {separator!r}": ((*arguments, "--separator", separator), 2, ONE_CHARACTER)
        for arguments in (RISK, VERIFY, ("suggest", "rows.csv"))
        for separator in ("", ";;", "\n")
    },
    "a report in no folder": ((*RISK, "--html", "nowhere/x.html"), 5, "x.html cannot be written: No such file"),
    "a plan in no folder": (("suggest", "rows.csv", "--out", "nowhere/p.yaml"), 5, "p.yaml cannot be written"),
    "schemas in a file": (("schema", "--out", "plan.yaml"), 5, "the folder plan.yaml cannot be made: File exists."),
    "jobs in a file": (("serve", "--jobs", "rows.csv"), 2, "'rows.csv' is a file"),
    "a long name to read": (("risk", LONG, "--quasi-identifiers", "age"), 2, "too long"),
    "a long name to guess from": (("suggest", LONG), 2, "too long"),
    "a long name to verify": (("verify", LONG, "--k", "2", "--quasi-identifiers", "age"), 2, "too long"),
    "a long name to write": (("anonymize", "plan.yaml", "--out", LONG), 2, "too long"),
    "rows in place of a plan": (("anonymize", "rows.csv", "--out", "out"), 2, "sfumato suggest ROWS --out plan.yaml"),
    "a plan in place of a release": (("verify", "plan.yaml"), 2, "the file of rows or the release folder"),
    "a plan to guess from": (("suggest", "plan.yaml"), 2, "plan.yaml is a plan by its ending"),
    "a plan in place of rows": (("risk", "plan.yaml", "--quasi-identifiers", "age"), 2, "is a plan by its ending"),
    "the plan of a table for rows": (("anonymize", "table.yaml", "--out", "out"), 2, "sfumato protect PLAN"),
    "the plan of rows for a table": (("protect", "plan.yaml", "--out", "out"), 2, "sfumato anonymize PLAN"),
    "a misspelled column": (("risk", "rows.csv", "--quasi-identifiers", "Agee,zip"), 2, 'Did you mean "age"?'),
    "a misspelled column alone": (("risk", "rows.csv", "--quasi-identifiers", "Agee"), 2, 'Did you mean "age"?'),
    "two misspelled columns": (("risk", "rows.csv", "--quasi-identifiers", "Agee,zipp"), 2, 'Did you mean "zip"?'),
    "a misspelled column to verify": ((*VERIFY[:-1], "AGE"), 2, 'Did you mean "age"?'),
    "no columns": (("risk", "rows.csv"), 2, "--quasi-identifiers sex,age"),
    "cells in place of a plan": (
        ("protect", "rows.csv", "--out", "out"),
        2,
        "A plan of a table is a YAML or JSON file",
    ),
    "cells to compare": (("compare-tables", "rows.csv"), 2, "sfumato docs tables"),
    "cells to audit by": (("audit", "rows.csv", "--plan", "rows.csv"), 2, "sfumato docs tables"),
    "no share": (("compare", "plan.yaml", "--suppression", "nan", "--out", "out"), 2, "from 0 to 1"),
    "no share among others": (("compare", "plan.yaml", "--suppression", "0,nan", "--out", "out"), 2, "from 0 to 1"),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(PLAN), encoding="utf-8")
    (tmp_path / "table.yaml").write_text("version: 1\ntable: {source: rows.csv, value: age}\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_told_as_one(sfumato, folder, name) -> None:
    arguments, code, words = CASES[name]
    ran = sfumato(*arguments)
    assert ran.code == code, ran.err
    assert words in ran.err
    assert "bug in Sfumato" not in ran.err
    assert ran.out == ""
    assert {path.name for path in folder.iterdir()} == {"rows.csv", "plan.yaml", "table.yaml"}


def test_another_separator_works_all_the_same(sfumato, folder) -> None:
    (folder / "rows.csv").write_text(ROWS.replace(",", ":"), encoding="utf-8")
    assert sfumato(*RISK, "--separator", ":").code == 0
    assert sfumato(*VERIFY, "--separator", ":").code == 0
    assert yaml.safe_load(sfumato("suggest", "rows.csv", "--separator", ":").out)["data"]["separator"] == ":"


@pytest.mark.parametrize("typed", ["tab", r"\t", "\t"])
def test_a_tab_can_be_typed(sfumato, folder, typed) -> None:
    (folder / "rows.csv").write_text(ROWS.replace(",", "\t"), encoding="utf-8")
    assert sfumato(*RISK, "--separator", typed).code == 0
    (folder / "rows.csv").write_text(ROWS, encoding="utf-8")
    ran = sfumato("hierarchy", "plan.yaml", "age", "--separator", typed)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "30\t*")


def test_what_an_existing_file_holds_stays(sfumato, folder) -> None:
    for arguments in ((*RISK, "--html", "rows.csv"), ("suggest", "rows.csv", "--out", "rows.csv")):
        ran = sfumato(*arguments)
        assert (ran.code, "rows.csv exists already" in ran.err) == (2, True)
    assert (folder / "rows.csv").read_text(encoding="utf-8") == ROWS


def test_nothing_is_said_about_what_was_published_where_it_is_not_known(capsys, monkeypatch) -> None:
    def fall(_arguments):
        raise IndexError

    monkeypatch.setattr(main, "_call", fall)
    assert main.run(["anonymize"]) == 5
    assert "published" not in capsys.readouterr().err


def test_schemas_are_written(sfumato, folder) -> None:
    assert sfumato("schema", "--out", "new/folder").code == 0
    assert json.loads((folder / "new" / "folder" / "plan.schema.json").read_text(encoding="utf-8"))["properties"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("risk", "latin.csv", "--quasi-identifiers", "name"),
        ("anonymize", "latin.yaml", "--out", "out"),
    ],
)
def test_another_encoding_is_told_with_the_option_for_it(sfumato, folder, arguments) -> None:
    (folder / "latin.csv").write_bytes("name,age\nJürgen,30\nKäthe,40\n".encode("latin-1"))
    (folder / "latin.yaml").write_text(yaml.safe_dump(PLAN | {"data": {"source": "latin.csv"}}), encoding="utf-8")
    ran = sfumato(*arguments)
    assert ran.code == 3
    assert "--encoding cp1252" in ran.err
    assert "data.encoding" in ran.err


def test_a_plan_is_suggested_in_another_encoding_and_says_so(sfumato, folder) -> None:
    (folder / "latin.csv").write_bytes(("name,age\n" + "Jürgen,30\nKäthe,40\n" * 10).encode("latin-1"))
    ran = sfumato("suggest", "latin.csv")
    assert ran.code == 0, ran.err
    assert yaml.safe_load(ran.out)["data"]["encoding"] == "cp1252"
    assert "--encoding" in ran.err


def test_risk_reads_other_encodings_and_says_who_attacks(sfumato, folder) -> None:
    (folder / "latin.csv").write_bytes("name,age\nJürgen,30\nKäthe,40\n".encode("latin-1"))
    ran = sfumato("risk", "latin.csv", "--quasi-identifiers", "name", "--encoding", "latin-1")
    assert ran.code == 0, ran.err
    for words in ("prosecutor: Knows that", "journalist: Knows a person", "marketer: Wants", "--population-size"):
        assert words in ran.out
    sampled = sfumato("risk", "rows.csv", "--quasi-identifiers", "age", "--population-size", "400")
    assert "journalist: Knows a person" in sampled.out
    assert "their figures agree" not in sampled.out


def test_a_wrong_separator_gives_no_plan_of_one_column(sfumato, folder) -> None:
    (folder / "semicolons.csv").write_text("age;zip\n" + "30;7000\n40;7001\n" * 10)
    ran = sfumato("suggest", "semicolons.csv", "--separator", ",")
    assert ran.code == 3
    assert "--separator" in ran.err
    assert ran.out == ""
