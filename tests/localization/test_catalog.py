"""Every code that the sources use has a text in each language, filled with exactly the values that are given."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import sfumato
from sfumato.delimited.dialect import ragged
from sfumato.errors import DataError, InternalError, PlanError, SfumatoError, UnattainableError, issue
from sfumato.localization.messages import Message, read_message, words_in
from sfumato.microdata.plan.read import read_plan
from sfumato.tables.plan.table_plan import read_table_plan

SOURCES = Path(sfumato.__file__).parent
ENGLISH, GERMAN = words_in(), words_in("de")
KINDS = {kind.__name__: kind.kind for kind in (*SfumatoError.__subclasses__(), SfumatoError)}
# Where the code stands among the arguments of a call, and what precedes it in the key of its text.
CALLS = {
    "Message": (0, ""),
    "issue": (1, "error.issue."),
    "refuse": (1, "error.issue."),
    "wrong": (3, "error.data."),
    **{name: (0, f"error.{kind}.") for name, kind in KINDS.items()},
}
CODED = ("error.", "note.", "phrase.", "reason.", "hint.", "complaint.", "request.", "weight.", "located.")


def called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


@cache
def calls() -> list[tuple[str, str, ast.Call]]:
    """Every call that gives a code: its place, the key of the text, and the call."""
    return list(_calls())


def _calls() -> Iterator[tuple[str, str, ast.Call]]:
    for path in sorted(SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or called(node) not in CALLS:
                continue
            place, before = CALLS[called(node)]
            if (called(node) == "refuse" and "schema" not in path.parts) or len(node.args) <= place:
                continue
            for code in codes(node.args[place]):
                yield f"{path.relative_to(SOURCES)}:{node.lineno}", before + code, node


def codes(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return codes(node.body) + codes(node.orelse)
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


def fields(key: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(ENGLISH.texts[key]) if name is not None}


def test_every_code_has_a_text_and_its_values() -> None:
    wrong, seen = [], 0
    for place, key, node in calls():
        given = {keyword.arg for keyword in node.keywords}
        if "message" in given and called(node) != "Message":
            continue
        seen += 1
        if key not in ENGLISH:
            wrong.append(f"{place} {key}")
            continue
        own = given - {"hint"}
        needed = fields(key) | (fields(f"{key}.do") if f"{key}.do" in ENGLISH and "hint" not in given else set())
        if None not in given and needed != own:
            wrong.append(f"{place} {key}: {needed ^ own}")
    assert wrong == [] and seen > 1000


def test_every_text_has_a_code_in_the_sources() -> None:
    """A code may also be made of parts: then its last part, or all but it, stands in the sources."""
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    known = {key for _, key, _ in calls()}
    literal = set(re.findall(r'f?"([\w.{}-]+)"', source))
    left = []
    for key in (key.removesuffix(".do") for key in ENGLISH if key.startswith(CODED)):
        ends = [key.split(".", 2)[-1], key.split(".")[-1]] if key.startswith("error.") else [key, key.partition(".")[2]]
        if key not in known and not any(end in literal for end in ends) and key != "error.internal":
            left.append(key)
    assert left == []


# Texts that come from elsewhere: bodies of the service, stored jobs, and reasons for roles.
RECEIVED = (
    "service/",
    "web/",
    "attributes/knowledge_graph/documents.py",
    "docs_reference/",
    "localization/messages.py",
)
SHOWN = {"notes", "remarks", "warnings", "notices", "message", "hint"}


def test_texts_that_people_read_are_messages() -> None:
    """A field or argument for notes, warnings, errors and hints takes messages; mypy then refuses composed texts."""
    plain = []
    for path in sorted(SOURCES.rglob("*.py")):
        place = path.relative_to(SOURCES).as_posix()
        for node in () if place.startswith(RECEIVED) else ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = getattr(node, "arg", getattr(getattr(node, "target", None), "id", ""))
            annotation = getattr(node, "annotation", None)
            if name in SHOWN and annotation is not None and re.search(r"\bstr\b", ast.unparse(annotation)):
                plain.append(f"{place}:{node.lineno} {name}")
    assert plain == []


def test_values_are_no_english_words() -> None:
    """A value that is a text in the code would stay English in every language: it is a message, or its own code."""
    english = [
        f"{place} {key} {keyword.arg}"
        for place, key, node in calls()
        for keyword in node.keywords
        if isinstance(keyword.value, ast.Constant | ast.JoinedStr | ast.IfExp) and keyword.arg != "type"
        for part in ast.walk(keyword.value)
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and re.search("[a-z]{3} [a-z]{2}", part.value)
    ]
    assert english == []


@pytest.mark.parametrize(
    ("error", "german"),
    [
        (DataError("no-rows.holds_no_rows", name="a.b.csv"), "a.b.csv enthält keine Zeilen."),
        (
            ragged(1234, "a.csv", 7),
            "a.csv, Zeile 1234, Spalte 7: Eine Zeile hat zu viele oder zu wenige Felder",
        ),
        (
            UnattainableError("previous-noise", name="x", persons=2, most=3, share=0.125, share2=0.5),
            "columns.x: Werte von 2 Personen änderten sich wenig; 3 Freigaben mitteln sich zu einem Rauschen von 0,12 "
            "Standardabweichungen; verlangt sind 0,5.",
        ),
        (
            PlanError.listing([issue("a", "missing_key"), issue("b", "not_empty")]),
            "a: fehlt.\nb: darf nicht leer sein.",
        ),
        (
            InternalError("unforeseen", name="KeyError", where="a.py, line 1"),
            "Ein unerwarteter KeyError in a.py, line 1.",
        ),
    ],
)
def test_errors_in_german(error, german) -> None:
    assert GERMAN.text(error.text).startswith(german)
    assert ENGLISH.text(error.text) == str(error) != GERMAN.text(error.text)


@pytest.mark.parametrize(
    ("plan", "german"),
    [
        ({"version": 1, "columns": {"a": {"role": "quasi"}}, "privacy": []}, "columns.a.role: "),
        ({"version": 1, "columns": {}, "privacy": [{"model": "k-anonymity", "k": -3}]}, "privacy[0].k: "),
        ({"version": 1, "kolumns": {}}, "kolumns: "),
    ],
)
def test_issues_of_plans_in_german(plan, german) -> None:
    with pytest.raises(PlanError) as caught:
        read_plan(plan)
    lines = GERMAN.text(caught.value.text).split("\n")
    assert any(line.startswith(german) for line in lines)
    assert not re.search(r"\b(the|must|needs|missing|give)\b", " ".join(lines), re.I)


def test_issues_of_table_plans_in_german() -> None:
    with pytest.raises(PlanError) as caught:
        read_table_plan({"version": 1, "table": {"dimensions": {}}})
    assert not re.search(r"\b(the|must|needs|missing|give)\b", GERMAN.text(caught.value.text), re.I)


def test_german_has_no_english_words() -> None:
    """Words of plans, options and names aside."""
    words = re.compile(r"\b(its|the|and|others|they|are|is|but|who|with|from|of|has|have|choose|there|nobody)\b")
    named = re.compile(r"""{[^{}]*}|„[^“]*“|"[^"]*"|[\w.]*\([^()]*\)|--[\w-]+""")
    german = {key: named.sub("", text) for key, text in GERMAN.items() if key.startswith(CODED)}
    assert [key for key, text in german.items() if words.search(text)] == []


def test_messages_are_stored_and_read() -> None:
    parts = (Message("note.other_sheets", count=2, name="A", others="B"), Message("hint.valid", names="x"))
    message = Message("sentences", parts=parts)
    stored = read_message(message.to_json())
    assert stored == message and GERMAN.text(stored) == GERMAN.text(message) != message
