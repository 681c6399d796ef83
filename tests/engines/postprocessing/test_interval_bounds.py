"""Ends of intervals as columns of their own: in files, in frames, verified, and applied to new rows."""

import csv

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf

ROWS = {"age": [20 + row % 30 for row in range(60)], "sex": ["m" if row % 2 else "f" for row in range(60)]}
PLAN = sf.Plan(
    sf.KAnonymity(4), other="insensitive", output=sf.OutputPlan(intervals="bounds"), method=sf.Optimal()
).quasi("sex", age=sf.intervals(5, 10, 30, start=20, end=49))


def expected(label):
    low, _, high = label.partition("-")
    return (int(low), int(high))


def test_polars_has_an_enumeration_in_order_and_numbers():
    data = sf.anonymize(pl.DataFrame(ROWS), PLAN).data
    assert data.columns == ["age", "sex", "age_min", "age_max"]
    assert data["age"].dtype == pl.Enum(sorted(data["age"].cast(str).unique().to_list()))
    for label, low, high in zip(data["age"].cast(str), data["age_min"], data["age_max"], strict=True):
        assert (low, high) == expected(label)


def test_pandas_has_categories_in_order_and_whole_numbers():
    data = sf.anonymize(pd.DataFrame(ROWS), PLAN).data
    assert data["age"].cat.ordered
    assert str(data["age_min"].dtype) == "Int64"
    assert data["age"].min() == "20-29" or data["age"].min().startswith("20-")
    for label, low, high in zip(data["age"], data["age_min"], data["age_max"], strict=True):
        assert (low, high) == expected(label)


def test_arrow_has_texts_and_numbers():
    data = sf.anonymize(pa.table(ROWS), PLAN).data
    assert data.column_names == ["age", "sex", "age_min", "age_max"]
    assert data["age_max"].type == pa.int64()


@pytest.mark.parametrize("format_", ["csv", "parquet"])
def test_files_have_them_and_are_verified(tmp_path, format_):
    pl.DataFrame(ROWS).write_csv(tmp_path / "rows.csv")
    plan = PLAN.writing(sf.OutputPlan(format=format_, intervals="bounds", suppressed="star", class_column="class"))
    release = sf.anonymize(tmp_path / "rows.csv", plan)
    folder = release.save(tmp_path / "release")
    release.close()
    assert sf.verify(folder).satisfied
    file = folder / f"data.{format_}"
    data = pl.read_csv(file) if format_ == "csv" else pl.read_parquet(file)
    assert data.columns == ["age", "sex", "class", "age_min", "age_max"]
    for label, low, high in zip(data["age"], data["age_min"], data["age_max"], strict=True):
        assert (low, high) == expected(label)


def test_a_file_whose_bounds_tell_more_fails(tmp_path):
    pl.DataFrame(ROWS).write_csv(tmp_path / "rows.csv")
    release = sf.anonymize(tmp_path / "rows.csv", PLAN)
    with release.data.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    release.close()
    for name, text in (("age_min", "27"), ("age_max", ""), ("age_min", "secret")):
        with (tmp_path / "changed.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows([rows[0] | {name: text}, *rows[1:]])
        verdict = sf.verify(tmp_path / "changed.csv", PLAN)
        assert not verdict.satisfied
        assert [promise.column for promise in verdict.promises if not promise.satisfied] == ["age"]


def test_new_rows_get_them_too(tmp_path):
    from sfumato.pipelines.apply import apply

    pl.DataFrame(ROWS).write_csv(tmp_path / "rows.csv")
    release = sf.anonymize(tmp_path / "rows.csv", PLAN)
    folder = release.save(tmp_path / "release")
    release.close()
    apply(folder / "recoding.json", tmp_path / "rows.csv", tmp_path / "new")
    assert pl.read_csv(tmp_path / "new" / "data.csv").columns == ["age", "sex", "age_min", "age_max"]


def test_names_that_are_taken_are_refused():
    with pytest.raises(sf.PlanError, match="age_min"):
        sf.anonymize(pl.DataFrame(ROWS | {"age_min": [1] * 60}), PLAN)
