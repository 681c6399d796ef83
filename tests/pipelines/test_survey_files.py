"""Surveys as people have them: SPSS and Stata files in with their labels, released, and back again."""

import ctypes
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from refusals import coded
from sfumato.engines.survey_files import read_survey
from sfumato.errors import DataError, PlanError
from sfumato.pipelines.migration.project import export_survey, import_survey, read_labels
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.suggest import suggest_for_file
from sfumato.pipelines.verify import verify

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


def test_labels_beside_rows_tell_what_columns_are(tmp_path) -> None:
    """The rows of an import had a worse plan than the file: codes as numbers, and nothing of what a column is."""
    rows = pd.DataFrame({"q1": [1.0, 2.0, 3.0, 9.0] * 15, "q2": [1.0, 2.0] * 30, "q3": np.arange(1, 61)})
    labels = {"q1": {1: "Nord", 2: "Mitte", 3: "Sud", 9: "no answer"}, "q2": {1: "yes", 2: "no"}}
    names = {"q1": "Region of residence", "q2": "Ever diagnosed with HIV", "q3": "Respondent number"}
    pyreadstat.write_dta(rows, str(tmp_path / "in.dta"), column_labels=names, variable_value_labels=labels)
    import_survey(tmp_path / "in.dta", tmp_path / "rows.csv")
    of_file, of_rows = (suggest_for_file(tmp_path / name) for name in ("in.dta", "rows.csv"))
    assert of_rows.plan["columns"] == of_file.plan["columns"]
    assert of_rows.plan["columns"]["q2"]["role"] == "sensitive"
    assert of_rows.plan["data"]["missing"] == of_file.plan["data"]["missing"] == ["9"]
    assert any("rows.labels.json" in note for note in of_rows.notes)
    (tmp_path / "rows.labels.json").write_text("[]", encoding="utf-8")
    assert not suggest_for_file(tmp_path / "rows.csv").notes


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
    again = tmp_path / f"again{survey.suffix}"
    export_survey(tmp_path / "out" / "data.csv", again, survey)
    assert read(str(again))[1].variable_value_labels == meta.variable_value_labels, "the survey has the same labels"


def test_generalized_columns_become_texts(tmp_path) -> None:
    (tmp_path / "data.csv").write_text('age,sex\n"[20, 30)",1\n"[30, 40)",2\n', encoding="utf-8")
    (tmp_path / "l.labels.json").write_text('{"columns": {}, "values": {"age": {"20": "twenty"}}}', encoding="utf-8")
    export_survey(tmp_path / "data.csv", tmp_path / "data.sav", tmp_path / "l.labels.json")
    rows, meta = pyreadstat.read_sav(str(tmp_path / "data.sav"))
    assert rows["age"].tolist() == ["[20, 30)", "[30, 40)"] and rows["sex"].tolist() == [1, 2]
    assert meta.variable_value_labels == {}


def test_withheld_values_are_missing_among_numbers_and_labels_stay(tmp_path) -> None:
    (tmp_path / "data.csv").write_text("sex,job\n1,1\n*,[2; 4]\n2,1\n", encoding="utf-8")
    labels = {"columns": {}, "values": {"sex": {"1": "male", "2": "female"}, "job": {"1": "employed", "2": "retired"}}}
    (tmp_path / "l.labels.json").write_text(json.dumps(labels), encoding="utf-8")
    for ending in ("sav", "dta"):
        export_survey(tmp_path / "data.csv", tmp_path / f"data.{ending}", tmp_path / "l.labels.json")
    rows, meta = pyreadstat.read_sav(str(tmp_path / "data.sav"))
    assert rows["sex"].fillna(-1).tolist() == [1, -1, 2]
    assert meta.variable_value_labels == {"sex": {1: "male", 2: "female"}, "job": {"1": "employed"}}
    rows, meta = pyreadstat.read_dta(str(tmp_path / "data.dta"))
    assert meta.variable_value_labels == {"sex": {1: "male", 2: "female"}}
    assert rows["job"].tolist() == ["1", "[2; 4]", "1"]


def test_labels_of_values_that_are_gone_do_not_ride_along(tmp_path) -> None:
    """A code that a release withholds may have been somebody's own."""
    (tmp_path / "data.csv").write_text("job,name\n1,*\n*,*\n2,*\n", encoding="utf-8")
    labels = {"job": {"1": "nurse", "2": "teacher", "7": "mayor of Aalen"}, "name": {"1": "Ada", "2": "Bo"}}
    (tmp_path / "l.labels.json").write_text(json.dumps({"columns": {}, "values": labels}), encoding="utf-8")
    for read, ending in ((pyreadstat.read_sav, "sav"), (pyreadstat.read_dta, "dta")):
        out = tmp_path / f"data.{ending}"
        export_survey(tmp_path / "data.csv", out, tmp_path / "l.labels.json")
        assert read(str(out))[1].variable_value_labels == {"job": {1: "nurse", 2: "teacher"}}
        assert b"Aalen" not in out.read_bytes()


def test_a_plan_is_suggested_by_labels(tmp_path) -> None:
    rows = pd.DataFrame({"q1": [1.0, 2.0, 3.0, -9.0] * 30, "pay": [float(900 + 7 * row) for row in range(120)]})
    labels = {"q1": {1.0: "employed", 2.0: "unemployed", 3.0: "retired", -9.0: "no answer"}}
    file = tmp_path / "rows.sav"
    pyreadstat.write_sav(rows, str(file), column_labels={"q1": "Employment status"}, variable_value_labels=labels)
    plan = suggest_for_file(file).plan
    assert plan["data"]["missing"] == ["-9"]
    assert plan["columns"]["q1"] == {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    anonymize(file, plan).save(tmp_path / "out")
    assert verify(tmp_path / "out").satisfied


def test_what_is_no_survey_is_refused(tmp_path) -> None:
    (tmp_path / "rows.sav").write_bytes(b"no survey at all")
    with pytest.raises(DataError):
        import_survey(tmp_path / "rows.sav", tmp_path / "in.csv")
    with pytest.raises(DataError, check=coded("data.no-file.not_there")):
        import_survey(tmp_path / "nothing.dta", tmp_path / "in.csv")
    with pytest.raises(PlanError, check=coded("plan.format.the_ending_tells_no_survey")):
        import_survey(tmp_path / "rows.csv", tmp_path / "in.csv")
    (tmp_path / "data.csv").write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(PlanError, check=coded("plan.format.surveys_are_not_written")):
        export_survey(tmp_path / "data.csv", tmp_path / "data.xyz")
    with pytest.raises(PlanError, check=coded("plan.labels")):
        read_labels(tmp_path / "data.csv")


def test_the_command_line_reads_and_writes(survey, tmp_path, sfumato) -> None:
    assert sfumato("import", survey, "--out", tmp_path / "in.csv").code == 0
    arguments = ("--out", tmp_path / "back.dta", "--labels", tmp_path / "in.labels.json")
    assert sfumato("export", tmp_path / "in.csv", *arguments).code == 0
    assert (tmp_path / "back.dta").exists()


def test_a_sas_transport_file_is_read(tmp_path) -> None:
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


def write_sas(path: Path, columns: dict[str, list[float | str | None]]) -> None:
    """Write a SAS file by the library inside pyreadstat, which has a writer for them that Python does not see."""
    from pyreadstat import _readstat_writer

    library = ctypes.CDLL(_readstat_writer.__file__)
    if not hasattr(library, "readstat_begin_writing_sas7bdat"):
        pytest.skip("this build hides the writer of SAS files")
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    library.readstat_writer_init.restype = library.readstat_add_variable.restype = pointer
    library.readstat_add_variable.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int, size]
    library.readstat_insert_double_value.argtypes = [pointer, pointer, ctypes.c_double]
    library.readstat_insert_string_value.argtypes = [pointer, pointer, ctypes.c_char_p]
    library.readstat_insert_missing_value.argtypes = [pointer, pointer]
    library.readstat_begin_writing_sas7bdat.argtypes = [pointer, pointer, ctypes.c_long]
    parts: list[bytes] = []
    taker = ctypes.CFUNCTYPE(ctypes.c_ssize_t, pointer, size, pointer)
    take = taker(lambda data, length, _: parts.append(ctypes.string_at(data, length)) or length)
    writer = pointer(library.readstat_writer_init())
    library.readstat_set_data_writer.argtypes = [pointer, taker]
    library.readstat_set_data_writer(writer, take)
    texts = {name: isinstance(values[0], str) for name, values in columns.items()}
    variables = {
        name: pointer(
            library.readstat_add_variable(writer, name.encode(), 0 if texts[name] else 5, 12 if texts[name] else 0)
        )
        for name in columns
    }
    steps = [library.readstat_begin_writing_sas7bdat(writer, None, len(next(iter(columns.values()))))]
    for row in zip(*columns.values(), strict=True):
        steps.append(library.readstat_begin_row(writer))
        for name, value in zip(columns, row, strict=True):
            variable = variables[name]
            if value is None:
                steps.append(library.readstat_insert_missing_value(writer, variable))
            elif isinstance(value, str):
                steps.append(library.readstat_insert_string_value(writer, variable, value.encode()))
            else:
                steps.append(library.readstat_insert_double_value(writer, variable, value))
        steps.append(library.readstat_end_row(writer))
    steps.append(library.readstat_end_writing(writer))
    library.readstat_writer_free(writer)
    assert not any(steps)
    path.write_bytes(b"".join(parts))


def test_a_sas_file_is_read_and_released(tmp_path) -> None:
    rows = {"sex": ["f", "m"] * 10, "age": [float(20 + row % 4) for row in range(20)], "pay": [None, *[1500.25] * 19]}
    write_sas(tmp_path / "survey.sas7bdat", rows)
    survey = read_survey(tmp_path / "survey.sas7bdat")
    assert survey.columns["age"] == [str(20 + row % 4) for row in range(20)]
    assert survey.columns["pay"][:2] == [None, "1500.25"] and survey.columns["sex"] == rows["sex"]
    columns = {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"type": "intervals", "widths": [2]}},
        "pay": {"role": "insensitive"},
    }
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}]}
    release = anonymize(tmp_path / "survey.sas7bdat", plan)
    release.save(tmp_path / "out")
    assert verify(tmp_path / "out").satisfied
