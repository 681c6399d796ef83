"""Codes that mean missing in one column and are values of another: what is proposed, and that it runs."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.engines.engine import MissingRules
from sfumato.engines.opening import open_engine
from sfumato.engines.survey_files import book_of
from sfumato.hierarchies.role_detection.survey_codes import CodeBook
from sfumato.localization.messages import words_in
from sfumato.microdata.plan.builder import Plan
from sfumato.pipelines.plan_suggestion.counted_rows import CountedRows
from sfumato.pipelines.suggest import suggest_plan

AGES = [18 + row * 7 % 60 if row % 9 else 99 for row in range(600)]
HOURS = [(10, 20, 38, 40, 60, 99)[row % 6] for row in range(600)]
ROWS = pl.DataFrame({"age": AGES, "hours": HOURS, "sex": [("m", "f")[row % 2] for row in range(600)]})
BOOK = CodeBook(values={"age": {"99": "no answer"}})


def test_a_code_of_one_column_is_proposed_for_that_alone() -> None:
    proposal = suggest_plan(open_engine(ROWS, Plan()), book=BOOK)
    assert proposal.plan["columns"]["age"]["missing"] == ["99"]
    assert "missing" not in proposal.plan["columns"]["hours"]
    assert "missing" not in proposal.plan["data"]
    profile = next(profile for profile in proposal.profiles if profile.name == "age")
    assert profile.missing == AGES.count(99)
    assert proposal.reasons["age"].endswith("Codes for a missing value, in this column alone: 99.")
    german = words_in("de").text(proposal.reasons["age"])
    assert german.endswith("Codes für einen fehlenden Wert, nur in dieser Spalte: 99.")


def test_the_proposal_runs_and_the_code_is_gone() -> None:
    proposal = suggest_plan(open_engine(ROWS, Plan()), book=BOOK)
    release = sf.anonymize(ROWS, proposal.plan)
    assert release.data["age"].null_count()
    assert not any("99" in (text or "") for text in release.data["age"].cast(pl.String))
    assert sf.verify(release).satisfied
    told = next(note for note in release.report.notes if note.startswith("Codes were read as missing values"))
    assert words_in("de").text(told) == ("Codes wurden als fehlende Werte gelesen, nur in diesen Spalten: age (99).")
    assert release.report.to_dict()["missing_codes"] == {"age": ["99"]}


def test_nines_far_above_one_column_and_within_another() -> None:
    rows = ROWS.with_columns(age=pl.col("age").replace(99, 999), hours=pl.col("hours") * 20)
    rows = rows.with_columns(hours=pl.when(pl.int_range(600) % 50 == 0).then(999).otherwise("hours"))
    proposal = suggest_plan(open_engine(rows, Plan()))
    assert proposal.plan["columns"]["age"]["missing"] == ["999"]
    assert "missing" not in proposal.plan["columns"]["hours"]
    assert "missing" not in proposal.plan["data"]


def test_na_is_missing_where_it_is_no_province() -> None:
    provinces = [("NA", "TO", "PA", "BO", "VR")[row % 5] for row in range(600)]
    jobs = [("cook", "baker", "NA")[row % 3] for row in range(600)]
    proposal = suggest_plan(open_engine(ROWS.with_columns(prov=pl.Series(provinces), job=pl.Series(jobs)), Plan()))
    assert proposal.plan["columns"]["job"]["missing"] == ["NA"]
    assert "missing" not in proposal.plan["columns"]["prov"]


def test_a_code_that_no_column_has_as_a_value_stays_one_of_all() -> None:
    proposal = suggest_plan(open_engine(ROWS.with_columns(hours=pl.lit(38)), Plan()), book=BOOK)
    assert proposal.plan["data"]["missing"] == ["99"]
    assert "missing" not in proposal.plan["columns"]["age"]


def test_rows_that_were_counted_are_not_counted_again() -> None:
    class Counted:
        columns = ("age", "hours")
        asked = 0

        def count(self, columns, reading):
            self.asked += 1
            return open_engine(ROWS, Plan()).count(columns, reading)

    engine = Counted()
    rows = CountedRows(engine)
    assert rows.texts["age"]["99"] == AGES.count(99)
    asked = engine.asked
    emptied = rows.without({"age": ["99"]})
    assert emptied.texts["age"][None] == AGES.count(99)
    assert "99" not in emptied.texts["age"]
    assert emptied.texts["hours"]["99"] == HOURS.count(99)
    assert emptied.count(["age", "hours"], MissingRules()).rows == 600
    assert engine.asked == asked


def test_declarations_of_spss_are_kept_and_labels_become_codes(tmp_path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = ROWS.with_columns(sex=pl.col("sex").replace_strict({"m": 1, "f": 2}, return_dtype=pl.Int64)).to_pandas()
    declared = {"age": [99]}
    pyreadstat.write_sav(frame, str(tmp_path / "declared.sav"), missing_ranges=declared)
    pyreadstat.write_sav(frame, str(tmp_path / "labeled.sav"), variable_value_labels={"age": {99: "no answer"}})
    assert book_of(tmp_path / "labeled.sav").values["age"] == {"99": "no answer"}
    labeled = sf.suggest(tmp_path / "labeled.sav")
    assert labeled.columns["age"].missing == ("99",)
    for name in ("declared.sav", "labeled.sav"):
        plan = sf.suggest(tmp_path / name)
        release = sf.anonymize(tmp_path / name, plan)
        published = pl.read_csv(release.data, infer_schema=False)
        assert published["age"].null_count(), name
        assert not any("99" in (text or "") for text in published["age"]), name
        release.close()
