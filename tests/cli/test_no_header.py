"""A file without a header: its first row is a person, who must not be quoted by any command."""

import pytest
import yaml

from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.errors import DataError, PlanError
from sfumato.microdata.data_plan import DataPlan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.risk import risk
from sfumato.pipelines.verify import verify

ROWS = "Greta Graf,34,70150\nAnna Abel,35,70151\nBert Bode,34,70150\nCara Christ,35,70151\n"
FIRST = ("Greta Graf", "34", "70150")
PLAN = {
    "version": 1,
    "data": {"source": "rows.csv"},
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 5}},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"order": "keep"},
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "good.csv").write_text("name,age,zip\n" + ROWS, encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(PLAN, sort_keys=False), encoding="utf-8")
    return tmp_path


COMMANDS = {
    "anonymize": ("anonymize", "plan.yaml", "--out", "out"),
    "compare": ("compare", "plan.yaml", "--out", "out"),
    "risk by a plan": ("risk", "rows.csv", "--plan", "plan.yaml"),
    "risk by names": ("risk", "rows.csv", "--quasi-identifiers", "age,zip"),
    "verify by a plan": ("verify", "rows.csv", "--plan", "plan.yaml"),
    "verify by names": ("verify", "rows.csv", "--k", "2", "--quasi-identifiers", "age,zip"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_nobody_is_quoted(sfumato, folder, monkeypatch, name) -> None:
    monkeypatch.chdir(folder)
    ran = sfumato(*COMMANDS[name])
    assert ran.code == 2
    assert "has the file a header?" in ran.err
    assert not [value for value in FIRST if value in ran.err + ran.out]


def test_nobody_is_quoted_when_a_recoding_is_applied(sfumato, folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    assert sfumato("anonymize", "plan.yaml", "--data", "good.csv", "--out", "out").code == 0
    ran = sfumato("apply", "out/recoding.json", "rows.csv", "--out", "new")
    assert (ran.code, "has the file a header?" in ran.err) == (2, True)
    assert "Greta" not in ran.err


def test_the_names_are_for_the_caller_of_the_library(folder) -> None:
    data = folder / "rows.csv"
    calls = (
        lambda: anonymize(data, PLAN),
        lambda: risk(data, ["age", "zip"]),
        lambda: verify(data, PLAN),
    )
    for call in calls:
        with pytest.raises(PlanError) as caught:
            call()
        assert caught.value.values == FIRST
        assert "Greta" not in str(caught.value)


def test_columns_are_quoted_where_one_of_them_is_known(sfumato, folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    ran = sfumato("risk", "good.csv", "--quasi-identifiers", "age,zipp")
    assert 'Did you mean "zip"?' in ran.err
    ran = sfumato("verify", "good.csv", "--k", "2", "--quasi-identifiers", "age,zipp")
    assert 'Did you mean "zip"?' in ran.err


HEADLESS = {
    "numbers": "34,70150\n35,70151\n",
    "values that repeat": "Graf,Berlin\nAbel,Bonn\nBode,Berlin\n",
    "dates": "Graf,1980-01-31\nAbel,1981-02-28\n",
    "addresses": "Graf,graf@example.org\nAbel,abel@example.org\n",
    "an empty field beside numbers": ",34\nAbel,35\n",
}
WITH_HEADER = {
    "words": "name,age\nGraf,34\n",
    "years beside a name": "land,births,1990,2000\nA,7,1,2\nB,8,3,4\n",
    "a header alone": "name,1990\n",
    "codes": "code,x1\nA1,B2\nA3,B4\n",
    "a name among the values, beside numbers": "age,x\n34,x\n35,y\n",
}


@pytest.mark.parametrize("name", HEADLESS)
@pytest.mark.parametrize("command", ["suggest", "risk"])
def test_a_first_line_that_looks_like_data_is_refused(sfumato, tmp_path, name, command) -> None:
    (tmp_path / "rows.csv").write_text(HEADLESS[name])
    more = ("--quasi-identifiers", HEADLESS[name].partition("\n")[0]) if command == "risk" else ()
    ran = sfumato(command, str(tmp_path / "rows.csv"), *more)
    assert (ran.code, "--no-header" in ran.err) == (2, True)
    assert not any(value in ran.err + ran.out for value in HEADLESS[name].replace("\n", ",").split(",") if value)


@pytest.mark.parametrize("name", WITH_HEADER)
def test_a_header_is_a_header(tmp_path, name) -> None:
    (tmp_path / "rows.csv").write_text(WITH_HEADER[name])
    assert DuckDBEngine(tmp_path / "rows.csv").columns == tuple(WITH_HEADER[name].partition("\n")[0].split(","))


def test_a_header_that_looks_like_data_can_be_vouched_for(tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("1990,2000\n1,2\n")
    assert DuckDBEngine(tmp_path / "rows.csv", DataPlan(header=True)).columns == ("1990", "2000")


def test_files_without_a_header_are_read_where_that_is_said(sfumato, folder, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    ran = sfumato("anonymize", "plan.yaml", "--no-header", "--out", "out")
    assert ran.code == 0, ran.err
    lines = (folder / "out" / "data.csv").read_text().splitlines()
    assert (lines[0], len(lines)) == ("name,age,zip", 5)
    assert "Greta" not in (folder / "out" / "data.csv").read_text()
    assert sfumato("risk", "rows.csv", "--no-header", "--quasi-identifiers", "c2,c3").code == 0
    proposed = yaml.safe_load(sfumato("suggest", "rows.csv", "--no-header").out)
    assert (list(proposed["columns"]), proposed["data"]["header"]) == (["c1", "c2", "c3"], False)


def test_a_workbook_without_a_header_publishes_nobody(tmp_path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (("Graf", 34), ("Abel", 35), ("Graf", 34), ("Abel", 35)):
        book.active.append(row)
    book.save(tmp_path / "rows.xlsx")
    with pytest.raises(PlanError) as caught:
        DuckDBEngine(tmp_path / "rows.xlsx")
    assert caught.value.code == "plan.header"
    engine = DuckDBEngine(tmp_path / "rows.xlsx", DataPlan(header=False), ("name", "age"))
    assert engine.first_rows(1) == [{"name": "Graf", "age": "34"}]


@pytest.mark.parametrize("above", [[("Members of 2024",)], [("Members",), ("as of 1 May",), ()]])
def test_a_title_above_the_names_of_a_workbook_is_said(tmp_path, above) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for row in (*above, ("name", "age", "town"), ("Ada", 36, "Ulm"), ("Max", 41, "Bonn")):
        book.active.append(row)
    book.save(tmp_path / "rows.xlsx")
    with pytest.raises(DataError, match=r"line 1 of rows\.xlsx looks like a title"):
        DuckDBEngine(tmp_path / "rows.xlsx")


def test_equal_names_are_told_apart_with_a_note(tmp_path) -> None:
    (tmp_path / "rows.csv").write_text("zip,age,zip,zip_2\n1,2,3,4\n1,2,3,4\n")
    plan = PLAN | {
        "data": {"source": str(tmp_path / "rows.csv")},
        "columns": dict.fromkeys(("zip", "age", "zip_2", "zip_3"), PLAN["columns"]["age"]),
    }
    assert DuckDBEngine(tmp_path / "rows.csv").columns == ("zip", "age", "zip_3", "zip_2")
    release = anonymize(tmp_path / "rows.csv", plan)
    assert any("Column 3" in remark and "zip_3" in remark for remark in release.report.notes)
