"""Surveys as people have them: SPSS and Stata files in with their labels, released, and back again."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sfumato.errors import DataError, PlanError
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.surveys import export_survey, import_survey, read_labels

pyreadstat = pytest.importorskip("pyreadstat")
LABELS = {"sex": {1.0: "male", 2.0: "female"}, "region": {1.0: "Nord", 2.0: "Süd"}}
COLUMN_LABELS = {"sex": "Sex of the person", "income": "Monthly income"}


@pytest.fixture(params=["rows.sav", "rows.dta"])
def survey(request, tmp_path):
    rows = pd.DataFrame(
        {
            "sex": [1.0, 2.0, 2.0, 1.0, np.nan, 2.0],
            "region": [1.0, 1.0, 2.0, 2.0, 1.0, 1.0],
            "income": [1200.5, 900.0, 3000.0, np.nan, 10.0, 55.0],
            "name": ["Ada", "Bo", "", "Zoë", "E", "F"],
        }
    )
    path = tmp_path / request.param
    write = pyreadstat.write_sav if path.suffix == ".sav" else pyreadstat.write_dta
    whole = {name: {int(code): label for code, label in labels.items()} for name, labels in LABELS.items()}
    values = LABELS if path.suffix == ".sav" else whole
    write(rows, str(path), column_labels=COLUMN_LABELS, variable_value_labels=values)
    return path


def test_values_are_texts_and_labels_lie_beside_them(survey, tmp_path) -> None:
    found = import_survey(survey, tmp_path / "in.csv")
    assert (found.rows, found.columns, found.labeled_columns) == (6, 4, 2)
    rows = pl.read_csv(tmp_path / "in.csv", infer_schema=False)
    assert rows["sex"].to_list() == ["1", "2", "2", "1", None, "2"]
    assert rows["income"].to_list() == ["1200.5", "900", "3000", None, "10", "55"]
    assert rows["name"][3] == "Zoë"
    labels = json.loads((tmp_path / "in.labels.json").read_text(encoding="utf-8"))
    assert labels["values"]["region"] == {"1": "Nord", "2": "Süd"}
    assert labels["columns"]["income"] == "Monthly income"


def test_labels_may_stand_in_place_of_values(survey, tmp_path) -> None:
    import_survey(survey, tmp_path / "in.csv", labels=True)
    rows = pl.read_csv(tmp_path / "in.csv", infer_schema=False)
    assert rows["sex"].to_list() == ["male", "female", "female", "male", None, "female"]


def test_a_survey_is_released_as_it_is_and_goes_back(survey, tmp_path) -> None:
    columns = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "region": {"role": "insensitive"},
        "income": {"role": "insensitive"},
        "name": {"role": "identifier"},
    }
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    plan["method"] = {"name": "optimal", "suppression": 0.2}
    anonymize(survey, plan).save(tmp_path / "out")
    import_survey(survey, tmp_path / "in.csv")
    back = tmp_path / f"back{survey.suffix}"
    assert export_survey(tmp_path / "out" / "data.csv", back, tmp_path / "in.labels.json") == 5
    read = pyreadstat.read_sav if survey.suffix == ".sav" else pyreadstat.read_dta
    rows, meta = read(str(back))
    assert sorted(rows["sex"]) == [1, 1, 2, 2, 2]
    assert set(rows["name"]) == {"*"}
    assert meta.variable_value_labels["region"] == {1: "Nord", 2: "Süd"}
    assert meta.column_names_to_labels["income"] == "Monthly income"


def test_generalized_columns_become_texts(tmp_path) -> None:
    (tmp_path / "data.csv").write_text('age,sex\n"[20, 30)",1\n"[30, 40)",2\n', encoding="utf-8")
    (tmp_path / "l.labels.json").write_text('{"columns": {}, "values": {"age": {"20": "twenty"}}}', encoding="utf-8")
    export_survey(tmp_path / "data.csv", tmp_path / "data.sav", tmp_path / "l.labels.json")
    rows, meta = pyreadstat.read_sav(str(tmp_path / "data.sav"))
    assert rows["age"].tolist() == ["[20, 30)", "[30, 40)"] and rows["sex"].tolist() == [1, 2]
    assert meta.variable_value_labels == {}


def test_what_is_no_survey_is_refused(tmp_path) -> None:
    (tmp_path / "rows.sav").write_bytes(b"no survey at all")
    with pytest.raises(DataError):
        import_survey(tmp_path / "rows.sav", tmp_path / "in.csv")
    with pytest.raises(DataError, match="no file"):
        import_survey(tmp_path / "nothing.dta", tmp_path / "in.csv")
    with pytest.raises(PlanError, match="no survey"):
        import_survey(tmp_path / "rows.csv", tmp_path / "in.csv")
    (tmp_path / "data.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(PlanError, match="not written"):
        export_survey(tmp_path / "data.csv", tmp_path / "data.xyz")
    with pytest.raises(PlanError, match="no labels"):
        read_labels(tmp_path / "data.csv")


def test_the_command_line_reads_and_writes(survey, tmp_path, sfumato) -> None:
    assert sfumato("import", survey, "--out", tmp_path / "in.csv").code == 0
    arguments = ("--out", tmp_path / "back.dta", "--labels", tmp_path / "in.labels.json")
    assert sfumato("export", tmp_path / "in.csv", *arguments).code == 0
    assert (tmp_path / "back.dta").exists()


def test_a_sas_transport_file_is_read(tmp_path) -> None:
    """SAS's own files (sas7bdat) are read by the same library, which writes none to test with."""
    rows = pd.DataFrame({"sex": [1.0, 2.0, np.nan], "income": [1200.5, 900.0, -1.0], "name": ["Ada", "Bo", ""]})
    pyreadstat.write_xport(rows, str(tmp_path / "rows.xpt"), column_labels={"income": "Monthly income"})
    assert import_survey(tmp_path / "rows.xpt", tmp_path / "in.csv").rows == 3
    shown = pl.read_csv(tmp_path / "in.csv", infer_schema=False)
    assert shown["sex"].to_list() == ["1", "2", None]
    assert shown["income"].to_list() == ["1200.5", "900", "-1"]
    assert (
        json.loads((tmp_path / "in.labels.json").read_text(encoding="utf-8"))["columns"]["income"] == "Monthly income"
    )
    (tmp_path / "broken.sas7bdat").write_bytes(b"no such file of SAS")
    with pytest.raises(DataError):
        import_survey(tmp_path / "broken.sas7bdat", tmp_path / "out.csv")
