"""What `publish` makes of columns that are no quasi-identifiers: the same on every engine, foretold and recounted."""

import json
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from refusals import coded
from sfumato.errors import DataError, PlanError
from sfumato.microdata.publish_plan import PublishPlan

QI = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
ROWS = [
    ("a", "1234", "17", "x"),
    ("a", "0950", "18", "y"),
    ("a", "1e6", "", "z"),
    ("b", "40", "-3", "x"),
    ("b", "?", "25.5", "y"),
    ("c", "77", "1", "x"),
]
COLUMNS = ("q", "pay", "age", "note")


def plan(pay: dict, age: dict, privacy=(), **more) -> dict:
    return {
        "version": 1,
        "data": {"missing": ["?"]},
        "columns": {
            "q": QI | {"max_level": 0},
            "pay": {"role": "sensitive", "publish": pay},
            "age": {"role": "insensitive", "publish": age},
            "note": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}, *privacy],
        "method": {"name": "optimal", "suppression": 0.2},
        "output": {"order": "keep"},
    } | more


def written(folder: Path) -> Path:
    text = "\n".join([",".join(COLUMNS), *(",".join(row) for row in ROWS)]) + "\n"
    (folder / "rows.csv").write_text(text)
    return folder / "rows.csv"


@pytest.mark.parametrize("engine", ["duckdb", "frames", "spark"])
def test_every_engine_publishes_the_same(tmp_path, engine, request) -> None:
    if engine == "spark":
        request.getfixturevalue("spark")
    asked = plan({"bottom": 100, "top": 5000, "round": 100}, {"bin": 10})
    release = sf.anonymize(written(tmp_path), asked, engine=engine)
    release.save(tmp_path / "out")
    release.close()
    lines = (tmp_path / "out" / "data.csv").read_text().splitlines()
    assert [line.replace('"', "") for line in lines] == [
        "q,pay,age,note",
        "a,1200,[10, 20),x",
        "a,1000,[10, 20),y",
        "a,>5000,,z",
        "b,<100,[-10, 0),x",
        "b,?,[20, 30),y",
    ]
    assert sf.verify(tmp_path / "out").satisfied
    recoding = json.loads((tmp_path / "out" / "recoding.json").read_text())
    assert recoding["plan"]["columns"]["age"]["publish"] == {"bin": 10.0}


@pytest.mark.parametrize("method", [{"name": "local", "suppression": 0.2}, {"name": "mondrian"}])
def test_every_method_publishes_the_same(method) -> None:
    frame = pl.DataFrame(ROWS[:5], schema=list(COLUMNS), orient="row")
    release = sf.anonymize(frame, plan({"round": 10}, {"top": 20}, method=method) | {
        "columns": plan({"round": 10}, {"top": 20})["columns"] | {"q": QI}
    })  # fmt: skip
    assert sorted(release.data["pay"].to_list()) == ["1000000", "1230", "40", "950", "?"]
    assert sorted(release.data["age"].to_list()) == ["", "-3", "17", "18", ">20"]


def test_promises_are_about_what_is_published() -> None:
    """Two pays that are rounded to one are one value to a reader."""
    frame = pl.DataFrame({"q": ["a", "a"], "pay": ["101", "99"], "age": ["1", "1"], "note": ["x", "x"]})
    diverse = [{"model": "l-diversity", "l": 2, "column": "pay"}]
    assert sf.anonymize(frame, plan({"round": 1}, {"top": 9}, diverse)).report.satisfied
    with pytest.raises(sf.UnattainableError):
        sf.anonymize(frame, plan({"round": 10}, {"top": 9}, diverse))


def test_star_rows_hide_it_where_it_betrays_something() -> None:
    rows = [*ROWS[:4], ("b", "2000", "25.5", "y"), ROWS[5]]
    frame = pl.DataFrame(rows, schema=list(COLUMNS), orient="row")
    diverse = [{"model": "l-diversity", "l": 2, "column": "pay"}]
    output = {"order": "keep", "suppressed": "star"}
    data = sf.anonymize(frame, plan({"round": 1000}, {"bin": 10}, diverse, output=output)).data
    assert data.rows()[-1] == ("*", "*", "[0, 10)", "x")


def test_what_is_no_number_is_refused_with_its_row() -> None:
    frame = pl.DataFrame(ROWS, schema=list(COLUMNS), orient="row").with_columns(pay=pl.lit("much"))
    with pytest.raises(DataError, check=coded("data.invalid-value")) as caught:
        sf.anonymize(frame, plan({"round": 10}, {"top": 9}))
    assert "much" not in str(caught.value)


@pytest.mark.parametrize(
    ("engine", "text"),
    [("duckdb", "12-14"), ("duckdb", "0x10"), ("frames", "12-14"), ("frames", "0x10"), ("spark", "0x10")],
)
def test_every_engine_refuses_texts_that_only_begin_as_numbers(tmp_path, engine, text, request) -> None:
    if engine == "spark":
        request.getfixturevalue("spark")
    path = written(tmp_path)
    path.write_text(path.read_text().replace("0950", text))
    with pytest.raises(DataError, check=coded("data.invalid-value")):
        sf.anonymize(path, plan({"top": 0.9, "round": 100}, {"bin": 10}), engine=engine)


def test_a_raw_value_that_slipped_in_is_seen() -> None:
    asked = plan({"round": 100}, {"bin": 10})
    frame = pl.DataFrame(ROWS[:5], schema=list(COLUMNS), orient="row")
    data = sf.anonymize(frame, asked).data
    assert sf.verify(data, asked).satisfied
    assert not sf.verify(data.with_columns(pay=pl.Series(["1234", "1000", "1000", "0", "?"])), asked).satisfied
    assert not sf.verify(data.with_columns(age=pl.Series(["17"] * 5)), asked).satisfied


@pytest.mark.parametrize(
    ("column", "match"),
    [
        ({"role": "identifier", "publish": {"round": 1}}, "sensitive or insensitive"),
        (QI | {"publish": {"round": 1}}, "sensitive or insensitive"),
        ({"role": "sensitive", "publish": {}}, "must name an operation"),
        ({"role": "sensitive", "publish": {"round": 1, "bin": 2}}, "do not go together"),
        ({"role": "sensitive", "publish": {"bin": 0}}, "greater than 0"),
        ({"role": "sensitive", "publish": {"bottom": 2, "top": 1}}, "bottom is above top"),
        ({"role": "sensitive", "publish": {"blur": 1}}, "unknown key"),
    ],
)
def test_a_wrong_plan_is_refused(column, match) -> None:
    with pytest.raises(PlanError, match=match):
        sf.anonymize(pl.DataFrame({"q": ["a"]}), plan({"round": 1}, {"top": 1}) | {"columns": {"q": QI, "c": column}})


@given(st.decimals(-10_000, 10_000, places=2), st.sampled_from(["0.5", "3", "10", "250"]))
def test_operations_stay_near_and_are_done_once(number, step) -> None:
    rounded = PublishPlan(round=float(step)).publish([str(number)])[0]
    assert abs(Decimal(rounded) - number) <= Decimal(step) / 2
    assert PublishPlan(round=float(step)).keeps(rounded)
    low, high = PublishPlan(bin=float(step)).publish([str(number)])[0].strip("[)").split(", ")
    assert Decimal(low) <= number < Decimal(high) == Decimal(low) + Decimal(step)
