"""Codes that mean missing in one column: 99 is no answer among ages, and a number of hours."""

import json
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from sfumato.errors import PlanError
from sfumato.pipelines.attack import attack
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.risk import risk
from sfumato.pipelines.verify import verify

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")

AGES = [23, 27, 31, 38, 44, 47, 52, 58, 63, 99] * 12
HOURS = [20, 38, 40, 99, 60, 12] * 20
ROWS = pl.DataFrame({"row": range(len(AGES)), "age": AGES, "hours": HOURS, "ill": ["flu", "none", "cold"] * 40})
COLUMNS = {
    "row": {"role": "insensitive"},
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"type": "intervals", "start": 0, "end": 80, "widths": [20, 40]},
        "missing": [99],
    },
    "hours": {"role": "insensitive"},
    "ill": {"role": "sensitive"},
}
UNCODED = {key: value for key, value in COLUMNS["age"].items() if key != "missing"}
PLAN = {
    "version": 1,
    "seed": 4,
    "columns": COLUMNS,
    "privacy": [{"model": "k-anonymity", "k": 5}],
    "output": {"order": "keep"},
}


def rows_of(release) -> Counter:
    """Published rows as texts; missing values are empty."""
    data = release.data
    if isinstance(data, Path):
        separator = ";" if data.suffix == ".csv" and ";" in data.read_text() else ","
        is_text = data.suffix == ".csv"
        data = pl.read_csv(data, infer_schema=False, separator=separator) if is_text else pl.read_parquet(data)
    elif hasattr(data, "toPandas"):
        data = pl.from_arrow(data.toArrow())
    elif not isinstance(data, pl.DataFrame):
        data = pl.from_pandas(data) if hasattr(data, "iloc") else pl.from_arrow(data)
    return Counter(tuple("" if value is None else str(value) for value in row) for row in data.rows())


def expected() -> Counter:
    """The same rows with the code made missing by hand."""
    columns = COLUMNS | {"age": UNCODED}
    by_hand = ROWS.with_columns(age=pl.when(pl.col("age") != 99).then(pl.col("age")))
    return rows_of(anonymize(by_hand, PLAN | {"columns": columns}))


def assert_code_is_gone(rows: Counter) -> None:
    assert not any("99" in age for _, age, *_ in rows)
    assert sum(count for (_, age, *_), count in rows.items() if age == "") == AGES.count(99)
    assert sum(count for (_, _, hours, _), count in rows.items() if hours == "99") == HOURS.count(99)


def frames() -> dict:
    pandas = ROWS.to_pandas()
    return {
        "polars": ROWS,
        "polars of texts": ROWS.cast(pl.String),
        "polars of decimals": ROWS.with_columns(pl.col("age").cast(pl.Decimal(5, 2))),
        "pandas": pandas,
        "pandas of floats": pandas.astype({"age": float}),
        "pandas of objects": pandas.astype({"age": object}),
        "pandas of categories": pandas.astype({"age": str}).astype({"age": "category"}),
        "pandas with an index": pandas.set_index(pandas["row"].to_numpy()[::-1]),
        "arrow": ROWS.to_arrow(),
    }


@pytest.mark.parametrize("kind", frames())
def test_frames_have_no_value_there(kind: str) -> None:
    frame = frames()[kind]
    before = rows_of(type("Held", (), {"data": frame}))
    release = anonymize(frame, PLAN)
    assert rows_of(release) == expected()
    assert_code_is_gone(rows_of(release))
    assert rows_of(type("Held", (), {"data": frame})) == before


def written(folder: Path) -> dict[str, Path]:
    import sqlite3

    import duckdb

    ROWS.write_csv(folder / "rows.csv")
    ROWS.write_parquet(folder / "rows.parquet")
    ROWS.cast({"age": pl.Float64}).write_parquet(folder / "floats.parquet")
    ROWS.cast({"age": pl.Float32}).write_parquet(folder / "short.parquet")
    ROWS.write_ndjson(folder / "rows.jsonl")
    ROWS.cast({"age": pl.Float64}).write_csv(folder / "comma.csv", separator=";", decimal_comma=True)
    (folder / "quoted.csv").write_text(ROWS.write_csv(quote_style="always"))
    with duckdb.connect(folder / "rows.duckdb") as database:
        database.execute(f"CREATE TABLE people AS SELECT * FROM '{folder / 'rows.parquet'}'")
    with sqlite3.connect(folder / "rows.sqlite") as tables:
        tables.execute("CREATE TABLE people (row INTEGER, age INTEGER, hours INTEGER, ill TEXT)")
        tables.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS.rows())
    tables.close()
    return {path.name: path for path in folder.iterdir()}


FILES = [
    *("rows.csv", "rows.parquet", "floats.parquet", "short.parquet", "rows.jsonl", "comma.csv", "quoted.csv"),
    *("rows.duckdb", "rows.sqlite"),
]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("engine", ["duckdb", "frames"])
def test_files_have_no_value_there(name: str, engine: str, tmp_path: Path) -> None:
    data = {"decimal": ",", "separator": ";"} if name == "comma.csv" else {}
    asked = PLAN | {"data": data}
    release = anonymize(written(tmp_path)[name], asked, engine=engine)
    assert rows_of(release) == expected()
    release.close()


def test_spaces_are_taken_off_first(tmp_path: Path) -> None:
    spaced = ROWS.with_columns(age=pl.format(" {} ", "age"))
    spaced.write_csv(tmp_path / "rows.csv")
    assert rows_of(anonymize(tmp_path / "rows.csv", PLAN | {"data": {"strip": True}})) == expected()


def test_workbooks_and_surveys_have_none_either(tmp_path: Path) -> None:
    import openpyxl
    import pyreadstat

    pyreadstat.write_sav(ROWS.to_pandas(), str(tmp_path / "rows.sav"))
    book = openpyxl.Workbook()
    for row in (ROWS.columns, *ROWS.rows()):
        book.active.append(row)
    book.save(tmp_path / "rows.xlsx")
    for name in ("rows.sav", "rows.xlsx"):
        release = anonymize(tmp_path / name, PLAN)
        assert rows_of(release) == expected(), name
        release.close()


def test_spark_has_none_either(spark, tmp_path: Path) -> None:
    files = written(tmp_path)
    for data in (files["rows.csv"], spark.read.parquet(str(files["rows.parquet"]))):
        release = anonymize(data, PLAN, engine="spark")
        assert release.report.engine == "spark"
        assert rows_of(release) == expected()
        release.close()


@pytest.mark.parametrize("kind", ["integer", "double precision", "text", "numeric(5,2)"])
def test_databases_have_none_either(postgresql, kind: str) -> None:
    import adbc_driver_postgresql.dbapi as driver

    table = f"coded_{kind[:4]}"
    with driver.connect(postgresql.url) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(table, ROWS.to_arrow(), mode="create")
        cursor.execute(f'ALTER TABLE {table} ALTER COLUMN "age" TYPE {kind}, ADD PRIMARY KEY ("row")')
        connection.commit()
    release = anonymize(f"{postgresql.url}?table={table}", PLAN)
    assert rows_of(release) == expected()
    release.close()


# What databases hold and CSV files do not: numbers with three and more digits behind the point, days with a time.
TYPED = {
    "three decimals": ([Decimal("1.500"), Decimal("99.000")], pl.Decimal(10, 3), 99),
    "many decimals": ([Decimal("1.5"), Decimal("-9.5")], pl.Decimal(38, 18), -9.5),
    "a code of three decimals": ([1.5, 9.999], pl.Float64, 9.999),
    "a large number": ([1.5, 1e16], pl.Float64, 10**16),
    "a short number": ([1.5, 99.0], pl.Float32, 99),
    "a floating number": ([1.0, 99.0], pl.Float64, 99),
    "days": ([date(2000, 1, 1), date(1900, 1, 1)], pl.Date, "1900-01-01 00:00:00"),
    "days with a time": ([datetime(2000, 1, 1), datetime(1900, 1, 1)], pl.Datetime, "1900-01-01"),
}


def typed(kind: str) -> tuple[pl.DataFrame, dict]:
    """Rows of two values of a type, the second of which means missing, and their plan."""
    values, dtype, code = TYPED[kind]
    rows = pl.DataFrame({"row": range(40), "x": pl.Series(values * 20, dtype=dtype)})
    columns = {
        "row": {"role": "insensitive"},
        "x": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "missing": [code]},
    }
    return rows, PLAN | {"columns": columns}


def assert_half_is_missing(data, asked: dict, **options: str) -> None:
    release = anonymize(data, asked, **options)
    values = Counter(value for _, value in rows_of(release).elements())
    assert len(values) == 2
    assert values[""] == 20
    release.close()


@pytest.mark.parametrize("kind", TYPED)
def test_a_value_is_the_code_however_its_type_writes_it(kind: str, tmp_path: Path) -> None:
    rows, asked = typed(kind)
    rows.write_parquet(tmp_path / "rows.parquet")
    for data in (rows, rows.to_pandas(), rows.to_arrow(), tmp_path / "rows.parquet"):
        assert_half_is_missing(data, asked)
    assert_half_is_missing(tmp_path / "rows.parquet", asked, engine="frames")


def test_a_value_is_the_code_on_spark_too(spark, tmp_path: Path) -> None:
    """All types in one file, whose rows are of two kinds."""
    rows, columns = pl.DataFrame({"row": range(40)}), {"row": COLUMNS["row"]}
    for kind in TYPED:
        more, asked = typed(kind)
        rows, columns[kind] = rows.with_columns(more["x"].alias(kind)), asked["columns"]["x"]
    rows.write_parquet(tmp_path / "rows.parquet")
    release = anonymize(tmp_path / "rows.parquet", PLAN | {"columns": columns}, engine="spark")
    _, *published = zip(*rows_of(release).elements(), strict=True)
    assert [Counter(values)[""] for values in published] == [20] * len(TYPED)
    assert {len({*values}) for values in published} == {2}
    release.close()


@pytest.mark.parametrize("kind", TYPED)
def test_a_value_is_the_code_in_databases_too(postgresql, kind: str) -> None:
    import adbc_driver_postgresql.dbapi as driver

    rows, asked = typed(kind)
    table = kind.replace(" ", "_")
    with driver.connect(postgresql.url) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest(table, rows.to_arrow(), mode="create")
        cursor.execute(f'ALTER TABLE {table} ADD PRIMARY KEY ("row")')
        connection.commit()
    assert_half_is_missing(f"{postgresql.url}?table={table}", asked)


def test_thousands_are_no_zeros_behind_a_point() -> None:
    rows, asked = typed("three decimals")
    texts = rows.with_columns(x=pl.when(pl.col("row") % 2 == 0).then(pl.lit("12.500")).otherwise(pl.lit("99.000")))
    release = anonymize(texts, asked)
    assert Counter(value for _, value in rows_of(release).elements()) == {"12.500": 20, "99.000": 20}


@pytest.mark.parametrize("method", ["local", "mondrian", "greedy"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_other_methods_publish_none(method: str, form: str, tmp_path: Path) -> None:
    asked = PLAN | {"method": {"name": method}, "output": {"format": form, "order": "keep"}}
    release = anonymize(written(tmp_path)[f"rows.{form}"], asked)
    rows = rows_of(release)
    assert sum(count for (_, age, *_), count in rows.items() if age == "99") == 0
    assert sum(count for (_, _, hours, _), count in rows.items() if hours == "99") == HOURS.count(99)
    release.close()


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
def test_a_code_of_a_published_column_is_published_as_a_blank(role: str, tmp_path: Path) -> None:
    columns = {
        "row": {"role": "identifier"},
        "age": {"role": role, "missing": ["99"]},
        "hours": {"role": "insensitive"},
        "ill": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    }
    asked = PLAN | {"columns": columns}
    for source in (written(tmp_path)["rows.csv"], ROWS, ROWS.to_pandas(), tmp_path / "rows.parquet"):
        release = anonymize(source, asked)
        ages = Counter(row[1] for row in rows_of(release).elements())
        assert ages[""] == AGES.count(99)
        assert "99" not in ages
        assert "99.0" not in ages
        release.close()


def test_both_keys_go_together(tmp_path: Path) -> None:
    texts = ROWS.cast(pl.String).with_columns(ill=pl.when(pl.col("row") == "7").then(pl.lit("?")).otherwise("ill"))
    texts = texts.with_columns(age=pl.when(pl.col("row") == "8").then(pl.lit("?")).otherwise("age"))
    texts.write_csv(tmp_path / "rows.csv")
    asked = PLAN | {"data": {"missing": ["?"]}}
    releases = [anonymize(source, asked) for source in (texts, tmp_path / "rows.csv")]
    assert rows_of(releases[0]) == rows_of(releases[1])
    ages = Counter(row[1] for row in rows_of(releases[0]).elements())
    assert ages[""] == AGES.count(99) + 1


def test_rows_without_an_answer_may_be_dropped(tmp_path: Path) -> None:
    asked = PLAN | {"data": {"on_missing": "drop"}}
    for source in (ROWS, written(tmp_path)["rows.csv"], tmp_path / "rows.parquet"):
        release = anonymize(source, asked)
        assert rows_of(release).total() == len(AGES) - AGES.count(99)
        release.close()


def test_the_release_is_verified_and_attacked(tmp_path: Path) -> None:
    raw = written(tmp_path)["rows.csv"]
    folder = tmp_path / "out"
    anonymize(raw, PLAN | {"columns": COLUMNS | {"row": {"role": "identifier"}}}).save(folder)
    assert verify(folder).satisfied
    assert "99" not in {line.split(",")[1] for line in (folder / "data.csv").read_text().splitlines()}
    report = attack(folder, raw, seed=1)
    assert report is not None


def test_a_code_in_a_published_file_is_found(tmp_path: Path) -> None:
    columns = COLUMNS | {"row": {"role": "identifier"}, "ill": {"role": "sensitive", "missing": ["none"]}}
    release = anonymize(ROWS, PLAN | {"columns": columns})
    verdict = verify(release)
    told = next(promise for promise in verdict.promises if promise.model == "codes published as blanks")
    assert told.satisfied
    assert told.column == "ill"
    broken = release.data.with_columns(ill=pl.col("ill").fill_null("none"))
    assert not verify(broken, PLAN | {"columns": columns}).satisfied


def test_a_code_is_found_however_it_is_written() -> None:
    columns = COLUMNS | {"row": {"role": "identifier"}, "hours": {"role": "insensitive", "missing": [99]}}
    release = anonymize(ROWS, PLAN | {"columns": columns})
    assert verify(release.data, PLAN | {"columns": columns}).satisfied
    broken = release.data.with_columns(hours=pl.col("hours").cast(pl.Float64).fill_null(99.0))
    assert not verify(broken, PLAN | {"columns": columns}).satisfied


def test_the_recoding_is_applied_to_new_rows(tmp_path: Path) -> None:
    from sfumato.pipelines.apply import apply

    raw = written(tmp_path)["rows.csv"]
    release = anonymize(raw, PLAN)
    release.save(tmp_path / "out")
    apply(tmp_path / "out" / "recoding.json", raw, tmp_path / "again")
    assert_code_is_gone(rows_of(type("Held", (), {"data": tmp_path / "again" / "data.csv"})))


def test_risk_takes_the_code_for_missing(tmp_path: Path) -> None:
    plain = risk(ROWS.with_columns(age=pl.when(pl.col("age") != 99).then(pl.col("age"))), ["age"])
    for source in (ROWS, written(tmp_path)["rows.csv"]):
        assert risk(source, plan=PLAN, row_numbers=True).to_dict()["prosecutor"] == plain.to_dict()["prosecutor"]


def test_the_population_is_read_alike(tmp_path: Path) -> None:
    files = written(tmp_path)
    population = {"source": str(files["rows.csv"])}
    asked = PLAN | {"privacy": [{"model": "k-map", "k": 5, "population": population}]}
    release = anonymize(files["rows.parquet"], asked)
    assert rows_of(release) == expected()
    release.close()


def test_a_code_in_the_population_is_missing_there(tmp_path: Path) -> None:
    """Two rows without an age are among forty of the population, who all have the code there."""
    people = pl.DataFrame({"age": [99, 99] + [30] * 10})
    pl.DataFrame({"age": [99] * 40 + [30] * 40}).write_csv(tmp_path / "all.csv")
    columns = {"age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "missing": [99]}}
    promise = {"model": "k-map", "k": 20, "population": {"source": str(tmp_path / "all.csv")}}
    release = anonymize(people, PLAN | {"columns": columns, "privacy": [promise]})
    assert Counter(map(str, release.data["age"].to_list())) == {"None": 2, "30": 10}


def test_several_files_have_codes_of_their_own(tmp_path: Path) -> None:
    people = pl.DataFrame({"pid": range(40), "age": [30, 99] * 20, "sex": ["f", "m"] * 20})
    visits = pl.DataFrame({"pid": [*range(40)] * 2, "age": [99, 5] * 40, "hours": [1, 99] * 40})
    people.write_csv(tmp_path / "people.csv")
    visits.write_csv(tmp_path / "visits.csv")
    asked = {
        "version": 1,
        "seed": 1,
        "files": {
            "people": {"source": "people.csv", "key": "pid"},
            "visits": {"source": "visits.csv", "parent": "people"},
        },
        "columns": {
            "people.age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "missing": [99]},
            "visits.age": {"role": "insensitive"},
            "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "hours": {"role": "insensitive", "missing": ["99"]},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    (tmp_path / "plan.json").write_text(json.dumps(asked))
    release = anonymize(None, tmp_path / "plan.json")
    release.save(tmp_path / "out")
    read = {name: pl.read_csv(tmp_path / "out" / f"{name}.csv", infer_schema=False) for name in ("people", "visits")}
    assert read["people"]["age"].null_count() == 20
    assert "99" not in read["people"]["age"]
    assert "99" in read["visits"]["age"]
    assert read["visits"]["hours"].null_count() == 40
    assert verify(tmp_path / "out").satisfied


def test_a_code_for_all_files_is_none_of_a_column_with_an_entry_of_its_own(tmp_path: Path) -> None:
    frames = {
        "people": pl.DataFrame({"pid": range(40), "age": [30, 99] * 20}),
        "visits": pl.DataFrame({"pid": [*range(40)] * 2, "age": [99, 5] * 40}),
    }
    asked = {
        "version": 1,
        "seed": 1,
        "files": {"people": {"key": "pid"}, "visits": {"parent": "people"}},
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "missing": [99]},
            "visits.age": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
    }
    release = anonymize(frames, asked)
    release.save(tmp_path / "out")
    read = {name: pl.read_csv(tmp_path / "out" / f"{name}.csv", infer_schema=False)["age"] for name in frames}
    assert read["people"].null_count() == 20
    assert read["visits"].to_list().count("99") == 40


def test_rows_that_are_joined_by_their_numbers_hold_none(tmp_path: Path) -> None:
    """Words that become blanks are joined, as are rows to their classes."""
    worded = ROWS.with_columns(ill=pl.when(pl.col("row") < 2).then(pl.lit("ask Ann")).otherwise("ill"))
    worded.write_parquet(tmp_path / "rows.parquet")
    promises = [*PLAN["privacy"], {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "ill"}]
    asked = PLAN | {"data": {"missing": ["ask Ann"]}, "privacy": promises, "method": {"name": "local"}}
    releases = [anonymize(data, asked) for data in (worded, tmp_path / "rows.parquet")]
    assert rows_of(releases[0]) == rows_of(releases[1])
    ages = Counter(age for _, age, *_ in rows_of(releases[1]).elements())
    assert ages[""] == AGES.count(99)


def test_an_attacker_reads_the_raw_rows_alike(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    raw = written(tmp_path)["rows.csv"]
    anonymize(raw, PLAN | {"columns": COLUMNS | {"row": {"role": "identifier"}}}).save(folder)
    by_hand = tmp_path / "hand.csv"
    ROWS.with_columns(age=pl.when(pl.col("age") != 99).then(pl.col("age"))).write_csv(by_hand)
    reports = [attack(folder, source, seed=1).to_dict() for source in (raw, by_hand)]
    for report in reports:
        report.pop("seconds", None)
    assert reports[0] == reports[1]


FAULTS = {
    "empty": ({"age": COLUMNS["age"] | {"missing": []}}, "columns.age.missing"),
    "no list": ({"age": COLUMNS["age"] | {"missing": "99"}}, "columns.age.missing"),
    "misspelt key": ({"age": UNCODED | {"mising": [9]}}, 'Did you mean "missing"'),
    "misspelt column": ({"agee": COLUMNS["age"]}, "agee"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_told(name: str, tmp_path: Path) -> None:
    columns, told = FAULTS[name]
    kept = {key: value for key, value in COLUMNS.items() if key != "age" or "age" in columns}
    for source in (ROWS, written(tmp_path)["rows.csv"]):
        with pytest.raises(PlanError, match=told):
            anonymize(source, PLAN | {"columns": kept | columns})


def test_a_promise_about_the_code_is_refused() -> None:
    columns = COLUMNS | {"ill": {"role": "sensitive", "missing": ["none"]}}
    promise = {"model": "alpha-k-anonymity", "k": 2, "alpha": 0.5, "column": "ill", "values": ["none"]}
    with pytest.raises(PlanError, match="means missing"):
        anonymize(ROWS, PLAN | {"columns": columns, "privacy": [promise]})
