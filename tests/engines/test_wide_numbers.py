"""Whole numbers of many bits are never rounded, and numbers that a column does not hold pick nothing."""

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.engines.duckdb.expressions import DictionaryExpression
from sfumato.pipelines.release import anonymize

ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
K = {"model": "k-anonymity", "k": 2}


def plan(columns: dict, **more: object) -> dict:
    return {"version": 1, "columns": columns, "privacy": [K], "output": {"format": "parquet", "order": "keep"}} | more


@pytest.mark.parametrize(
    ("numbers", "kind"), [((-1, 9007199254740993), pa.int64()), ((-1, 2**63), pa.string()), ((1, 2), pa.int64())]
)
def test_numbers_of_json_stay_what_they_are(tmp_path, numbers, kind) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_text("".join(f'{{"q": {number}, "n": {number}}}\n' for number in numbers for _ in range(2)))
    release = anonymize(source, plan({"q": ANY, "n": {"role": "insensitive"}}))
    table = pq.read_table(release.data)
    assert list(map(str, table["q"].to_pylist())) == [str(number) for number in numbers for _ in range(2)]
    assert list(map(str, table["n"].to_pylist())) == [str(number) for number in numbers for _ in range(2)]
    assert table.schema.field("n").type == kind
    release.close()


@pytest.mark.parametrize("kind", ["HUGEINT", "UHUGEINT"])
def test_numbers_of_128_bits_stay_what_they_are(tmp_path, kind) -> None:
    source = tmp_path / "rows.duckdb"
    with duckdb.connect(str(source)) as connection:
        connection.execute(f"CREATE TABLE rows AS SELECT 9007199254740993::{kind} AS n, 7::{kind} AS q FROM range(3)")
    release = anonymize(source, plan({"q": ANY, "n": {"role": "insensitive"}}))
    assert pq.read_table(release.data)["n"].to_pylist() == ["9007199254740993"] * 3
    release.close()


def test_the_least_number_of_64_bits(tmp_path) -> None:
    source = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"q": pa.array([-(2**63)] * 3, pa.int64()), "s": ["a", "b", "c"]}), source)
    release = anonymize(source, plan({"q": ANY, "s": {"role": "insensitive"}}))
    assert pq.read_table(release.data)["q"].to_pylist() == [-(2**63)] * 3
    release.close()


@pytest.mark.parametrize(
    ("population", "classes"),
    [(["7", "8", "Mr Smith", "7", "8"], [1, 1, 2, 2]), (["7", "7", "8", "8", "007", "007"], [1, 1, 2, 2])],
)
def test_a_population_may_write_numbers_otherwise(tmp_path, population, classes) -> None:
    source, people = tmp_path / "rows.parquet", tmp_path / "people.csv"
    pq.write_table(pa.table({"age": [7, 7, 8, 8], "s": list("1234")}), source)
    people.write_text("age\n" + "\n".join(population) + "\n")
    model = {"model": "k-map", "k": 2, "population": str(people)}
    columns = {"age": ANY, "s": {"role": "insensitive"}}
    output = {"format": "csv", "class_column": "K", "order": "keep"}
    release = anonymize(source, plan(columns, privacy=[model], output=output))
    lines = release.data.read_text().splitlines()
    assert [int(line.split(",")[2]) for line in lines[1:]] == classes
    release.close()


def test_a_number_that_is_not_known_picks_nothing() -> None:
    picker = DictionaryExpression("unused", "CAST(s.n AS VARCHAR)", ("5", "6", "7"), "BIGINT", "n")
    picked = picker.picked(["50", "60", "70"], "INTEGER")
    rows = duckdb.execute(f"SELECT n, {picked} FROM range(-3, 12) AS s(n)").fetchall()
    assert {number: entry for number, entry in rows if entry is not None} == {5: 50, 6: 60, 7: 70}
