"""Releases that find their classes by joins: rows in order, whoever writes them, and nothing but published labels."""

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb import join_apply
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_folder import Release
from sizes import size

# More than one row group of a table, which threads share among themselves.
ROWS = size(130_000, 250_000)
# As many as make some combinations too rare.
ZIPS, K = size((40, 60), (300, 2))
SECRET = "Zwetschgenbaumstraße"


def plan(**more: object) -> dict:
    any_value = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    columns = {"row": {"role": "insensitive"}, "zip": any_value, "age": any_value | {"type": "integer"}}
    return {
        "version": 1,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"order": "keep"},
    } | more


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    random = np.random.default_rng(5)
    path = tmp_path_factory.mktemp("source") / "rows.parquet"
    zips = random.choice([f"zip code number {place:03}" for place in range(ZIPS)], ROWS)
    pq.write_table(pa.table({"row": np.arange(ROWS), "zip": zips, "age": random.integers(0, 90, ROWS)}), path)
    return path


def released(source: Path, order: str, mode: str) -> Release:
    method, output = {"name": "mondrian", "mode": mode}, {"format": "parquet", "order": order}
    wanted = plan(method=method, output=output, seed=1, privacy=[{"model": "k-anonymity", "k": K}])
    return anonymize(source, wanted)


@pytest.mark.parametrize(
    ("order", "mode"),
    [("keep", "strict"), ("shuffle", "relaxed"), *size([], [("keep", "relaxed"), ("shuffle", "strict")])],
)
def test_one_thread_writes_what_many_write(source, order, mode, monkeypatch) -> None:
    one = released(source, order, mode)
    monkeypatch.setattr(join_apply, "MOST_THREADS", 0)
    many = released(source, order, mode)
    first, second = pq.read_table(one.data), pq.read_table(many.data)
    assert first.schema.types == second.schema.types == [pa.int64(), pa.string(), pa.string()]
    assert first.columns == second.columns
    rows = first["row"].to_numpy()
    assert (np.diff(rows) == 1).all() == (order == "keep")
    assert np.array_equal(np.sort(rows), np.arange(ROWS))
    one.close()
    many.close()


def test_all_threads_are_back_after_one_wrote_alone(source) -> None:
    from sfumato.engines.duckdb.engine import DuckDBEngine
    from sfumato.engines.engine import MissingRules

    release = released(source, "keep", "strict")
    engine = DuckDBEngine(source, opens=[source.parent])
    threads = engine._run("SELECT current_setting('threads')")
    engine.apply(release.recoding, release.handling, MissingRules(), source.with_name("again.parquet")).close()
    assert engine._run("SELECT current_setting('threads')") == threads
    assert not engine._run("SELECT * FROM duckdb_tables() WHERE table_name = 'published'")
    engine.close()
    release.close()


@pytest.mark.parametrize("suppressed", ["drop", "star"])
def test_no_dictionary_holds_a_label_of_suppressed_rows(tmp_path, suppressed) -> None:
    """Enumerations are written to Parquet files as a whole."""
    path = tmp_path / "rows.parquet"
    zips = ["1", "1", SECRET, "2", "2"] * 3
    zips[7] = zips[12] = "1"
    pq.write_table(pa.table({"row": range(15), "zip": zips, "age": [7] * 15}), path)
    columns = plan()["columns"]
    columns["zip"] = columns["zip"] | {"max_level": 0}
    method = {"name": "optimal", "suppression": 0.5}
    output = {"format": "parquet", "order": "shuffle", "suppressed": suppressed}
    release = anonymize(path, plan(columns=columns, method=method, output=output))
    table = pq.read_table(release.data, read_dictionary=["zip"])
    assert {text for chunk in table["zip"].chunks for text in chunk.dictionary.to_pylist()} <= {"1", "2", "*", ""}
    assert sorted(set(table["zip"].to_pylist())) == (["1", "2"] if suppressed == "drop" else ["*", "1", "2"])
    assert release.report.suppressed_rows == 1
    assert SECRET.encode() not in Path(release.data).read_bytes()
    release.close()


@pytest.mark.parametrize("name", ["file_row_number", "File_Row_Number"])
def test_columns_may_have_the_names_of_row_numbers(tmp_path, name) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({name: ["x", "y", "z", "x"], "zip": ["1", "2", "1", "2"]}), path)
    columns = {name: {"role": "insensitive"}, "zip": plan()["columns"]["zip"]}
    release = anonymize(
        path, plan(columns=columns, method={"name": "mondrian"}, output={"format": "parquet", "order": "keep"})
    )
    assert pq.read_table(release.data)[name].to_pylist() == ["x", "y", "z", "x"]
    release.close()


def test_types_that_have_texts_of_their_own_keep_them_beside_row_numbers(tmp_path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table({"number": [-0.0, float("nan"), 1.5, 0.0], "zip": ["1", "2", "1", "2"]})
    pq.write_table(table, path)
    columns = {"number": {"role": "insensitive"}, "zip": plan()["columns"]["zip"]}
    release = anonymize(
        path, plan(columns=columns, method={"name": "mondrian"}, output={"format": "parquet", "order": "keep"})
    )
    assert list(map(str, pq.read_table(release.data)["number"].to_pylist())) == ["0.0", "None", "1.5", "0.0"]
    release.close()


@pytest.mark.parametrize("order", ["shuffle", "keep"])
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_keys_of_persons_stand_in_the_order_of_the_rows(tmp_path, suffix, order):
    """Keys are found in a table of persons, where one is made, and belong to the rows that they stand beside."""
    owners = [f"LB-{place % 40}" if place % 3 else f"lb {place % 40}" for place in range(400)]
    frame = pl.DataFrame({"owner": owners, "age": [str(20 + place % 7) for place in range(400)], "row": range(400)})
    source = tmp_path / f"rows.{suffix}"
    frame.write_parquet(source) if suffix == "parquet" else frame.write_csv(source)
    columns = {
        "owner": {"role": "person"},
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "row": {"role": "insensitive"},
    }
    asked = {
        "version": 1,
        "columns": columns,
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "local"},
        "output": {"format": "parquet", "order": order},
    }
    anonymize(source, asked).save(tmp_path / "out")
    rows = pl.read_parquet(tmp_path / "out" / "data.parquet")["row"].cast(pl.Int64).to_list()
    keys = pl.read_parquet(tmp_path / "out" / "persons.parquet")["sfumato_person"].to_list()
    assert len({(row % 40, key) for row, key in zip(rows, keys, strict=True)}) == 40 == len({*keys})
