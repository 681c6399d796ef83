"""Example datasets and their generators, and the metadata of public files."""

import csv
import os
import subprocess
import sys
from collections import Counter
from datetime import datetime
from itertools import islice

import duckdb
import numpy as np
import pytest

import sfumato as sf
from refusals import refused
from sfumato import datasets
from sfumato.datasets.generated import coded_dataset
from sfumato.errors import EngineError, PlanError
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.microdata.plan.read import read_plan
from sfumato.schema.composite import read

# Datasets: the known rows, valid dates, the same persons from the same seed, and files that say the same.

QUASI = ("date_of_birth", "zip", "sex")


def test_the_rows_of_the_specification():
    assert [tuple(row[name] for name in QUASI) for row in datasets.four_rows().records()] == [
        ("19780808", "72021", "male"),
        ("19980102", "63331", "female"),
        ("19780809", "72062", "male"),
        ("19980329", "63409", "female"),
    ]
    assert [tuple(row[name] for name in QUASI) for row in datasets.eight_rows().records()] == [
        ("20010808", "92021", "male"),
        ("19980102", "63331", "female"),
        ("19780809", "72062", "male"),
        ("19980329", "63409", "female"),
        ("19970423", "22321", "male"),
        ("19980322", "53531", "female"),
        ("19540512", "32462", "male"),
        ("19880321", "63634", "female"),
    ]


def test_patients_are_valid_and_have_outliers():
    records = datasets.patients().records()
    assert len(records) == 300
    assert list(records[0]) == ["name", "date_of_birth", "sex", "zip", "illness"]
    years = [datetime.strptime(row["date_of_birth"], "%Y%m%d").year for row in records]
    assert all(len(row["zip"]) == 5 and row["zip"].isdigit() for row in records)
    assert 1 <= sum(year < 1928 for year in years) <= 15
    regions = Counter(row["zip"][:2] for row in records)
    assert sum(count == 1 for count in regions.values()) >= 2


def test_patients_depend_on_the_seed_alone():
    assert datasets.patients(50, 3).records() == datasets.patients(50, 3).records()
    assert datasets.patients(50, 3).records() != datasets.patients(50, 4).records()


def test_stroke_has_two_hundred_patients():
    records = datasets.stroke().records()
    assert len(records) == 200
    assert records[0]["age"] == 49
    assert records[0]["avg_glucose_level"] == 171.23
    assert len({row["id"] for row in records}) == 200


def test_census_is_the_same_for_the_same_seed_and_its_head_for_any_size():
    codes, longer = datasets.census(2_000, 7).codes(), datasets.census(300_000, 7).codes()
    other = datasets.census(2_000, 8).codes()
    for name, column in codes.items():
        assert len(longer[name]) == 300_000
        assert np.array_equal(column, longer[name][:2_000]), name
    assert any(not np.array_equal(column, other[name]) for name, column in codes.items())


def test_census_chunks_differ():
    first, second = islice(datasets.census(300_000, 1).generate(), 2)
    assert not np.array_equal(first["age"], second["age"])


def test_census_is_skewed_and_its_columns_depend_on_each_other():
    frame = datasets.census(60_000, 1).to_polars()
    share = {name: frame[name].value_counts(normalize=True, sort=True)["proportion"] for name in frame.columns}
    assert share["native-country"][0] > 0.8
    assert share["native-country"][-1] < 0.002
    assert frame["native-country"].n_unique() == 41
    rich = frame.with_columns((frame["salary-class"] == ">50K").alias("rich"))
    by_education = dict(rich.group_by("education").agg(_mean("rich")).iter_rows())
    assert by_education["Doctorate"] > 3 * by_education["Grade 10"]
    by_marital = dict(rich.group_by("marital-status").agg(_mean("age")).iter_rows())
    assert by_marital["Widowed"] > by_marital["Never married"] + 15
    young = rich.filter(rich["age"] < 20)
    assert not set(young["education"]) & {"Bachelor", "Master", "Doctorate"}


def _mean(column):
    import polars

    return polars.col(column).mean()


HEIGHTS = {
    "sex": 2,
    "age": 5,
    "race": 2,
    "marital-status": 3,
    "education": 4,
    "native-country": 3,
    "workclass": 3,
    "occupation": 3,
    "salary-class": 2,
}


def test_census_hierarchies_have_the_shape_of_the_usual_ones():
    plan = datasets.census(10).plan("x.csv", quasi_identifiers=list(HEIGHTS))
    heights = {
        name: read(HIERARCHY, column["hierarchy"]).fit([]).hierarchy.height for name, column in plan["columns"].items()
    }
    heights |= {name: height for name, height in HEIGHTS.items() if name not in heights}
    assert heights == HEIGHTS
    assert int(np.prod(list(heights.values()))) == 12_960


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_plans_name_every_column_and_their_hierarchies_accept_every_value(name):
    dataset = datasets.DATASETS[name]()
    plan = dataset.plan("data.csv", k=3)
    assert list(plan["columns"]) == list(dataset.categories)
    assert plan["privacy"] == [{"model": "k-anonymity", "k": 3}]
    for column, entry in plan["columns"].items():
        assert ("hierarchy" in entry) == (entry["role"] == "quasi-identifier")
        if "hierarchy" in entry:
            values = list(dict.fromkeys(str(value) for value in dataset.columns()[column]))
            assert read(HIERARCHY, entry["hierarchy"]).fit(values).rejected == ()


def test_quasi_identifiers_can_be_chosen():
    columns = datasets.census(10).plan("x.csv", quasi_identifiers=["age", "sex"])["columns"]
    assert [name for name, column in columns.items() if column["role"] == "quasi-identifier"] == ["sex", "age"]
    with pytest.raises(PlanError, check=refused("error.plan.column.cannot_quasi_identifier_here", name="agee")):
        datasets.census(10).plan("x.csv", quasi_identifiers=["agee"])


AWKWARD = coded_dataset(
    "awkward",
    {
        'a "quoted; name': ["x;y", 'say "hi"', "it's", "Zürich"],
        "number": [1, 2, None, 4],
        "decimal": [0.5, 2, 1.25, None],
        "text": ["007", None, "", "two\nlines"],
    },
    {},
)


@pytest.mark.parametrize("dataset", [datasets.patients(40), datasets.stroke(), datasets.census(500), AWKWARD])
def test_parquet_files_hold_the_same_rows(dataset, tmp_path):
    path = tmp_path / "it's data.parquet"
    dataset.write(path)
    rows = duckdb.from_parquet(str(path)).fetchall()
    assert rows == [tuple(row.values()) for row in dataset.records()]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("dataset", [datasets.patients(40), datasets.stroke(), datasets.census(500)])
def test_csv_files_hold_the_same_rows(dataset, tmp_path):
    path = tmp_path / "data.csv"
    dataset.write(path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=dataset.separator))
    assert rows == [{name: str(cell) for name, cell in row.items()} for row in dataset.records()]


def test_order_of_rows_is_kept_over_chunks(tmp_path):
    dataset = datasets.census(300_000, 2)
    dataset.write(tmp_path / "c.parquet")
    ages = duckdb.from_parquet(str(tmp_path / "c.parquet")).project("age").fetchnumpy()["age"]
    assert np.array_equal(np.asarray(ages), dataset.codes()["age"].astype(np.int64) + 17)


def test_frames_hold_the_same_rows():
    dataset = datasets.four_rows()
    assert dataset.to_polars().to_dicts() == dataset.records()
    assert dataset.to_pandas().to_dict("records") == dataset.records()
    assert dataset.to_arrow().to_pylist() == dataset.records()


def test_files_of_other_kinds_and_places_that_cannot_be_written(tmp_path):
    with pytest.raises(PlanError):
        datasets.four_rows().write(tmp_path / "x.xyz")
    with pytest.raises(EngineError):
        datasets.four_rows().write(tmp_path / "none" / "x.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [datasets.census, datasets.patients])
def test_no_rows_are_refused(make):
    with pytest.raises(PlanError):
        make(0)


def test_writing_needs_the_core_alone_and_importing_nothing_heavy(tmp_path):
    program = (
        "import sys\n"
        "for name in ('pandas', 'polars', 'pyarrow'): sys.modules[name] = None\n"
        "import sfumato.datasets as d\n"
        "assert 'numpy' not in sys.modules and 'duckdb' not in sys.modules\n"
        f"d.census(1000).write({str(tmp_path / 'c.parquet')!r})\n"
        f"d.census(1000).write({str(tmp_path / 'c.csv')!r})\n"
        "try: d.four_rows().to_pandas()\n"
        "except Exception as error: assert 'sfumato[frames]' in str(error)\n"
        "else: raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)
    assert {path.name for path in tmp_path.iterdir()} == {"c.parquet", "c.csv"}


@pytest.mark.parametrize("name", datasets.DATASETS)
@pytest.mark.parametrize("source", ["x.csv", "x.parquet"])
def test_plans_are_plans(name, source):
    plan = read_plan(datasets.DATASETS[name]().plan(source, k=2))
    assert plan.quasi_identifiers
    assert plan.data.source == source


def test_households_share_a_region_and_a_weight():
    records = datasets.households(30_000, seed=2).records()
    homes = {}
    for row in records:
        homes.setdefault(row["household"], []).append(row)
    assert list(homes) == list(range(1, len(homes) + 1))
    whole = list(homes.values())[:-1]
    assert all(len({(row["region"], row["weight"]) for row in home}) == 1 for home in whole)
    assert all([row["relation"] for row in home].count("head") == 1 for home in whole)
    assert {len(home) for home in whole} == {1, 2, 3, 4, 5, 6}
    partners = [(home[0], row) for home in whole for row in home if row["relation"] == "partner"]
    assert np.mean([abs(head["age"] - row["age"]) for head, row in partners]) < 5
    assert all(row["marital"] == "single" for row in records if row["age"] < 18)


def test_households_are_released_and_counted(sfumato, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sfumato("dataset", "households", "--rows", "800", "--out", "h.csv", "--plan", "h.yaml").code == 0
    assert sfumato("anonymize", "h.yaml", "--out", "release").code == 0
    assert sfumato("verify", "release").code == 0
    assert sfumato("risk", "h.csv", "--quasi-identifiers", "age,sex", "--household", "household").code == 0


# Well-known public files by name, from a path that the user has.

HEADED = "sex;age;race;salary-class\n" + "".join(
    f"{'Male' if row % 2 else 'Female'};{20 + row % 40};{'White' if row % 3 else 'Black'};<=50K\n" for row in range(60)
)
HEADLESS = "".join(
    f"{20 + row % 40}, {'?' if row == 3 else 'Private'}, {row}, Bachelors, 13, Divorced, Sales, Husband, White, Male, "
    "0, 0, 40, Cuba, <=50K\n"
    for row in range(30)
)


def test_a_file_with_a_header_is_known_by_its_columns(tmp_path):
    (tmp_path / "adult.csv").write_text(HEADED)
    dataset = datasets.read("adult", tmp_path / "adult.csv")
    assert dataset.rows == 60
    assert dataset.records()[1] == {"sex": "Male", "age": 21, "race": "White", "salary-class": "<=50K"}
    release = sf.anonymize(dataset.to_polars(), dataset.plan("adult.csv", k=3))
    assert release.report.satisfied


def test_a_file_without_a_header_has_its_columns_in_order_and_question_marks_are_missing(tmp_path):
    (tmp_path / "adult.data").write_text(HEADLESS + "\n")
    dataset = datasets.read("adult", tmp_path / "adult.data")
    assert dataset.rows == 30
    assert dataset.records()[3]["workclass"] is None
    assert dataset.records()[0]["native-country"] == "Cuba"


def test_hierarchies_beside_the_file_are_used(tmp_path):
    (tmp_path / "adult.csv").write_text(HEADED)
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies" / "adult_hierarchy_sex.csv").write_text("Male;*\nFemale;*\n")
    plan = datasets.read("adult", tmp_path / "adult.csv").plan("adult.csv")
    assert plan["columns"]["sex"]["hierarchy"]["type"] == "file"
    assert plan["columns"]["race"]["hierarchy"]["type"] == "any"
    elsewhere = datasets.read("adult", tmp_path / "adult.csv", tmp_path / "nowhere").plan("adult.csv")
    assert elsewhere["columns"]["sex"]["hierarchy"]["type"] == "any"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("aduld", HEADED, 'Did you mean "adult"'),
        ("adult", "name;age\nAda;3\n", "another file"),
        ("tarragona", HEADED, "another file"),
        ("adult", "sex;age\n", "no rows"),
    ],
)
def test_other_files_are_refused(tmp_path, name, text, words):
    (tmp_path / "file.csv").write_text(text)
    with pytest.raises(sf.SfumatoError, match=words):
        datasets.read(name, tmp_path / "file.csv")


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "file", "rows"),
    [
        ("adult", "adult.csv", 30162),
        ("casc-census", "casc/census1080.csv", 1080),
        ("tarragona", "casc/tarragona834.csv", 834),
        ("households", "casc/households4580.csv", 4580),
    ],
)
def test_the_files_themselves(shared, name, file, rows):
    dataset = datasets.read(name, shared / file)
    assert dataset.rows == rows
    plan = sf.read_plan(dataset.plan("rows.parquet"))
    assert plan.quasi_identifiers
