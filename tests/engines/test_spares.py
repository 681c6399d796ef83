"""Databases are used again, and nobody finds anything in them."""

import os
from contextlib import closing

import numpy as np
import polars as pl
import pytest

from sfumato.engines.duckdb.database import MOST, SPARES, Database, Instance, connected
from sfumato.engines.duckdb.engine import DuckDBEngine
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
    SPARES.end()
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
    with closing(Database(DataPlan(), [tmp_path / "rows.csv"])) as again:
        assert waiting() == 0
        assert used(again) == fresh


def test_what_cannot_be_cleaned_is_not_kept():
    database = Database(DataPlan())
    with closing(database.session()) as session:
        session.execute("ATTACH ':memory:' AS other").fetchall()
    database.close()
    assert waiting() == 0
    assert not database.folder.exists()


def test_rows_that_went_to_the_disk_take_their_database_along():
    instance = Instance([], memory_bytes=20_000_000)
    with closing(instance.session()) as session:
        session.execute("CREATE TEMP TABLE many AS SELECT hash(i) AS h, i FROM range(1500000) AS r(i)").fetchall()
        assert any(instance.scratch.path.iterdir())
        assert not instance.rest()
    instance.close()
    assert not instance.scratch.path.exists()


def test_files_that_an_engine_left_take_its_database_along():
    database = Database(DataPlan())
    (database.folder / "source0.csv").write_text("secret")
    database.close()
    assert waiting() == 0
    assert not database.folder.exists()


def test_one_that_waits_has_no_folder_and_is_taken_for_its_own_files_alone(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    with closing(Database(DataPlan(), [one])) as first:
        folder = first.folder
        assert folder.stat().st_mode & 0o777 == 0o700
    assert waiting() == 1
    assert not folder.exists()
    with closing(Database(DataPlan(), [one / "data.csv"])) as again:
        assert (again.folder, waiting()) == (folder, 0)
        assert folder.stat().st_mode & 0o777 == 0o700
    with closing(Database(DataPlan(), [other])) as another:
        assert another.folder != folder
        assert waiting() == 1
    folder.mkdir()  # which somebody else made meanwhile
    with closing(Database(DataPlan(), [one])) as new:
        assert new.folder != folder


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
    for _ in range(2):
        with connected(tmp_path) as session:
            session.execute(f"COPY (SELECT 1) TO '{tmp_path / 'one.csv'}'").fetchall()
        assert waiting() == 1
