"""Databases are used again, and nobody finds anything in them."""

import os
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sfumato.engines.duckdb.database import Database, connected
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.spares import MOST, SPARES
from sfumato.microdata.data_plan import DataPlan

STATE = (
    "SELECT current_setting('threads'), current_setting('temp_directory') <> '', current_setting('TimeZone'),"
    " (SELECT count(*) FROM duckdb_databases() WHERE NOT internal), (SELECT count(*) FROM duckdb_tables()),"
    " (SELECT count(*) FROM duckdb_views() WHERE NOT internal),"
    " (SELECT count(*) FROM duckdb_types() WHERE NOT internal)"
)


@pytest.fixture(autouse=True)
def none_waits():
    SPARES.end()
    yield
    SPARES.end()


def waiting() -> int:
    return len(SPARES._waiting)


def used(database: Database) -> list:
    with closing(database.session()) as session:
        return session.execute(STATE).fetchall()


def test_the_next_engine_finds_nothing_of_the_one_before(tmp_path):
    pl.DataFrame({"zip": ["1", "2"]}).write_csv(tmp_path / "rows.csv")
    with closing(Database(DataPlan())) as new:
        fresh = used(new)
    first = DuckDBEngine(tmp_path / "rows.csv")
    assert waiting() == 0
    for statement in (
        "CREATE TEMP TABLE kept AS SELECT 1 AS x",
        "CREATE TEMP TYPE labels AS ENUM ('a')",
        "SET threads = 1",
        "SET TimeZone = 'Asia/Tokyo'",
    ):
        first._run(statement)
    first._connection.register("given", {"x": np.array([1])})
    first.close()
    assert waiting() == 1
    with closing(Database(DataPlan())) as again:
        assert waiting() == 0
        assert used(again) == fresh


@pytest.mark.parametrize(
    "statement", ["ATTACH ':memory:' AS other", "SET temp_directory = '/dev/null/none'"], ids=["attached", "no folder"]
)
def test_what_cannot_be_cleaned_is_not_kept_or_is_clean(tmp_path, statement):
    database = Database(DataPlan())
    with closing(database.session()) as session:
        session.execute(statement).fetchall()
    database.close()
    with connected(tmp_path) as session:
        assert session.execute("SELECT count(*) FROM duckdb_databases() WHERE NOT internal").fetchall() == [(1,)]
        assert session.execute("SELECT current_setting('temp_directory')").fetchall() == [(str(tmp_path),)]


def test_rows_that_went_to_the_disk_take_their_database_along():
    database = Database(DataPlan())
    with closing(database.session()) as session:
        session.execute("SET memory_limit = '20MB'").fetchall()
        session.execute("CREATE TEMP TABLE many AS SELECT hash(i) AS h, i FROM range(1500000) AS r(i)").fetchall()
        assert any(database.folder.iterdir())
    database.close()
    assert waiting() == 0
    assert not database.folder.exists()


def test_a_limit_of_memory_belongs_to_one_plan():
    with closing(Database(DataPlan(memory_limit="100MB"))):
        pass
    assert waiting() == 0


def test_only_a_few_wait():
    databases = [Database(DataPlan()) for _ in range(MOST + 1)]
    for database in databases:
        database.close()
    assert waiting() == MOST


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_none_waits_in_a_forked_process():
    with closing(Database(DataPlan())):
        pass
    assert waiting() == 1
    child = os.fork()
    if child == 0:
        os._exit(waiting())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_connection_for_a_moment_is_used_again(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with connected(Path(tmp_path / name)) as session:
            found = session.execute("SELECT current_setting('temp_directory')").fetchall()
        assert found == [(str(tmp_path / name),)]
        assert waiting() == 1
