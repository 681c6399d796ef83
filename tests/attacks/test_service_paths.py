"""A plan reads no file but those that came with it: keys of plans, views of DuckDB, confined workers."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from refusals import refused
from sfumato.attributes.fetching import Fetcher
from sfumato.attributes.sources import Sources
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import PlanError, SfumatoError
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.write import PLAN
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.tables.protect import run_plan
from sfumato.schema.composite import (
    Choice,
    Conversion,
    Flag,
    Integer,
    ListSchema,
    MapSchema,
    Number,
    RecordSchema,
    TaggedUnionSchema,
    UnionSchema,
)
from sfumato.schema.paths import FilePath
from sfumato.service.jobs.plans import check_paths
from sfumato.service.workers.fork_server import run_once
from sfumato.service.workers.messages import CrashedError, WorkerCall
from sfumato.service.workers.process import WorkerLimits
from sfumato.tables.plan.table_plan import PLAN as TABLE_PLAN
from sfumato.tables.plan.table_plan import read_table_plan

# A plan reads no file but those that came with it: every key of every plan, DuckDB's views, and confined processes.

OPENED = 0x20  # IN_OPEN
# Keys of maps that users name stand for whatever they are called.
ANY = "x"
Leaf = tuple[str, Any, Callable[[Any], Any]]


def least(shape: Any) -> Any:
    """A value that fits, for the keys that must be there beside the one in question."""
    if isinstance(shape, RecordSchema):
        return {key: least(spec.shape) for key, spec in shape.keys.items() if spec.required}
    if isinstance(shape, TaggedUnionSchema):
        name = next(iter(shape.variants))
        return {shape.tag: name, **least(shape.variants[name])}
    if isinstance(shape, UnionSchema):
        return least(shape.options[0][1])
    if isinstance(shape, Conversion):
        return least(shape.shape)
    if isinstance(shape, ListSchema):
        return [least(shape.item)] * shape.at_least
    if isinstance(shape, MapSchema):
        return {ANY: least(shape.value)} if shape.at_least else {}
    if isinstance(shape, Choice):
        return shape.names[0]
    if isinstance(shape, Integer | Number):
        return shape.minimum or 1
    return False if isinstance(shape, Flag) else "zip"


def leaves(shape: Any, at: str = "", wrap: Callable[[Any], Any] = lambda value: value, **tag: str) -> Iterator[Leaf]:
    """Every key of a plan whose value is no record, and how a plan is made that has a value there."""
    if isinstance(shape, RecordSchema):
        for key, spec in shape.keys.items():
            rest = {**tag, **least(shape)}
            yield from leaves(spec.shape, f"{at}.{key}", lambda v, key=key, rest=rest: wrap({**rest, key: v}))
    elif isinstance(shape, TaggedUnionSchema):
        for name, record in shape.variants.items():
            yield from leaves(record, f"{at}.{name}", wrap, **{shape.tag: name})
    elif isinstance(shape, ListSchema):
        yield from leaves(shape.item, at, lambda value: wrap([value]))
    elif isinstance(shape, MapSchema):
        yield f"{at}.KEY", shape, lambda value: wrap({value: least(shape.value)})
        yield from leaves(shape.value, at, lambda value: wrap({ANY: value}))
    elif isinstance(shape, UnionSchema):
        for _, option in shape.options:
            yield from leaves(option, at, wrap)
    elif isinstance(shape, Conversion):
        yield from leaves(shape.shape, at, wrap)
    else:
        yield at, shape, wrap


PATHS = {
    f"{kind}{at}": (shape, wrap)
    for kind, plan in (("rows", PLAN), ("table", TABLE_PLAN))
    for at, shape, wrap in leaves(plan)
    if isinstance(shape, FilePath)
}


def test_every_path_of_a_plan_is_confined() -> None:
    assert len(PATHS) >= 21
    for at, (_, wrap) in PATHS.items():
        for path in ("/etc/passwd", "../sessions.key", "other.csv"):
            with pytest.raises(PlanError) as refused:
                check_paths(wrap(path), {"rows.csv"})
            assert refused.value.code == "plan.path", at
        check_paths(wrap("rows.csv"), {"rows.csv"})
        with pytest.raises(PlanError):  # a DuckDB file holds views, and is taken nowhere
            check_paths(wrap("rows.duckdb"), {"rows.duckdb"})


@contextmanager
def watched(path: Path) -> Iterator[Callable[[], bool]]:
    """Whether any library opens a file: the system tells."""
    libc = ctypes.CDLL(None)
    number = libc.inotify_init1(os.O_NONBLOCK)
    assert libc.inotify_add_watch(number, os.fsencode(path), OPENED) > 0

    def opened() -> bool:
        try:
            return bool(os.read(number, 4096))
        except BlockingIOError:
            return False

    try:
        yield opened
    finally:
        os.close(number)


ROWS = "zip,age,ill\n" + "".join(f"{1000 + row % 2},{30 + row % 4},{'ab'[row % 3 == 0]}\n" for row in range(12))
CELLS = "area,n\nTotal,17\nnorth,2\nsouth,9\nwest,6\n"
QUASI = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
ROW_PLAN: dict[str, Any] = {
    "version": 1,
    "data": {"source": "rows.csv"},
    "columns": {"zip": QUASI, "age": QUASI, "ill": {"role": "sensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
}
CELL_PLAN: dict[str, Any] = {
    "version": 1,
    "table": {"source": "cells.csv", "value": "n"},
    "dimensions": {"area": {"column": "area"}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
}


def merged(plan: Any, change: Any) -> Any:
    if isinstance(plan, dict) and isinstance(change, dict):
        return {**plan, **{key: merged(plan.get(key), value) for key, value in change.items()}}
    return change


@pytest.mark.parametrize("kind", ["rows", "cells"])
@pytest.mark.skipif(sys.platform != "linux", reason="the system tells what is opened")
def test_no_other_text_of_a_plan_is_opened(tmp_path, kind) -> None:
    """Every key that takes a text, and every name that users give, in turn is the path of a file."""
    canary = tmp_path / "canary.csv"
    for name, text in (("rows.csv", ROWS), ("cells.csv", CELLS), (canary.name, ROWS)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    shape, plan = (PLAN, ROW_PLAN) if kind == "rows" else (TABLE_PLAN, CELL_PLAN)

    def run(changed: Any, place: Path) -> None:
        if kind == "cells":
            run_plan(read_table_plan(changed, tmp_path)).save(place)
            return
        with closing(anonymize(tmp_path / "rows.csv", {**changed, "data": changed["data"]})) as release:
            release.save(place)

    before = {*tmp_path.rglob("*")}
    with watched(canary) as opened:
        canary.read_bytes()
        assert opened()
        run(plan, tmp_path / "out")
        tried = 0
        for at, leaf, wrap in leaves(shape):
            if isinstance(leaf, FilePath | Choice | Integer | Number | Flag):
                continue
            with suppress(SfumatoError):
                run(merged(plan, wrap(str(canary))), tmp_path / "out" / str(tried))
            assert not opened(), at
            tried += 1
    assert tried > 40
    assert {path for path in tmp_path.rglob("*") if tmp_path / "out" not in path.parents} == before | {tmp_path / "out"}


@pytest.mark.parametrize("name", ["../visits", "/visits", "..", "a/b", ".hidden"])
def test_a_name_of_a_file_to_write_leads_out_of_no_folder(name) -> None:
    files = {"persons": {"source": "rows.csv", "key": "id"}, name: {"source": "visits.csv", "parent": "persons"}}
    with pytest.raises(PlanError, check=refused("plan.faults", "a_name_must_do")):
        read_plan({**{key: part for key, part in ROW_PLAN.items() if key != "data"}, "files": files})


@pytest.mark.parametrize("wanted", [None, "zips"])
def test_a_view_of_a_duckdb_file_is_not_followed(tmp_path, wanted) -> None:
    secret, file = tmp_path / "sessions.key", tmp_path / "zips.duckdb"
    secret.write_text("secret", encoding="utf-8")
    with duckdb.connect(str(file)) as made:
        made.execute("CREATE SCHEMA other; CREATE TABLE other.zips AS SELECT '123' AS zip3, 5 AS people")
        made.execute(f"CREATE VIEW zips AS SELECT content AS zip3, 1 AS people FROM read_text('{secret}')")
    with closing(DuckDBEngine(file, DataPlan(table=wanted))) as engine:
        assert engine.first_rows(2) == [{"zip3": "123", "people": "5"}]
    with duckdb.connect(str(file)) as made:
        made.execute("DROP TABLE other.zips")
    with pytest.raises(PlanError):
        DuckDBEngine(file, DataPlan(table=wanted))


CONFINED = """
import os, sqlite3, sys, tempfile
from contextlib import closing
from pathlib import Path
from sfumato.confinement import confine
from sfumato.engines.duckdb.database import Database
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.record_io import read_records
from sfumato.microdata.data_plan import DataPlan
import sfumato.engines.survey_files, sfumato.engines.workbooks.sheets
own, secret = map(Path, sys.argv[1:])
tempfile.tempdir = str(own)
confine([own, (own / "linked.csv").resolve()])
reached = []
def tried(name, act):
    try:
        act()
        reached.append(name)
    except Exception as error:
        assert b"sEcReT" not in str(error).encode()
def asked(statement):
    for _ in range(3):  # also of the databases that waited
        database = Database(DataPlan())
        session = database.session()
        try:
            session.execute(statement).fetchall()
        finally:
            session.close()
            database.close()
text = str(secret)
for name in ("rows.csv", "linked.csv"):
    with closing(DuckDBEngine(own / name)) as engine:
        assert len(engine.first_rows(9)) == 2
assert not os.path.exists(own / "x.parquet")
asked(f"COPY (SELECT 1) TO '{own}/x.parquet' (FORMAT parquet)")
tried("open", lambda: open(text).read())
tried("bytes", lambda: os.open(os.fsencode(text), os.O_RDONLY))
tried("dots", lambda: open(f"{own}/../{secret.name}").read())
tried("link", lambda: open(own / "stolen.csv").read())
tried("list", lambda: os.listdir(secret.parent))
tried("write", lambda: open(secret.parent / "new", "w"))
tried("environment", lambda: open("/proc/self/environ").read())
tried("sqlite", lambda: sqlite3.connect(secret.with_suffix(".sqlite")))
for suffix in ("csv", "parquet", "json", "xlsx", "sqlite", "duckdb", "sav"):
    tried(suffix, lambda: DuckDBEngine(secret.with_suffix("." + suffix)))
    tried(suffix, lambda: DuckDBEngine(own / f"stolen.{suffix}"))
for ending in ("csv", "parquet", "json"):
    tried(ending, lambda: read_records(secret.with_suffix("." + ending)))
for statement in ("FROM read_text('{0}')", "FROM read_blob('{1}/stolen.csv')", "COPY (SELECT 1) TO '{0}'",
                  "FROM glob('/*')", "ATTACH '{0}' AS a", "SET enable_external_access = true", "LOAD httpfs",
                  "SET allowed_paths = ['{0}']", "SET temp_directory = '/'", "SET lock_configuration = false"):
    tried(statement, lambda: asked(statement.format(text, own)))
print(reached)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="workers are forked where the system can")
def test_a_confined_process_opens_the_files_of_its_job_alone(tmp_path) -> None:
    own, elsewhere = tmp_path / "job", tmp_path / "sources"
    own.mkdir()
    elsewhere.mkdir()
    secret = tmp_path / "sessions.key"
    for suffix in (".key", ".csv", ".json", ".parquet", ".sqlite", ".xlsx", ".sav"):
        secret.with_suffix(suffix).write_text("sEcReT\n1\n", encoding="utf-8")
        (own / f"stolen{suffix}").symlink_to(secret.with_suffix(suffix))
    (own / "rows.csv").write_text("a\n1\n2\n", encoding="utf-8")
    (elsewhere / "offered.csv").write_text("a\n1\n2\n", encoding="utf-8")
    (own / "linked.csv").symlink_to(elsewhere / "offered.csv")
    done = subprocess.run(
        [sys.executable, "-c", CONFINED, str(own), str(secret)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
    assert secret.read_text(encoding="utf-8") == "sEcReT\n1\n"


@pytest.mark.parametrize("address", ["file:///etc/passwd", "FILE:/etc/passwd", "/etc/passwd", "ftp://localhost/x"])
def test_a_configuration_of_attributes_is_no_file(address) -> None:
    sources = Sources(Fetcher(frozenset({"localhost"})))
    for ask in (sources.configuration, sources.classes, sources.ontology):
        with pytest.raises(PlanError):
            ask(address)


# Workers of pages: without a folder of their own they read the file that they are given, and no other.

LOAD = "sfumato.web.projects.loaded_data:load"
LIMITS = WorkerLimits(2_000_000_000)


def test_a_worker_without_a_folder_reads_its_file_and_no_other(tmp_path) -> None:
    own, secret = tmp_path / "own", tmp_path / "secret.csv"
    own.mkdir()
    secret.write_text("ort;alter\nWien;5\n", encoding="utf-8")
    lines = "".join(f"Köln;{20 + n % 9}\n" for n in range(30))
    (own / "rows.csv").write_text("ort;alter\n" + lines, encoding="cp1252")
    loaded = run_once(WorkerCall(LOAD, (own / "rows.csv", {"encoding": "cp1252"})), LIMITS, 60)
    assert (loaded.rows, [path.name for path in own.iterdir()]) == (30, ["rows.csv"])
    (own / "link.csv").symlink_to(secret)
    with pytest.raises((SfumatoError, CrashedError)):
        run_once(WorkerCall(LOAD, (own / "link.csv", {})), LIMITS, 60)
