"""The page of attributes, and the names of stages that jobs report."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from walking import GERMAN, button, choose

import sfumato
from sfumato.attributes.operations.operation import ValueRefusedError
from sfumato.cli.options import STAGES
from sfumato.localization.messages import words_in
from sfumato.pipelines.attributes import anonymize_attributes, read_attribute_records
from sfumato.web.attribute_area import OPERATIONS, guessed, operations_for, refusal_text, shown

PAYROLL = "\n".join(
    [
        "Name;Gehalt;Geburtstag",
        "Jörg;2.345,67;03.04.1980",
        "Änne;1.999,00;12.11.1975",
        "Zoë;;01.01.1990",
        "Ulf;3.100,5;30.06.1966",
    ]
)


def test_a_german_file_is_guessed_and_generalized(tmp_path) -> None:
    path = tmp_path / "leute.csv"
    path.write_text(PAYROLL, encoding="utf-8")
    records = read_attribute_records(path)
    configuration = {name: guessed(name, records) for name in records[0]}
    assert [entry["dataType"] for entry in configuration.values()] == ["String", "Numeric", "Date"]
    answer = anonymize_attributes(records, configuration).data
    assert answer[0]["Gehalt"] == "1999.0 - 3100.5"
    assert answer[2]["Gehalt"] is None


def test_only_operations_that_there_are_are_offered() -> None:
    assert operations_for("String") == operations_for("Boolean") == ("Masking",)
    assert operations_for("Address") == ("Masking", "Generalization")
    assert operations_for("Date") == operations_for("Double") == OPERATIONS


@pytest.mark.parametrize(
    ("value", "german"),
    [(None, ""), (2.5, "2,5"), ("2345.67", "2345,67"), ({"min": 1.5, "max": 3}, "1,5 – 3"), ("<= 2.5", "<= 2,5")],
)
def test_values_are_shown_as_people_write_them(value, german) -> None:
    assert shown(value, words_in("de")) == german


@pytest.mark.parametrize(
    ("kind", "operation", "complaint"),
    [
        ("Numeric", "Generalization", "complaint.no_number"),
        ("Date", "Randomization", "complaint.no_date"),
        ("DateTime", "Generalization", "complaint.no_moment"),
    ],
)
def test_a_refusal_names_the_value_and_is_german_on_a_german_page(kind, operation, complaint) -> None:
    with pytest.raises(ValueRefusedError) as caught:
        anonymize_attributes([{"a": "x"}, {"a": "y"}], {"a": {"anonymisationType": operation, "dataType": kind}})
    said = caught.value.text_for_sender()
    assert (said.values["example"], said.values["complaint"].code) == ("x", complaint)
    assert refusal_text(caught.value, words_in("de")) != refusal_text(caught.value, words_in("en")) == said


def test_a_german_file_on_the_page(base, open_page, tmp_path) -> None:
    (tmp_path / "leute.csv").write_text(PAYROLL, encoding="utf-8")
    page = open_page(f"{base}/app/attributes", locale="de-DE")
    page.locator("input[type=file]").first.set_input_files(tmp_path / "leute.csv")
    page.get_by_label("Operation: Gehalt").wait_for()
    preview = page.get_by_role("region", name="Vorschau")
    preview.get_by_text("2345,67").wait_for()
    assert "None" not in preview.inner_text()
    choose(page, "Datentyp: Gehalt", "Text")
    page.get_by_label("Operation: Gehalt").click()
    assert page.get_by_role("option").all_inner_texts() == [GERMAN["operation.Masking"]]
    page.keyboard.press("Escape")
    choose(page, "Datentyp: Gehalt", "Zahlen")
    choose(page, "Operation: Gehalt", "Generalisieren")
    preview.get_by_text("→ 1999 - 3100,5").first.wait_for()
    button(page, "Anonymisieren").click()
    page.get_by_text("kAnonymity").wait_for()


TELLING = {"step": 1, "callback": 3, "_stage": 1, "tell": 3, "progress": 3, "_tell": 3, "_progress": 3}


@cache
def _stages() -> frozenset[str]:
    return frozenset(_told())


def _told() -> Iterator[str]:
    """The names in calls that tell of a stage: so many arguments, the first of them a text."""
    texts = (path.read_text(encoding="utf-8") for path in Path(sfumato.__file__).parent.rglob("*.py"))
    for text in texts:
        for call in ast.walk(ast.parse(text)) if any(f"{name}(" in text for name in TELLING) else ():
            if isinstance(call, ast.Call) and len(call.args) == TELLING.get(_name(call.func)):
                first = call.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_stage_has_words(language) -> None:
    stages = _stages()
    assert stages >= {"count", "search", "apply", "verify", "measure"}
    assert stages - {*words_in(language)} == set()
    assert stages - {*STAGES, "pack"} == set(), "packing is told by the server alone"
