"""The PostgreSQL engine against a real server: counts, releases, tables written back, and a server that dies."""

import sqlite3
from collections import Counter
from datetime import date
from decimal import Decimal

import adbc_driver_postgresql.dbapi as driver
import polars as pl
import pytest

from sfumato.engines.databases import PostgreSQLEngine, write_table
from sfumato.engines.engine import MissingRules
from sfumato.engines.opening import open_engine
from sfumato.engines.sql import read_address
from sfumato.errors import DataError, EngineError, InternalError, PlanError
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize

ROWS = [
    (1, "m", "a,b", "007", "x"),
    (2, "m", "a,b", "007", "y"),
    (3, "w", "q'q\\", "7", None),
    (4, "w", None, "7", "ä;ö"),
    (5, None, "", "007", "zwei\nZeilen"),
]
PLAN = {
    "version": 1,
    "columns": {
        "id": {"role": "identifier"},
        "Geschlecht": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        'na"me': {"role": "insensitive"},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits"}},
        "illness": {"role": "sensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "method": {"name": "optimal", "loss": "loss-metric", "suppression": 0.2},
    "output": {"order": "keep"},
}


def execute(server, *statements: str) -> list[tuple]:
    with driver.connect(server.url) as connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        found = cursor.fetchall() if cursor.description else []
        connection.commit()
    return found


def values(rows) -> str:
    texts = [", ".join("NULL" if v is None else "'" + str(v).replace("'", "''") + "'" for v in row) for row in rows]
    return ", ".join(f"({text})" for text in texts)


@pytest.fixture(scope="module")
def people(postgresql) -> str:
    execute(
        postgresql,
        'CREATE TABLE people (id integer PRIMARY KEY, "Geschlecht" text, "na""me" varchar(9), zip char(3), '
        "illness text)",
        f"INSERT INTO people VALUES {values(ROWS)}",
    )
    return f"{postgresql.url}?table=public.people"


def tally(counted) -> Counter:
    found: Counter = Counter()
    for codes, count in zip(counted.codes.tolist(), counted.counts.tolist(), strict=True):
        found[tuple(texts[code] for texts, code in zip(counted.values, codes, strict=True))] += count
    return found


def test_the_database_counts_as_written_by_hand(people) -> None:
    engine = PostgreSQLEngine(read_address(people))
    assert engine.columns == tuple(PLAN["columns"])
    assert tally(engine.count(["Geschlecht", "zip"], MissingRules())) == {
        ("m", "007"): 2,
        ("w", "7"): 2,
        (None, "007"): 1,
    }
    required = MissingRules(missing=("a,b",), required=('na"me',))
    found = engine.count(["Geschlecht"], required)
    assert (tally(found), found.rows) == ({("w",): 1, (None,): 1}, 5)
    assert engine.locate("zip", ["7"], 1) == (3,)
    assert engine.locate('na"me', ["q'q\\"], 5) == (3,)
    other = PostgreSQLEngine(read_address(people))
    assert engine.checksum() == other.checksum()
    engine.close()
    other.close()


def test_texts_of_typed_values_are_the_same_as_elsewhere(postgresql) -> None:
    execute(
        postgresql,
        "CREATE TABLE typed (flag boolean, whole bigint, share float8, small real, day date, moment timestamp, "
        "sum numeric)",
        "INSERT INTO typed VALUES (true, 7, 0.1, 0.5, '2024-02-29', '2024-02-29 13:05:07', 1.50), "
        "(false, -3, 1e20, 'NaN', '1899-12-31', '1970-01-01', 0), (NULL, NULL, 2, NULL, NULL, NULL, NULL)",
    )
    engine = PostgreSQLEngine(read_address(f"{postgresql.url}?table=typed"))
    found = engine.count(engine.columns, MissingRules())
    texts = {name: set(texts) for name, texts in zip(found.columns, found.values, strict=True)}
    engine.close()
    assert texts == {
        "flag": {"true", "false", None},
        "whole": {"7", "-3", None},
        "share": {"0.1", "1e+20", "2.0"},
        "small": {"0.5", None},
        "day": {"2024-02-29", "1899-12-31", None},
        "moment": {"2024-02-29 13:05:07", "1970-01-01 00:00:00", None},
        "sum": {"1.50", "0", None},
    }


def test_a_table_is_released_to_a_file_and_back_to_a_table(people, postgresql, tmp_path) -> None:
    plan = PLAN | {"output": {"suppressed": "star", "class_column": "Klasse", "format": "parquet", "order": "keep"}}
    release = anonymize(people, plan)
    expected = [
        ("*", "m", "a,b", "007", "x", 1),
        ("*", "m", "a,b", "007", "y", 1),
        ("*", "w", "q'q\\", "7", None, 2),
        ("*", "w", None, "7", "ä;ö", 2),
        ("*", "*", "", "*", "*", 0),
    ]
    assert pl.read_parquet(release.data).rows() == expected
    assert release.report.engine == "postgresql"
    write_table(release, f"{postgresql.url}?table=published")
    assert Counter(execute(postgresql, "SELECT * FROM published")) == Counter(expected)
    with pytest.raises(PlanError, match="exists"):
        write_table(release, f"{postgresql.url}?table=published")
    lite = tmp_path / "release.sqlite"
    write_table(release, f"sqlite:///{lite}?table=published")
    with sqlite3.connect(lite) as base:
        assert Counter(base.execute("SELECT * FROM published")) == Counter(expected)
    base.close()
    release.close()


def test_a_table_that_does_not_count_as_predicted_is_not_committed(people, postgresql) -> None:
    """A trigger of the database changes what is written: the recount within the transaction sees it."""
    release = anonymize(people, PLAN)
    execute(
        postgresql,
        "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.zip = '9'; RETURN NEW; END $$",
        "CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
        "IF to_regclass('meddled') IS NOT NULL THEN"
        " CREATE TRIGGER spoil BEFORE INSERT ON meddled FOR EACH ROW EXECUTE FUNCTION spoil(); END IF; END $$",
        "CREATE EVENT TRIGGER watching ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION watch()",
    )
    try:
        with pytest.raises(InternalError, match="not what was meant"):
            write_table(release, f"{postgresql.url}?table=meddled")
    finally:
        execute(postgresql, "DROP EVENT TRIGGER watching")
    assert execute(postgresql, "SELECT to_regclass('meddled')::text") == [(None,)]
    write_table(release, f"{postgresql.url}?table=meddled")
    release.close()


def test_rows_written_meanwhile_are_not_seen(people, postgresql) -> None:
    engine = open_engine(people, read_plan(PLAN))
    before = engine.count(["zip"], MissingRules())
    execute(postgresql, "INSERT INTO people (id, zip) VALUES (99, '999')")
    after = engine.count(["zip"], MissingRules())
    engine.close()
    execute(postgresql, "DELETE FROM people WHERE id = 99")
    assert tally(before) == tally(after)


def test_dividing_equal_rows_needs_a_primary_key(postgresql) -> None:
    rows = [("1",)] * 2 + [("2",)] * 5 + [("3",)] * 2
    execute(postgresql, "CREATE TABLE keyless (age text)", f"INSERT INTO keyless VALUES {values(rows)}")
    plan = {
        "version": 1,
        "columns": {"age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"type": "any"}}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "method": {"name": "mondrian", "mode": "relaxed"},
        "output": {"order": "keep"},
    }
    with pytest.raises(EngineError, match="primary key"):
        anonymize(f"{postgresql.url}?table=keyless", plan)


@pytest.mark.parametrize(
    ("address", "kind", "match"),
    [
        ("postgresql://me:secret@127.0.0.1/base?table=people", PlanError, "password"),
        ("postgresql://me@127.0.0.1/base", PlanError, "no table"),
        ("postgresql://me@127.0.0.1:1/base?table=people", EngineError, "does not answer"),
    ],
)
def test_addresses_that_are_refused(address, kind, match) -> None:
    with pytest.raises(kind, match=match) as caught:
        anonymize(address, PLAN)
    assert "secret" not in str(caught.value)


def test_a_table_that_is_not_there_is_named_as_such(postgresql) -> None:
    with pytest.raises(DataError, match="no such table"):
        anonymize(f"{postgresql.url}?table=nobody", PLAN)


def test_a_lost_connection_is_a_clear_error_and_a_rerun_works(people, postgresql, tmp_path) -> None:
    """The server is killed after the count; nothing is left of the release, and later it works."""

    def kill(stage: str, done: int, whole: int) -> None:
        if (stage, done) == ("search", 0):
            postgresql.stop("immediate")

    with pytest.raises(EngineError) as caught:
        anonymize(people, PLAN, workspace=tmp_path, progress=kill)
    assert caught.value.code == "engine.database"
    assert list(tmp_path.iterdir()) == []
    postgresql.start()
    release = anonymize(people, PLAN, workspace=tmp_path)
    assert release.report.suppressed_rows == 1
    release.close()


def test_a_connection_lost_while_a_table_is_written_leaves_no_table(people, postgresql, monkeypatch) -> None:
    from sfumato.engines import databases as database_writing

    release = anonymize(people, PLAN)

    def killed(cursor, place, names):
        postgresql.stop("immediate")
        return recount(cursor, place, names)

    recount = database_writing._by_database
    monkeypatch.setattr(database_writing, "_by_database", killed)
    with pytest.raises(EngineError):
        write_table(release, f"{postgresql.url}?table=lost")
    monkeypatch.undo()
    postgresql.start()
    assert execute(postgresql, "SELECT to_regclass('lost')::text") == [(None,)]
    write_table(release, f"{postgresql.url}?table=lost")
    release.close()


def test_decimals_are_released_as_they_are(postgresql, tmp_path) -> None:
    execute(
        postgresql,
        "CREATE TABLE sums (id serial PRIMARY KEY, sum numeric, day date)",
        "INSERT INTO sums (sum, day) SELECT 1.50, '2024-02-29' FROM generate_series(1, 3)",
    )
    plan = {
        "version": 1,
        "columns": {
            "id": {"role": "identifier"},
            "sum": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "day": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 3}],
        "output": {"format": "parquet", "order": "keep"},
    }
    release = anonymize(f"{postgresql.url}?table=sums", plan)
    rows = pl.read_parquet(release.data).rows()
    assert [(str(Decimal(row[1])), row[2]) for row in rows] == [("1.50", date(2024, 2, 29))] * 3
    release.close()


def test_texts_are_those_of_the_other_engines_wherever_the_server_is(postgresql, tmp_path) -> None:
    execute(
        postgresql,
        "CREATE TABLE texts (single real, moment timestamptz, clock timestamp, amount numeric)",
        "INSERT INTO texts VALUES (0.1, '2020-07-01 12:00:00.120+00', '2020-01-01 12:30:15.0005', 1.50), "
        "('NaN', NULL, NULL, 'NaN'), ('-0', '1930-01-01 00:00:00+00', '1930-01-01', 2)",
        "ALTER ROLE tester SET TimeZone = 'America/New_York'",
        "ALTER ROLE tester SET DateStyle = 'German'",
    )
    expected = {
        "single": {"0.1", "0.0", None},
        "moment": {"2020-07-01 12:00:00.12+00", "1930-01-01 00:00:00+00", None},
        "clock": {"2020-01-01 12:30:15.0005", "1930-01-01 00:00:00", None},
        "amount": {"1.50", "2", None},
    }
    any_value = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = {
        "version": 1,
        "columns": dict.fromkeys(expected, any_value),
        "privacy": [{"model": "k-anonymity", "k": 1}],
        "output": {"order": "keep"},
    }
    try:
        release = anonymize(f"{postgresql.url}?table=texts", plan)
        counted = release.published.count(list(expected), MissingRules())
        assert dict(zip(expected, map(set, counted.values), strict=True)) == expected
        release.close()
    finally:
        execute(postgresql, "ALTER ROLE tester RESET ALL")


@pytest.mark.parametrize("kind", ["bytea", "integer[]", "interval"])
def test_what_has_no_text_is_refused(postgresql, kind) -> None:
    execute(postgresql, "DROP TABLE IF EXISTS photos", f"CREATE TABLE photos (a text, photo {kind})")
    with pytest.raises(DataError, match='"photo"'):
        PostgreSQLEngine(read_address(f"{postgresql.url}?table=photos"))
