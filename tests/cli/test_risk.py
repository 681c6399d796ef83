"""`sfumato risk` on files."""

import json
import sqlite3
from pathlib import Path

import pytest

LINES = "sex;age;zip\nm;30;72021\nm;30;72021\nf;40;72062\n?;50;72062\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(LINES)
    return path


def test_it_prints_figures(sfumato, file):
    ran = sfumato("risk", file, "--quasi-identifiers", "sex,age", "--separator", ";")
    assert ran.code == 0
    assert "4 rows in 3 classes by sex, age" in ran.out
    assert "2 rows (50.0%)" in ran.out
    assert "72021" not in ran.out


def test_it_prints_json(sfumato, file):
    ran = sfumato(
        "risk", file, "--quasi-identifiers", "sex,age", "--population-size", 100, "--json", "--threshold", 0.4
    )
    found = json.loads(ran.out)
    assert (found["figures"]["uniques"], found["prosecutor"]["rows_above"]) == (2, 4)
    assert found["uniqueness"]["population_size"] == 100
    assert found["outliers"]["columns"] == {"sex": 2, "age": 2}


def test_missing_values_are_a_policy(sfumato, file):
    arguments = ["risk", file, "--quasi-identifiers", "sex,age", "--missing", "?", "--on-missing", "drop", "--json"]
    found = json.loads(sfumato(*arguments).out)
    assert (found["figures"]["rows"], found["dropped_rows"]) == (3, 1)


def test_it_writes_a_page(sfumato, file, tmp_path):
    ran = sfumato("risk", file, "--quasi-identifiers", "sex", "--html", tmp_path / "risk.html", "--quiet")
    assert (ran.code, ran.out) == (0, "")
    assert "http" not in (tmp_path / "risk.html").read_text().replace("http-equiv", "")
    assert sfumato("risk", file, "--quasi-identifiers", "sex", "--html", tmp_path / "risk.html").code == 2


def test_quiet_leaves_the_result(sfumato, file):
    told = sfumato("risk", file, "--quasi-identifiers", "sex,age").out
    assert told and sfumato("risk", file, "--quasi-identifiers", "sex,age", "--quiet").out == told


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--quasi-identifiers", "sex,agee"], 2, 'Did you mean "age"'),
        ([], 2, "no quasi-identifier"),
        (["--quasi-identifiers", "sex", "--on-missing", "dropp"], 2, 'Did you mean "drop"'),
        (["--quasi-identifiers", "sex", "--population-size", "3"], 2, "smaller than"),
    ],
)
def test_wrong_use(sfumato, file, arguments, code, message):
    ran = sfumato("risk", file, *arguments)
    assert ran.code == code
    assert message in ran.err


def test_no_such_file(sfumato, tmp_path):
    assert sfumato("risk", tmp_path / "no.csv", "--quasi-identifiers", "a").code == 3


def test_the_table_of_a_database_is_named(sfumato, tmp_path):
    with sqlite3.connect(tmp_path / "rows.sqlite") as base:
        base.execute("CREATE TABLE people (sex TEXT, age INTEGER)")
        base.executemany("INSERT INTO people VALUES (?, ?)", [("m", 30), ("m", 30), ("f", 40)])
        base.execute("CREATE TABLE visits (day TEXT)")
    base.close()
    arguments = ["risk", tmp_path / "rows.sqlite", "--quasi-identifiers", "sex,age"]
    assert "2 tables" in sfumato(*arguments).err
    ran = sfumato(*arguments, "--table", "people")
    assert (ran.code, ran.err) == (0, "")
    assert "3 rows in 2 classes by sex, age" in ran.out
    (tmp_path / "plan.yaml").write_text(
        "version: 1\ndata: {source: rows.sqlite, table: people}\nprivacy: [{model: k-anonymity, k: 2}]\n"
        "columns: {sex: {role: quasi-identifier, hierarchy: {type: any}}, age: {role: insensitive}}\n"
    )
    arguments = ["risk", tmp_path / "rows.sqlite", "--plan", tmp_path / "plan.yaml"]
    assert "3 rows in 2 classes by sex" in sfumato(*arguments).out
    assert 'no "visit"' in sfumato(*arguments, "--table", "visit").err
