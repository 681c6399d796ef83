"""Well-known public files by name, from a path that the user has."""

import pytest

import sfumato as sf
from sfumato import datasets

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
