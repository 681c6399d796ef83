"""Counts are told in words that fit them: one row, two rows."""

import re

import pytest

from sfumato.localization.messages import words_in
from sfumato.localization.plurals import CHOICE

# Words for several, which stand behind a count of one as badly as its verb.
SEVERAL = {
    "en": "rows|columns|cells|attacks|values|classes|labels|persons|households|combinations|characters|attempts|"
    "methods",
    "de": "Zeilen|Spalten|Zellen|Angriffe|Werten?|Klassen|Bezeichnungen|Personen|Haushalten?|Kombinationen|Versuchen?",
}
# Sentences about several columns, and groups that are never of one.
ALWAYS_SEVERAL = ("_many",)


@pytest.mark.parametrize("language", SEVERAL)
def test_no_text_has_words_for_several_behind_a_count(language) -> None:
    fixed = re.compile(rf"\{{(?!method|share|linked)\w+\}} (?:{SEVERAL[language]})\b")
    texts = {
        key: text
        for key, text in words_in(language).items()
        if not key.startswith(("said.", "error.", "note.", "reason."))
    }
    assert [key for key, text in texts.items() if fixed.search(text) and not key.endswith(ALWAYS_SEVERAL)] == []


@pytest.mark.parametrize(
    ("language", "one", "two"),
    [
        ("en", "1 attack was run on the published rows (x); none succeeded.", "2 attacks were run on"),
        (
            "de",
            "1 Angriff wurde auf die veröffentlichten Zeilen ausgeführt (x); keiner war erfolgreich.",
            "2 Angriffe wurden",
        ),
    ],
)
def test_one_attack_is_no_attacks(language, one, two) -> None:
    text = words_in(language)["attack.outside_none"]
    assert text.format(tries=1, attacks="x") == one
    assert text.format(tries="2", attacks="x").startswith(two)


def test_both_languages_count_by_counts_that_the_sentence_has() -> None:
    for language in SEVERAL:
        for key, text in words_in(language).items():
            assert {name for name, _, _ in CHOICE.findall(text)} <= set(re.findall(r"\{(\w+)(?::[^{}|]*)?\}", text)), (
                key
            )
