"""`sfumato verify` and `sfumato check` on databases of several tables."""

import sqlite3
from pathlib import Path

import pytest


@pytest.fixture
def base(tmp_path) -> Path:
    """Of two tables: in one somebody is alone."""
    place = tmp_path / "rows.sqlite"
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE TABLE people (sex TEXT, age INTEGER)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [*[("m", 30)] * 12, ("f", 40)])
        connection.execute("CREATE TABLE men (sex TEXT, age INTEGER)")
        connection.executemany("INSERT INTO men VALUES (?, ?)", [("m", 30)] * 12)
    connection.close()
    return place


@pytest.mark.parametrize("command", [("verify", "--k", "2"), ("check", "--policy", "ema-0070")])
def test_the_table_of_a_database_is_named(sfumato, base, command):
    arguments = [command[0], base, *command[1:], "--quasi-identifiers", "sex,age"]
    assert "2 tables" in sfumato(*arguments).err
    assert [sfumato(*arguments, "--table", name).code for name in ("people", "men")] == [1, 0]
    assert 'no "women"' in sfumato(*arguments, "--table", "women").err
