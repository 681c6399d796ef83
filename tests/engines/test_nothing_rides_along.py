"""A published frame holds published values and nothing else of the frame that the caller handed over."""

import datetime as dt
import io
import pickle
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sfumato.pipelines.release import anonymize

SECRET = "Zwetschgenbaumstraße"
ANY = {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "max_level": 0}


def plan(columns: dict, **more: object) -> dict:
    privacy = [{"model": "k-anonymity", "k": 2}]
    return {
        "version": 1,
        "columns": columns,
        "privacy": privacy,
        "method": {"name": "optimal", "suppression": 0.5},
        "output": {"order": "keep"},
    } | more


def alone() -> dict[str, list[str]]:
    """Rows of which the third is alone and suppressed."""
    return {"zip": ["1", "1", SECRET, "2", "2"], "note": ["a", "b", SECRET, "c", "d"]}


COLUMNS = {"zip": ANY, "note": {"role": "insensitive"}}


@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_the_index_of_a_frame_is_new(order) -> None:
    for index in (["Anna", "Bert", "Carol", "Dora", "Emil"], range(5)):
        frame = pd.DataFrame(alone(), index=pd.Index(index, name="person"))
        data = anonymize(frame, plan(COLUMNS, output={"order": order})).data
        assert data.index.equals(pd.RangeIndex(4))
        assert data.index.name is None
        assert sorted(data["note"]) == ["a", "b", "c", "d"]


def test_attributes_and_names_of_axes_do_not_ride_along() -> None:
    frame = pd.DataFrame(alone())
    frame.attrs["from"] = SECRET
    frame["note"].attrs["from"] = SECRET
    frame.columns.name = SECRET
    data = anonymize(frame, plan(COLUMNS)).data
    assert (data.attrs, data["note"].attrs, data.columns.name) == ({}, {}, None)
    assert frame.attrs == {"from": SECRET}
    assert SECRET.encode() not in pickle.dumps(data)


def categories(kind: str):
    rows = alone()
    if kind == "pandas":
        return pd.DataFrame({name: pd.Categorical(values) for name, values in rows.items()})
    if kind == "arrow":
        table = pa.table({name: pa.array(values).dictionary_encode() for name, values in rows.items()})
        fields = [field.with_metadata({"first": SECRET}) for field in table.schema]
        return table.cast(pa.schema(fields, {"first": SECRET}))
    if kind == "pandas with arrow":
        return categories("arrow").to_pandas(types_mapper=pd.ArrowDtype)
    types = {name: pl.Enum(sorted(set(v))) if kind == "polars enum" else pl.Categorical for name, v in rows.items()}
    return pl.DataFrame(rows, schema=types)


@pytest.mark.parametrize("kind", ["pandas", "pandas with arrow", "polars", "polars enum", "arrow"])
def test_dictionaries_and_metadata_do_not_show_suppressed_values(kind) -> None:
    data = anonymize(categories(kind), plan(COLUMNS)).data
    assert SECRET.encode() not in pickle.dumps(data)
    if isinstance(data, pa.Table):
        assert data.schema.metadata is None
        assert all(field.metadata is None for field in data.schema)
    notes = data["note"].to_pylist() if isinstance(data, pa.Table) else data["note"].to_list()
    assert notes == ["a", "b", "c", "d"]


def test_the_memory_behind_polars_texts_does_not_either() -> None:
    """Polars' texts are views of memory that they share with the frame they were taken from."""
    notes = [f"a text of more than twelve letters, {place}" for place in range(400)]
    notes[7] = SECRET
    frame = pl.DataFrame({"zip": [SECRET if place == 7 else "1" for place in range(400)], "note": notes})
    data = anonymize(frame, plan(COLUMNS)).data
    stream = io.BytesIO()
    data.write_ipc(stream)
    assert len(data) == 399
    assert SECRET.encode() not in stream.getvalue()


def published(values: list[object]) -> list[object]:
    """What objects of a column are published as when nothing is generalized."""
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    data = anonymize(frame, plan({"x": ANY}, privacy=[{"model": "k-anonymity", "k": 1}])).data
    return data["x"].tolist()


BERLIN = dt.timezone(dt.timedelta(hours=1))


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([Decimal("1.0"), Decimal("1.00"), Decimal("1E+2")], ["1.0", "1.00", "100"]),
        ([True, 1, 1.0], ["true", "1", "1.0"]),
        (
            [dt.datetime(2024, 1, 1, 12, tzinfo=dt.UTC), dt.datetime(2024, 1, 1, 13, tzinfo=BERLIN)],
            ["2024-01-01 12:00:00+00", "2024-01-01 12:00:00+00"],
        ),
        (
            [dt.date(2024, 1, 1), dt.datetime(2024, 1, 1), "2024-01-01"],
            ["2024-01-01", "2024-01-01 00:00:00", "2024-01-01"],
        ),
    ],
    ids=["decimals", "truth and one", "zones", "days"],
)
def test_objects_are_counted_and_published_by_their_texts(values, texts) -> None:
    assert published(values) == texts


def test_equal_decimals_of_other_spelling_are_other_classes() -> None:
    frame = pd.DataFrame({"x": [Decimal("1.0"), Decimal("1.00"), Decimal("1.00")]})
    release = anonymize(frame, plan({"x": ANY}))
    assert release.data["x"].tolist() == ["1.00", "1.00"]


def test_all_missing_objects_look_alike() -> None:
    found = published(["a", None, float("nan"), pd.NA])
    assert found[0] == "a"
    assert len({repr(value) for value in found[1:]}) == 1
