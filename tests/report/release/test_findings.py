"""What is found of many columns stands in one sentence, whose list of names is folded where there is little room."""

import re

import polars as pl
import pytest

from sfumato.localization.messages import words_in
from sfumato.microdata.measures.inference import InferenceRisk
from sfumato.pipelines.release import anonymize
from sfumato.report.release.column_evidence import ReportData
from sfumato.report.release.findings import disclosure, heavily_generalized_columns, inference_risks
from sfumato.report.release.report import files, text
from sfumato.values import replace

NAMES = [f"answer_{place:02}" for place in range(1, 13)]


@pytest.fixture(scope="module")
def told_by_sex():
    """A release in which twelve columns have one value in each class, and ten more are withheld."""
    keys = [f"key_{place}" for place in range(10)]
    rows = [
        {"sex": "mf"[place % 2], **dict.fromkeys(NAMES, "yn"[place % 2]), **dict.fromkeys(keys, str(place))}
        for place in range(40)
    ]
    columns = {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    columns |= {name: {"role": "sensitive"} for name in NAMES} | {name: {"role": "identifier"} for name in keys}
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 2}]}
    made = anonymize(pl.DataFrame(rows), plan)
    yield made
    made.close()


@pytest.mark.parametrize(("language", "says"), [("en", "share one value"), ("de", "denselben Wert")])
def test_what_is_found_of_many_columns_is_one_sentence(told_by_sex, language, says) -> None:
    told = [line for line in disclosure(words_in(language), told_by_sex.report) if says in line]
    assert len(told) == 1
    assert all(name in told[0] for name in NAMES)


def test_the_terminal_names_the_first_of_many_columns(told_by_sex) -> None:
    said = text(told_by_sex.report)
    assert (
        len([line for line in said.splitlines() if line.startswith("  discloses") and "share one value" in line]) == 1
    )
    assert "and 7 more" in said and "answer_12" not in said
    assert "10 removed (* in every row): key_0, key_1, key_2, key_3, key_4 and 5 more" in said


@pytest.mark.parametrize("name", ["report.html", "report-external.html"])
def test_reports_fold_long_lists_and_have_every_name(told_by_sex, name) -> None:
    page = files(ReportData(told_by_sex.report, told_by_sex.plan))[name]
    table = page[page.index("<tbody>") :]
    assert re.search(r"key_4<details><summary> and 5 more</summary><span>, key_5", table)
    assert all(page.count(f"key_{place}") for place in range(10))


def test_many_lost_columns_are_told_together(told_by_sex) -> None:
    entry = {"share_lost": 0.9, "labels": 1, "values": 40}
    details = {"heavily_generalized_columns": [{"column": name, **entry} for name in NAMES]}
    details["columns_with_few_values"] = [{"column": name, "left": 1, "values": 30} for name in NAMES]
    report = replace(told_by_sex.report, details=details, removed_columns=())
    told = heavily_generalized_columns(words_in(), report)
    assert len(told) == 2
    assert "answer_07 (90.0 % lost, 1 label for 40 values)" in told[0]
    assert "answer_07 (1 of 30)" in told[1]


def test_columns_that_give_one_away_are_told_together(told_by_sex) -> None:
    given_away = tuple(InferenceRisk(name, "sex", 0, 0.5, 1.0) for name in NAMES)
    report = replace(told_by_sex.report, disclosure=replace(told_by_sex.report.disclosure, inference_risks=given_away))
    told = inference_risks(words_in(), report)
    assert len(told) == 1 and "12 columns each nearly determine sex" in told[0]
