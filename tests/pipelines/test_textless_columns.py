"""Columns of lists, records and bytes, which have no text: they are withheld, or refused all at once."""

import json
import sqlite3
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from refusals import refused
from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.errors import DataError
from sfumato.pipelines.apply import apply

ROWS = 60
ADDRESSES = [{"street": f"Lane {row}", "town": "Ulm"} for row in range(ROWS)]
TABLE = pa.table(
    {
        "address": ADDRESSES,
        "age": [30 + row % 4 for row in range(ROWS)],
        "sex": [("f", "m")[row % 2] for row in range(ROWS)],
        "skills": [["sql", f"tool {row}"] for row in range(ROWS)],
        "illness": [("flu", "gout", "angina")[row % 3] for row in range(ROWS)],
    }
)
TEXTLESS = ("address", "skills")


def plan_of(role: str, **more) -> dict:
    known = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    columns = {"age": known, "sex": known, "illness": {"role": "insensitive"}}
    return {
        "version": 1,
        "columns": {name: {"role": role, **more} for name in TEXTLESS} | columns,
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "output": {"format": "csv", "order": "keep"},
    }


def parquet(folder: Path) -> Path:
    pq.write_table(TABLE, folder / "rows.parquet")
    return folder / "rows.parquet"


def records(folder: Path) -> Path:
    lines = "".join(json.dumps(row) + "\n" for row in TABLE.to_pylist())
    (folder / "rows.jsonl").write_text(lines, encoding="utf-8")
    return folder / "rows.jsonl"


def database(folder: Path) -> Path:
    with sqlite3.connect(folder / "rows.sqlite") as base:
        base.execute("CREATE TABLE rows (address BLOB, age INTEGER, sex TEXT, skills BLOB, illness TEXT)")
        rows = [(b"x", row["age"], row["sex"], b"y", row["illness"]) for row in TABLE.to_pylist()]
        base.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", rows)
    return folder / "rows.sqlite"


def late_lists(_folder: Path) -> pd.DataFrame:
    """A pandas column of which the first rows are empty."""
    frame = pd.DataFrame(TABLE.to_pylist() * 4)
    frame.loc[: 3 * ROWS, "skills"] = None
    return frame


SOURCES = {
    "Parquet": parquet,
    "JSON": records,
    "SQLite": database,
    "Arrow": lambda _: TABLE,
    "Polars": lambda _: pl.from_arrow(TABLE),
    "pandas": lambda _: pd.DataFrame(TABLE.to_pylist()),
    "pandas of a Parquet file": lambda _: TABLE.to_pandas(),
    "pandas of Arrow": lambda _: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with lists far down": late_lists,
}


@pytest.fixture(params=SOURCES)
def source(request, tmp_path):
    return SOURCES[request.param](tmp_path)


def published(release, folder: Path) -> pl.DataFrame:
    saved = release.save(folder / "out") / "data.csv"
    release.close()
    return pl.read_csv(saved)


@pytest.mark.parametrize("method", ["optimal", "mondrian"])
def test_they_are_withheld(source, tmp_path, method) -> None:
    release = sf.anonymize(source, plan_of("identifier") | {"method": {"name": method}})
    rows = published(release, tmp_path)
    assert rows.columns == TABLE.column_names
    assert {*rows["address"], *rows["skills"]} == {"*"}


def test_a_file_read_as_a_frame_withholds_them(tmp_path) -> None:
    release = sf.anonymize(parquet(tmp_path), plan_of("identifier"), engine="frames")
    assert {*published(release, tmp_path)["skills"]} == {"*"}


@pytest.mark.parametrize("role", ["insensitive", "sensitive", "quasi-identifier"])
@pytest.mark.parametrize("engine", [None, "frames"])
def test_they_are_not_published(tmp_path, role, engine) -> None:
    more = {"hierarchy": {"type": "any"}} if role == "quasi-identifier" else {}
    with pytest.raises(DataError, check=refused("error.data.no-text.several_columns")) as caught:
        sf.anonymize(parquet(tmp_path), plan_of(role, **more), engine=engine)
    assert caught.value.code == "data.no-text"
    assert "role: identifier" in caught.value.hint


@pytest.mark.parametrize("role", ["insensitive", "quasi-identifier"])
def test_nor_from_any_source(source, role) -> None:
    more = {"hierarchy": {"type": "any"}} if role == "quasi-identifier" else {}
    with pytest.raises(DataError, check=refused("error.data.no-text.several_columns")):
        sf.anonymize(source, plan_of(role, **more))


def test_they_have_no_pseudonyms(source) -> None:
    with pytest.raises(DataError, check=refused("error.data.no-text.several_columns")):
        sf.anonymize(source, plan_of("identifier", publish={"pseudonym": "keyed"}))


def test_suggest_withholds_them_and_says_so(source) -> None:
    plan = sf.suggest(source)
    assert [*plan.columns] == TABLE.column_names
    assert {plan.columns[name].role for name in TEXTLESS} == {"identifier"}
    assert all("no text" in plan.reasons[name] for name in TEXTLESS)
    assert sum('"address", "skills"' in note for note in plan.notes) == 1
    sf.anonymize(source, plan).close()


def test_risk_is_measured_without_them(source) -> None:
    assert sf.risk(source, ["age", "sex"]).figures.rows in (ROWS, 4 * ROWS)
    with pytest.raises(DataError, check=refused("error.data.no-text.several_columns")):
        sf.risk(source, ["age", *TEXTLESS])


def test_a_recoding_is_applied_to_further_rows(tmp_path) -> None:
    release = sf.anonymize(parquet(tmp_path), plan_of("identifier"))
    folder = release.save(tmp_path / "out")
    release.close()
    apply(folder / "recoding.json", tmp_path / "rows.parquet", tmp_path / "further")
    assert {*pl.read_csv(tmp_path / "further" / "data.csv")["address"]} == {"*"}


def test_frames_with_other_lists_have_other_fingerprints(source) -> None:
    if not isinstance(source, Path):
        frames = [source, pl.from_arrow(TABLE.set_column(3, "skills", pa.array([["none"]] * ROWS)))]
        assert len({FrameEngine(frame).checksum() for frame in frames}) == 2


def test_nothing_but_them_is_no_table(tmp_path) -> None:
    pq.write_table(TABLE.select(TEXTLESS), tmp_path / "rows.parquet")
    with pytest.raises(DataError, check=refused("error.data.no-text.several_columns")):
        sf.suggest(tmp_path / "rows.parquet")
