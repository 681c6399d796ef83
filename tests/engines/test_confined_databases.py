"""Databases open the files of their job alone, in every process; and one function starts all of them."""

import ast
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

import sfumato as sf
from sfumato.engines.duckdb.database import Database, connected
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataError, EngineError, PlanError
from sfumato.microdata.data_plan import DataPlan

SOURCES = Path(sf.__file__).parent
PLAN = {
    "version": 1,
    "columns": {
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "ill": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
}
OUTSIDE = (
    "FROM read_text('{other}')",
    "FROM read_csv('{folder}/../other/secret.csv')",
    "COPY (SELECT 1) TO '{other}'",
    "COPY (SELECT 1) TO '{folder}/new.csv'",
    "FROM glob('{folder}/*')",
    "ATTACH '{other}' AS a",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET allowed_paths = ['{other}']",
    "SET allowed_directories = ['/']",
    "SET temp_directory = '/'",
    "SET lock_configuration = false",
    "SET log_query_path = '{folder}/log'",
    "FROM duckdb_secrets()",
)


@pytest.fixture
def rows(tmp_path):
    """Rows in a folder of their own, and a secret in another."""
    (tmp_path / "job").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.csv").write_text("zip,ill\nsEcReT,1\n")
    path = tmp_path / "job" / "rows.csv"
    path.write_text("zip,ill\n" + "1,a\n1,b\n2,a\n2,b\n" * 3)
    return path


@pytest.mark.parametrize("statement", OUTSIDE)
def test_nothing_but_the_source_is_opened(rows, statement) -> None:
    other = rows.parents[1] / "other" / "secret.csv"
    with closing(DuckDBEngine(rows)) as engine:
        assert engine.ask(f"SELECT count(*) FROM {engine.source.table}") == [(12,)]
        with pytest.raises((EngineError, DataError)) as refused:
            engine.ask(statement.format(folder=rows.parent, other=other))
        assert "sEcReT" not in str(refused.value)
    assert [path.name for path in rows.parent.iterdir()] == ["rows.csv"]
    assert "sEcReT" in other.read_text()


def test_a_database_that_waits_opens_no_file_of_the_job_before(rows) -> None:
    """Nor does one that is started for another job open it."""
    with closing(DuckDBEngine(rows)):
        pass
    with connected(rows.parents[1] / "other") as session:
        assert session.execute(f"FROM read_csv('{rows.parents[1]}/other/secret.csv')").fetchall()
        with pytest.raises(duckdb.PermissionException):
            session.execute(f"FROM read_csv('{rows}')").fetchall()


@pytest.mark.parametrize("name", ["a[1]*?.csv", "with 'quote.csv", "Zürich ★.csv", "[x]/rows.csv", "deep/er/rows.csv"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_release_opens_its_own_files_whatever_they_are_called(rows, tmp_path, name, form) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(rows.read_text())
    with closing(sf.anonymize(path, PLAN | {"output": {"format": form}})) as release:
        out = release.save(path.parent / "o[u]t")
    assert sf.verify(out).satisfied


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_relative_paths_folders_and_patterns_are_opened(rows, monkeypatch, form) -> None:
    monkeypatch.chdir(rows.parent)
    (rows.parent / "more.csv").write_text(rows.read_text())
    for path, count in (("rows.csv", 12), (".", 24), ("*.csv", 24), ("../job/rows.csv", 12)):
        with closing(sf.anonymize(path, PLAN | {"output": {"format": form}})) as release:
            assert release.report.rows == count


def test_a_view_or_macro_of_a_database_is_no_table_of_it(tmp_path) -> None:
    file = tmp_path / "rows.duckdb"
    secret = tmp_path / "sessions.key"
    secret.write_text("sEcReT")
    with duckdb.connect(str(file)) as made:
        made.execute(f"CREATE VIEW people AS SELECT content AS zip, 'a' AS ill FROM read_text('{secret}')")
        made.execute(f"CREATE MACRO persons() AS TABLE SELECT content AS zip FROM read_text('{secret}')")
    for table in (None, "people", "persons"):
        with pytest.raises(
            PlanError, match="no" if table == "persons" else "views of DuckDB databases are not followed"
        ):
            DuckDBEngine(file, DataPlan(table=table))


def test_rows_go_to_the_scratch_folder_when_memory_ends(tmp_path) -> None:
    """What a limit of memory asks for goes on working: rows on disk, and Parquet files written and read."""
    plan = DataPlan(memory_limit="40MB", temp_folder=tmp_path)
    target = tmp_path / "many.parquet"
    with closing(Database(plan, [target])) as database, closing(database.session()) as session:
        session.execute("CREATE TEMP TABLE many AS SELECT hash(i) AS h, i FROM range(3000000) AS r(i)").fetchall()
        assert any(database.folder.iterdir())
        session.execute(f"COPY (SELECT * FROM many ORDER BY h) TO '{target}' (FORMAT parquet)").fetchall()
        assert session.execute(f"SELECT count(*) FROM '{target}'").fetchall() == [(3_000_000,)]
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def _starts(tree: ast.AST) -> list[int]:
    """The lines that reach for DuckDB's own `connect`: by the module, by what loads it, or by name."""
    modules = {"duckdb", "_duckdb"}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in {"connect", "default_connection"}:
            owner = node.value.func if isinstance(node.value, ast.Call) else node.value
            if isinstance(owner, ast.Name) and owner.id in {*modules, "compiled", "import_module", "__import__"}:
                found.append(node.lineno)
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            found.append(node.lineno)
        if isinstance(node, ast.Import) and any(name.name in modules for name in node.names):
            found.append(node.lineno)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):  # a name for the module
            called = node.value.func
            if isinstance(called, ast.Name) and called.id == "compiled" and "connect" in ast.unparse(tree):
                found.append(node.lineno)
    return found


@pytest.mark.parametrize(
    "source",
    [
        "import duckdb",
        "from duckdb import connect",
        "import _duckdb as d\nd.connect()",
        "compiled().connect(':memory:')",
        "import_module('duckdb').connect()",
        "library = compiled()\nlibrary.connect()",
    ],
)
def test_another_start_is_seen(source) -> None:
    assert _starts(ast.parse(source))


def test_one_function_starts_duckdb() -> None:
    """In all sources, the module of instances aside: the others ask it, and are confined with it."""
    found = {
        path.relative_to(SOURCES).as_posix(): lines
        for path in SOURCES.rglob("*.py")
        if "duckdb" in (text := path.read_text(encoding="utf-8")) and (lines := _starts(ast.parse(text)))
    }
    assert list(found) == ["engines/duckdb/database.py"]
    assert len(found["engines/duckdb/database.py"]) == 1


def test_views_of_sqlite_see_their_own_file_alone(tmp_path) -> None:
    """They are followed; SQLite lets none name another database, or load a library."""
    file, other = tmp_path / "rows.sqlite", tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as made, made:
        made.execute("CREATE TABLE secrets AS SELECT 'sEcReT' AS word")
    with closing(sqlite3.connect(file)) as made, made:
        made.execute("CREATE TABLE people AS SELECT '1' AS zip UNION ALL SELECT '2'")
        made.execute("CREATE VIEW zips AS SELECT zip FROM people WHERE zip > '1'")
        made.execute("CREATE VIEW loading AS SELECT load_extension('/none') AS zip")
    with closing(DuckDBEngine(file, DataPlan(table="zips"))) as engine:
        assert engine.first_rows(9) == [{"zip": "2"}]
    with pytest.raises(DataError):
        DuckDBEngine(file, DataPlan(table="loading"))
    with closing(sqlite3.connect(file)) as made, made:
        made.execute("PRAGMA writable_schema = 1")  # those who make a file write into it what they like
        forged = "CREATE VIEW forged AS SELECT word FROM other.secrets"
        made.execute("INSERT INTO sqlite_master VALUES ('view', 'forged', 'forged', 0, ?)", [forged])
    for table in ("forged", "zips"):
        with pytest.raises(DataError):
            DuckDBEngine(file, DataPlan(table=table))
