"""The words of pages and reports: every language has the same, with the same placeholders, and all that is needed."""

import re
from pathlib import Path
from string import Formatter

import pytest

import sfumato.localization.messages as words_module
import sfumato.web
from sfumato.datasets import DATASETS
from sfumato.hierarchies.role_detection import role_reasons
from sfumato.hierarchies.role_detection.date_formats import DATE_FORMATS
from sfumato.hierarchies.role_detection.role_reasons import PHRASES
from sfumato.hierarchies.types import COLUMN_TYPES as TYPES
from sfumato.localization.messages import SAID, Message, accepted_words, languages, words_in
from sfumato.localization.plurals import PluralMessage
from sfumato.microdata.models.registry import SHAPES
from sfumato.microdata.plan.methods import METHOD
from sfumato.microdata.plan.model import ROLES
from sfumato.report.release.measures import forcing_sentences
from sfumato.schema.composite import Choice
from sfumato.tables.plan.sections import PERTURBATIONS
from sfumato.tables.plan.table_plan import ATTACKER, PROTECTION, RULES
from sfumato.web.microdata import method_choice, transform_choice
from sfumato.web.projects.loaded_data import load
from sfumato.web.tables import protection_settings

PAGES = Path(sfumato.web.__file__).parent
ENGLISH = words_in()
ENGLISH_WORDS = re.compile(r"\b(its|the|of|and|others|such|they|are|is|it|rows|values|which|but|who|with|from)\b", re.I)
# Words of plans, and what is called by its own name.
NAMED = re.compile(r"role: \w+|spellings: keep|order: \w+|[\"„][^\"“]+[\"“]|\((?:publish|role: \w+)\)")
USED = re.compile(r'(?:words_?|self\.words)\[f?"([^"]+)"\]')


def is_german(text: str) -> bool:
    return not ENGLISH_WORDS.search(NAMED.sub("", text))


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", languages())
def test_every_language_has_the_same_names_and_placeholders(language) -> None:
    other = words_in(language)
    assert list(other) == list(ENGLISH)
    assert other.language == language
    for name, text in ENGLISH.items():
        assert placeholders(other[name]) == placeholders(text), name
        assert other[name].strip()


def test_the_languages_are_there() -> None:
    assert languages() == ("de", "en")
    same = {
        name
        for name, text in words_in("de").items()
        if ENGLISH[name] == text and re.search("[a-z]", re.sub(r"{[^{}]*}", "", text))
    }
    assert len(same) < 30  # names of things, and what stands in square brackets


def test_every_word_that_a_page_asks_for_is_there() -> None:
    asked = [name for path in PAGES.rglob("*.py") for name in USED.findall(path.read_text(encoding="utf-8"))]
    assert len(asked) > 80
    patterns = ["^" + re.sub(r"\\{[^}]*\\}", ".+", re.escape(name)) + "$" for name in asked]
    unknown = [pattern for pattern in patterns if not any(re.match(pattern, name) for name in ENGLISH)]
    assert unknown == []


def named(owner: str, key: str) -> bool:
    return f"{owner}.{key}" in ENGLISH or f"key.{key}" in ENGLISH


def choices(shape) -> list[tuple[str, str]]:
    return [
        (key, name) for key, spec in shape.keys.items() if isinstance(spec.shape, Choice) for name in spec.shape.names
    ]


def test_every_model_method_and_rule_of_a_plan_is_offered_in_words() -> None:
    assert all(shape.make.start for shape in SHAPES.values())
    assert set(method_choice.METHODS) == set(METHOD.variants)
    assert set(protection_settings.STARTS) == set(RULES)
    for kind, known in (("model", SHAPES), ("method", METHOD.variants), ("rule", RULES)):
        for name, shape in known.items():
            assert {f"{kind}.{name}", f"{kind}.{name}.says"} <= set(ENGLISH)
            owner = f"rule.{name}" if kind == "rule" else name
            keys = [key for key in shape.keys if key not in ("suppression", "population", "subset")]
            assert [key for key in keys if not named(owner, key)] == []
            assert [pair for pair in choices(shape) if ".".join(pair) not in ENGLISH] == []
    assert all(named("masking", key) for key in protection_settings.METHOD_KEYS)
    for name, shape in PERTURBATIONS.items():
        keys = [key for key in shape.keys if key not in protection_settings.LEFT_OUT]
        assert [key for key in keys if not named(f"masking.{name}", key)] == []
        assert [pair for pair in choices(shape) if ".".join(pair) not in ENGLISH] == []
    for name in transform_choice.KINDS:
        keys = [key for key in transform_choice.fields_of(name) if key not in transform_choice.LEFT_OUT]
        assert [key for key in keys if not named(f"publish.{name}", key)] == []
    assert all(named("protection", key) for key in PROTECTION.keys)
    assert all(named("attacker", key) for key in ATTACKER.keys)
    assert {*ROLES, *(f"type.{name}" for name in TYPES)} <= set(ENGLISH)


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("en;q=0.5, de;q=0.9", "de"),
        ("fr, de;q=0.1", "de"),
        ("de;q=0, en", "en"),
        ("", "en"),
        ("tlh, xx-YY;q=0.1", "en"),
        ("../secrets", "en"),
        ("__init__", "en"),
    ],
)
def test_the_language_is_the_most_wanted_one_that_there_is(accepted, language) -> None:
    assert accepted_words(accepted).language == language


def test_reasons_for_roles_come_in_the_language_of_the_page(tmp_path) -> None:
    """Every sentence about the columns of the examples is known, and no English is left in it."""
    german, seen = words_in("de"), set()
    for name in ("patients", "stroke", "eight-rows"):
        path = tmp_path / f"{name}.csv"
        DATASETS[name]().write(path)
        seen |= set(load(path).reasons.values())
    assert len(seen) > 8
    for reason in seen:
        told = german.text(reason)
        assert told != reason
        assert not re.search(r"\b(its|the|of|and|others|such)\b", told)
        assert ENGLISH.text(reason) == reason


def test_a_text_without_code_is_translated_whatever_notation_its_numbers_have() -> None:
    """Messages that an earlier version stored are such texts."""
    message = Message("reason.comparing_run", method="samarati", k=5, share=0.02, runs=3)
    assert words_in("de").text(str(message)) == words_in("de").text(message) != message


def test_all_that_is_said_below_the_pages_is_known() -> None:
    german = words_in("de")
    risk = {"forcing": {"zip": {"rows": 1234, "level": 2}}}
    said = [*(about for _, about in DATE_FORMATS), *PHRASES.values()]
    assert all(german.text(sentence) != sentence for sentence in said)
    forcing = next(forcing_sentences(german, risk, {"zip": 3}))
    assert forcing.startswith("zip ist auf Stufe 3 wegen 1.234 Zeilen: Auf Stufe 2 ")
    folders = ("hierarchies", "tables", "report", "pipelines", "engines", "microdata", "attacks")
    modules = [module for folder in folders for module in (PAGES.parent / folder).rglob("*.py")]
    source = unbroken(modules)
    for key, text in ENGLISH.items():
        if (
            key.startswith(SAID)
            and not key.startswith(("said.note_", "said.fault_"))
            and key
            not in (
                "said.known_some",
                "said.doubt_some",
                "said.dates_more",
                "said.dates_one_more",
            )
        ):
            parts = [part for part in re.split(r"{\w+}", text) if len(part) > 4]
            assert all(part in source for part in parts), key


def unbroken(modules) -> str:
    """The sources of modules, their long texts in one piece."""
    source = "".join(module.read_text(encoding="utf-8") for module in modules)
    return re.sub(r"""['"]\s*\n\s*f?['"]""", "", source)


FILLED = {
    "count": "3.5",
    "share": "20",
    "after": "12",
    "before": "80",
    "word": '"zip"',
    "names": '"a" and "b"',
    "k": "5",
}
FILLED |= {
    "what": "5 categories",
    "tells": role_reasons.ONE_TOLD.format(other="ages"),
    "finer": '"visit"',
    "units": "kg, g",
}
FILLED |= {"first": "a", "second": "b", "column": "stay", "other": "ages", "person": "ages", "encoding": "cp1252"}
FILLED |= {"columns": '"a" and "b"', "twin": "ages", "step": "50", "left": "6", "numbers": "200", "codes": "98, 99"}
FILLED |= {"name": "result", "kinds": "test", "number": "2"}
KNOWN = '"zip" in its name indicates a place, which neighbors and directories know; here codes of 5 characters.'
# What is told of a file, in a plan; names of formats and of persons' columns.
TOLD_ELSEWHERE = ("ENCODING", "COMMAS_IN_TEXTS", "CELLS", "UNDECIDED", "REPEAT")


def test_reasons_are_german_whatever_is_put_behind_them() -> None:
    """Each reason by itself, and behind it each sentence that is put behind reasons, and two of these."""
    german = words_in("de")
    texts = {name: text for name, text in vars(role_reasons).items() if isinstance(text, str) and name.isupper()}
    filled = {
        name: PluralMessage(text).format(why=KNOWN, known=KNOWN, **FILLED)
        for name, text in texts.items()
        if name not in TOLD_ELSEWHERE
    }
    assert len(filled) > 30
    tails = [text for text in filled.values() if text.startswith(" ")]
    heads = [text for text in filled.values() if not text.startswith(" ")] + [role_reasons.UNDECIDED + KNOWN]
    both = filled["SPELLINGS"] + filled["MISSPELLINGS"]
    said = [*heads, *(head + tail for head in heads if head.endswith(".") for tail in (*tails, both))]
    wrong = [(text, german.text(text)) for text in said if not is_german(german.text(text))]
    assert wrong == []
    assert "3.5" not in "".join(map(german.text, said))


@pytest.mark.parametrize("language", languages())
def test_no_key_stands_twice(language) -> None:
    source = (Path(words_module.__file__).parent / f"{language}.yaml").read_text(encoding="utf-8")
    keys = re.findall(r"^([\w.-]+):", source, re.M)
    assert sorted(keys) == sorted(set(keys))


def test_a_table_is_read_once_however_it_is_asked_for():
    assert words_in() is words_in("en") is words_in(language="en")
