"""Keys of records: the same on frames, DuckDB and Spark, added as 64-bit whole numbers, the same in every table."""

import itertools

import narwhals as nw
import numpy as np
import pandas
import pytest

import sfumato as sf
from sfumato.errors import DataError, PlanError

COLUMNS = ("sex", "area", "age", "job")
SECRET = "stays in the house"


@pytest.fixture(scope="module")
def people():
    rng, many = np.random.default_rng(8), 400
    return pandas.DataFrame(
        {
            "id": [f"récord {place}" for place in range(many)],
            "sex": rng.choice(["m", "w"], many),
            "area": rng.choice(["a", "b", "c", "ü"], many),
            "age": rng.choice(["1", "2", "3"], many),
            "job": rng.choice(["x", "y", ""], many, p=[0.5, 0.4, 0.1]),
            "income": rng.integers(0, 90, many),
            "own_key": rng.integers(0, 2**64, many, np.uint64).astype(str),
            "decimal_key": [f"0.{number:09d}" for number in rng.integers(0, 10**9, many)],
        }
    ).assign(job=lambda frame: frame["job"].replace("", "none"))


def columns_of(frame):
    return {name: frame[name].to_list() for name in nw.from_native(frame, eager_only=True).columns}


def rows_of(frame, names):
    whole = columns_of(frame)
    return {
        tuple(codes): (count, key)
        for *codes, count, key in zip(*(whole[name] for name in names), whole["count"], whole["key"], strict=True)
    }


KEYS = {
    "secret": {"record": "id", "secret": SECRET},
    "own": {"record": "own_key"},
    "decimal": {"record": "decimal_key", "digits": 9},
}


@pytest.mark.parametrize("kind", KEYS)
def test_frames_and_files_add_the_same_keys(people, kind, tmp_path):
    names, keys = ["sex", "area", "job"], KEYS[kind]
    by_frame = columns_of(sf.tabulate(people, names, **keys))
    people.to_csv(tmp_path / "people.csv", index=False)
    assert columns_of(sf.tabulate(tmp_path / "people.csv", names, **keys)) == by_frame
    modulus = 10**9 if "digits" in keys else 2**64
    assert all(0 <= int(key) < modulus for key in by_frame["key"])
    if kind == "own":
        assert int(by_frame["key"][0]) == sum(int(key) for key in people["own_key"]) % 2**64


def test_spark_adds_the_same_keys_and_sums(people, tmp_path, spark):
    rows = [tuple(row) for row in people.astype(object).itertuples(index=False)]
    frame = spark.createDataFrame(rows, list(people.columns)).cache()
    for keys in KEYS.values():
        by_frame = columns_of(sf.tabulate(people, ["sex", "area"], **keys))
        assert columns_of(sf.tabulate(frame, ["sex", "area"], **keys)) == by_frame
    people.to_csv(tmp_path / "people.csv", index=False)
    arguments = {"dimensions": ["sex", "age"], "value": "income", "top": 2, "record": "id", "secret": SECRET}
    by_duckdb = columns_of(sf.tabulate(tmp_path / "people.csv", **arguments))
    assert columns_of(sf.tabulate(frame, **arguments)) == by_duckdb
    with pytest.raises(DataError, check=lambda error: error.code == "data.key-spread"):
        sf.tabulate(frame, ["sex"], record="income")
    numbered = pandas.DataFrame({"id": [1.0, 12345678.0, 1.5], "sex": ["m", "w", "w"]})
    by_frame = columns_of(sf.tabulate(numbered, ["sex"], record="id", secret=SECRET))
    rows = [(float(row.id), row.sex) for row in numbered.itertuples()]
    on_spark = spark.createDataFrame(rows, ["id", "sex"])
    assert columns_of(sf.tabulate(on_spark, ["sex"], record="id", secret=SECRET)) == by_frame
    unlike = pandas.DataFrame({"id": ["1e+16", "-0.0", "2020-01-01 00:00:00"], "sex": ["m", "w", "w"]})
    by_frame = columns_of(sf.tabulate(unlike, ["sex"], record="id", secret=SECRET))
    on_spark = spark.createDataFrame([tuple(row) for row in unlike.itertuples(index=False)], ["id", "sex"])
    assert columns_of(sf.tabulate(on_spark, ["sex"], record="id", secret=SECRET)) == by_frame
    with pytest.raises(DataError, match="names 2 records as another one is named"):
        sf.tabulate(frame.union(frame.limit(2)), ["sex"], record="id", secret=SECRET)


NARROW = {
    "numbers": ({"record": "number"}, "hint.secret_or_random"),
    "six": ({"record": "six"}, "hint.digits"),
    "few": ({"record": "number", "digits": 6}, "hint.secret_or_random"),
    "lower": ({"record": "lower", "digits": 6}, "hint.secret_or_random"),
    "half": ({"record": "half", "digits": 6}, "hint.secret_or_random"),
    "fifths": ({"record": "fifths", "digits": 6}, "hint.secret_or_random"),
}


def narrow(people):
    rng, many = np.random.default_rng(2), len(people)
    six = rng.integers(0, 10**6, many)
    fifths = [place % 5 / 5 for place in range(many)]
    return people.assign(number=range(many), six=six, lower=six * 6 // 10, half=0.5, fifths=fifths)


@pytest.mark.parametrize("kind", NARROW)
def test_keys_that_do_not_fill_their_range_are_refused(people, kind, tmp_path):
    """The secret was forgotten, or the number of digits: every cell would be moved by the same noise."""
    keys, do = NARROW[kind]
    narrow(people).to_csv(tmp_path / "people.csv", index=False)
    for data in (narrow(people), tmp_path / "people.csv"):
        with pytest.raises(DataError, check=lambda error: error.code == "data.key-spread") as caught:
            sf.tabulate(data, ["sex"], **keys)
        assert (caught.value.hint.code, caught.value.hint.values.get("digits", 6)) == (do, 6)
    assert len(sf.tabulate(tmp_path / "people.csv", ["sex"], record="six", digits=6)) == 3


def test_few_persons_in_many_years_have_sound_keys(tmp_path):
    years = pandas.DataFrame({"key": [str(2**62 + 5), str(2**62 + 9)] * 40, "year": [str(y) for y in range(40)] * 2})
    years.to_csv(tmp_path / "years.csv", index=False)
    for data in (years, tmp_path / "years.csv"):
        assert len(sf.tabulate(data, ["year"], record="key")) == 41


def test_keys_of_cells_that_do_not_fill_their_range_are_refused(people):
    table = sf.tabulate(people, ["sex", "area"], record="own_key").assign(key=lambda frame: frame["count"])
    dimensions = {name: {"column": name} for name in ("sex", "area")}
    for method in (
        {"name": "cell-key", "key": "key", "D": 3, "V": 2},
        {"name": "rounding", "kind": "random", "base": 5, "key": "key"},
    ):
        with pytest.raises(DataError, check=lambda error: error.code == "data.key-spread"):
            sf.protect(table, value="count", dimensions=dimensions, method=method)


def test_a_whole_number_names_the_same_record_however_it_is_kept(tmp_path):
    numbers = [1, 2, 12345678, 10**17]
    frames = {
        "whole": pandas.DataFrame({"id": numbers, "a": list("wxyz")}),
        "floating": pandas.DataFrame({"id": [float(number) for number in numbers], "a": list("wxyz")}),
        "text": pandas.DataFrame({"id": [str(number) for number in numbers], "a": list("wxyz")}),
        "decimal": pandas.DataFrame({"id": [f"{number}.0" for number in numbers], "a": list("wxyz")}),
    }
    tables = []
    for name, frame in frames.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frame.to_parquet(tmp_path / f"{name}.parquet")
        kept = (frame, tmp_path / f"{name}.parquet", *([] if name == "floating" else [tmp_path / f"{name}.csv"]))
        tables += [rows_of(sf.tabulate(data, ["a"], record="id", secret=SECRET), ["a"]) for data in kept]
    assert all(table == tables[0] for table in tables)


UNLIKE = {
    "powers": [1e16, 2.0**60, 1e22],
    "nothing": [-0.0, 1.0, 2.0],
    "days": pandas.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]),
    "codes": ["1e5", "12E3", "-x0"],
}


@pytest.mark.parametrize("kind", UNLIKE)
def test_numbers_and_days_name_the_same_record_in_frames_and_files(tmp_path, kind):
    frame = pandas.DataFrame({"id": UNLIKE[kind], "a": list("xyz")})
    frame.to_csv(tmp_path / "one.csv", index=False)
    frame.to_parquet(tmp_path / "one.parquet")
    kept = (frame, tmp_path / "one.csv", tmp_path / "one.parquet")
    tables = [rows_of(sf.tabulate(data, ["a"], record="id", secret=SECRET), ["a"]) for data in kept]
    assert tables[1:] == tables[:1] * 2


@pytest.mark.parametrize("secret", ["", " ", "\t\n"])
def test_a_blank_secret_is_none(people, secret):
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.secret"):
        sf.tabulate(people, ["sex"], record="id", secret=secret)


def test_the_same_records_have_the_same_noise_in_ten_tables(people):
    """Men are the same records in every table that has the column, whatever it is crossed with."""
    choices = [chosen for size in (1, 2, 3) for chosen in itertools.combinations(COLUMNS, size)][:10]
    assert len(choices) == 10
    seen: dict[frozenset, set] = {}
    for chosen in choices:
        table = sf.tabulate(people, list(chosen), record="id", secret=SECRET)
        done = sf.protect(
            table,
            value="count",
            dimensions={name: {"column": name} for name in chosen},
            method={"name": "cell-key", "key": "key", "D": 3, "V": 2},
        ).data
        for row in done.to_dict("records"):
            cell = frozenset((name, row[name]) for name in chosen if row[name] != "Total")
            seen.setdefault(cell, set()).add((row["key"], row["count_published"]))
    assert all(len(answers) == 1 for answers in seen.values())
    assert len(seen) > 60


def test_the_order_of_records_does_not_matter_and_another_secret_does(people):
    mixed = people.sample(frac=1, random_state=3)
    one, two = (sf.tabulate(frame, ["sex"], record="id", secret=SECRET)["key"].tolist() for frame in (people, mixed))
    assert one == two
    assert one != sf.tabulate(people, ["sex"], record="id", secret="another")["key"].tolist()


def test_a_record_without_a_name_is_refused(people, tmp_path):
    broken = people.assign(id=["", *people["id"][1:]])
    broken.to_csv(tmp_path / "broken.csv", index=False)
    for data in (broken, tmp_path / "broken.csv"):
        with pytest.raises(DataError, check=lambda error: error.code == "data.record-key"):
            sf.tabulate(data, ["sex"], record="id", secret=SECRET)
    with pytest.raises(DataError, check=lambda error: error.code == "data.record-key"):
        sf.tabulate(people.assign(own_key="x"), ["sex"], record="own_key")


def test_a_record_that_stands_twice_is_refused(people, tmp_path):
    twice = pandas.concat([people, people[:3]])
    twice.to_csv(tmp_path / "twice.csv", index=False)
    for data in (twice, tmp_path / "twice.csv"):
        with pytest.raises(DataError, match="names 3 records as another one is named"):
            sf.tabulate(data, ["sex"], record="id", secret=SECRET)
        assert len(sf.tabulate(data, ["sex"], record="own_key")) == 3
