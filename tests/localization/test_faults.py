"""Faults in German: what readers, plans, hierarchies and tables refuse, as sources say it and as people meet it."""

import ast
import re
from pathlib import Path

import pytest

import sfumato
from sfumato.delimited.errors import damaged, empty, open_quote, ragged, title_line
from sfumato.errors import SfumatoError
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.localization.messages import words_in
from sfumato.localization.plurals import CHOICE
from sfumato.microdata.plan.read import read_plan
from sfumato.schema.composite import read
from sfumato.tables.plan.plan import read_table_plan

SOURCES = Path(sfumato.__file__).parent
GERMAN, ENGLISH = words_in("de"), words_in()
ENGLISH_WORDS = re.compile(r"\b(the|must|is|are|has|have|of|give|name|mend|row|column|with|needs|which|that)\b", re.I)
RAISING = re.compile(r"(?:\w+Error|PlanIssue|.*refuse|.*_fault)$")
# Rooms of which every sentence is known in German.
COMPLETE = ("attributes", "delimited", "engines", "hierarchies", "microdata", "schema", "tables/cells", "tables/plan")
# Sentences made of others, which are known with what they are made of.
COMPOSED = (
    *('column "7": 7.', "7 Or take the role weight off that column.", "7 Mappings go to sf.read_plan."),
    *("Not even the highest levels allowed satisfy 7.", "Raise max_level, or ask for less7.", "7; 7 would."),
    *("Allow 7 rows to be suppressed, or ask for less7.", "With 7 suppression nothing satisfies 7; 7 would."),
    "Allow 7 rows to be suppressed, raise max_level, or ask for less7.",
)
# Sentences with so little besides a name that they would be found in others.
NAMED = (
    "7 has no such code.",
    "the file ends before 7.",
    "7 occurs twice.",
    "7 is expected.",
    "there is no numeric variable7.",
)
# What is known of the sentences of other rooms; whoever translates more raises it.
LEAST = {"tables": 210, "service": 54, "pipelines": 249, "policies": 2}


def told(node: ast.expr) -> str:
    """A text of a source, with something that fits for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.BinOp):
        return told(node.left) + told(node.right)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "filled":
        return re.sub(r"{\w+}", "7", CHOICE.sub(lambda choice: choice[3], told(node.args[0])))
    if not isinstance(node, ast.JoinedStr):
        return "7"
    parts = [part.value if isinstance(part, ast.Constant) else _filled(ast.unparse(part)) for part in node.values]
    return "".join(map(str, parts))


def _filled(expression: str) -> str:
    return "a list" if "kind_of" in expression else " in line 7" if "_where" in expression else "7"


def sentences_of(room: str) -> list[str]:
    """What the errors of a room say, and what to do: every text that is a sentence."""
    found = []
    for path in sorted((SOURCES / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and RAISING.match(ast.unparse(node.func)):
                found += [text for text in map(told, node.args) if re.fullmatch(r"\S.* .*[.?]|is missing\.", text)]
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("room", COMPLETE)
def test_every_fault_is_known_in_german(room) -> None:
    said = sentences_of(room)
    assert said
    assert [text for text in said if GERMAN.sentence(text) == text and text not in COMPOSED] == []


@pytest.mark.parametrize("room", LEAST)
def test_as_many_faults_are_known_in_german_as_were(room) -> None:
    said = sentences_of(room)
    known = [text for text in said if GERMAN.sentence(text) != text]
    assert len(known) >= LEAST[room], f"{len(known)} of {len(said)}: {sorted({*said} - {*known})}"


def lines_of_faults() -> list[str]:
    """What readers of files say of a line, and what to do; batch files are run by a command, which speaks English."""
    said = []
    for path in sorted((SOURCES / "tables").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "wrong" and path.name != "batch_file.py":
                what, do = (
                    told(one) if isinstance(one, ast.Constant | ast.JoinedStr) else "" for one in node.args[3:5]
                )
                said += [text for text in (f"{what}." if what else "", do) if text.endswith(".")]
    return list(dict.fromkeys(said))


def test_what_is_wrong_in_a_line_of_a_file_is_known_in_german() -> None:
    said = lines_of_faults()
    assert len(said) > 100
    assert [text for text in said if GERMAN.sentence(text) == text and text not in NAMED] == []


def test_every_fault_of_the_table_of_texts_is_said_somewhere() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py"))
    source = re.sub(r"""['"]\s*\n\s*f?['"]""", "", source).replace('\\"', '"')
    for key, text in ENGLISH.items():
        if (
            key.startswith("said.fault_")
            and not key.endswith("_more")
            and not re.search("value_|request_|ends_before|is_expected", key)
        ):
            parts = [
                part.strip() for part in re.split(r"{\w+(?::[^{}]+)?}|[:.;\"(] ?| in line| of ", text) if len(part) > 12
            ]
            assert all(part in source for part in parts), key


def privacy(k) -> dict:
    column = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    return {"version": 1, "columns": {"a": column}, "privacy": [{"model": "k-anonymity", "k": k}]}


TABLE = {"version": 1, "table": {"source": "t.csv", "value": "n"}, "dimensions": [{"column": "a", "total": "T"}]}
FAULTS = {
    "k = -3": lambda: read_plan(privacy(-3)),
    "k is a text": lambda: read_plan(privacy("five")),
    "an unknown model": lambda: read_plan(privacy(2) | {"privacy": [{"model": "k-anonymty", "k": 2}]}),
    "an unknown key and a missing one": lambda: read_plan({"version": 1, "column": {}, "privacy": []}),
    "no quasi-identifier": lambda: read_plan(privacy(2) | {"columns": {"a": {"role": "sensitive"}}}),
    "a table without rules": lambda: read_table_plan({**TABLE, "primary": []}),
    "intervals": lambda: read(HIERARCHY, {"type": "intervals", "start": 9, "end": 1, "widths": [2]}, "hierarchy"),
    "widths": lambda: read(HIERARCHY, {"type": "intervals", "start": 1, "end": 9, "widths": [2, 3]}, "hierarchy"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_that_people_make_are_told_in_german(name) -> None:
    with pytest.raises(SfumatoError) as caught:
        FAULTS[name]()
    german = GERMAN.sentence(str(caught.value))
    assert german != str(caught.value)
    assert not ENGLISH_WORDS.search(re.sub(r"„[^“]*“|^\S+:|Möglich sind: .*", "", german, flags=re.M)), german


def test_ladders_in_files_are_told_in_german(tmp_path) -> None:
    """Bad lines, values that stand twice, and what is parted again."""
    for text, german in (
        ("a;b;*\nc;b\n", "Felder"),
        ("a;b;*\na;b;*\n", "Doppelter Wert (Zeile 2)"),
        ("a;b;x;*\nc;b;y;*\n", "trennt auf Stufe 2, was sie auf Stufe 1 vereint hatte (2 Werte"),
        ('a;"b\n', "Anführungszeichen"),
    ):
        (tmp_path / "h.csv").write_text(text, encoding="utf-8")
        hierarchy = read(HIERARCHY, {"type": "file", "path": "h.csv"}, "hierarchy").resolve_paths(tmp_path)
        with pytest.raises(SfumatoError) as caught:
            hierarchy.fit(["a"])
        told_german = GERMAN.sentence(str(caught.value))
        assert german in told_german
        assert not ENGLISH_WORDS.search(told_german), told_german


@pytest.mark.parametrize(
    "error",
    [
        empty("x.csv"),
        ragged(3, "x.csv"),
        open_quote(2),
        damaged(Path("x.csv")),
        title_line("x.csv"),
        title_line("x.csv", 3),
    ],
)
def test_files_that_cannot_be_read_are_told_in_german(error) -> None:
    assert not ENGLISH_WORDS.search(GERMAN.sentence(str(error)))
    assert GERMAN.sentence(error.message) != error.message


def test_what_is_not_known_as_a_whole_stays_english() -> None:
    """No sentence is half German."""
    english = "Nobody translated this. Put it in quotes."
    assert GERMAN.sentence(english) == english


def test_the_grand_total_is_told_in_german() -> None:
    told_german = GERMAN.sentence("totals do not add up: the grand total (by 1.5).")
    assert told_german == "Summen gehen nicht auf: Die Gesamtsumme weicht um 1,5 ab."


def test_totals_that_do_not_add_up_or_are_missing_are_told_in_german() -> None:
    said = "totals do not add up: sex m (by 1.998); the grand total (by 1200000) and 3 more."
    told_german = "Summen gehen nicht auf: sex m (um 1,998); die Gesamtsumme (um 1200000) und 3 weitere."
    assert GERMAN.sentence(said) == told_german
    said = "the parent of row 3 (Landkreis total) is missing."
    assert GERMAN.sentence(said) == "Die Summe über Zeile 3 (Summe von Landkreis) fehlt."


def test_who_attacks_a_table_is_told_in_german() -> None:
    said = "a sensitive cell cannot be protected from the largest contributor of region A by any suppression pattern."
    told_german = "Eine sensible Zelle lässt sich vor dem größten Beitragenden von region A durch keine Sperrung"
    assert GERMAN.sentence(said).startswith(told_german)
    assert "vor dem Unternehmen H1 durch" in GERMAN.sentence(
        said.replace("the largest contributor of region A", "holding H1")
    )
