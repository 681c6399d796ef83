"""Words for illness and stays in hospital in many languages: they are known, and none means else in another."""

import pytest

from sfumato.hierarchies.role_detection.lexicon import concepts
from sfumato.hierarchies.role_detection.lexicon.concepts import CONCEPTS, fold, read_sections
from sfumato.hierarchies.role_detection.missing_value_codes import MISSING_WORDS
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.questionnaire_columns import ANSWERS
from sfumato.hierarchies.role_detection.roles import suggest

FILES = ("languages.txt", "further_languages.txt")


@pytest.mark.parametrize(
    "name",
    [
        *("hoitopäivät", "Hoitoaika", "haiglapäevad", "ravikestus", "ápolási napok", "zile_spitalizare"),
        *("durata internării", "trajanje_hospitalizacije", "délka hospitalizace", "gulėjimo trukmė", "liggetid"),
        *("liggedøgn", "días de estancia", "duración_estancia", "yatış süresi", "ημέρες νοσηλείας", "Престой (дни)"),
    ],
)
def test_how_long_somebody_lay_in_hospital_is_private(name: str) -> None:
    stays = {str(days): 40 - days for days in range(1, 31)}
    suggestion = suggest(Profile(name, stays, sum(stays.values())))
    assert (suggestion.role, suggestion.concept) == ("sensitive", "health"), suggestion.reason


def test_no_word_for_illness_is_another_languages_word_for_what_others_know() -> None:
    """Words are compared without accents: one may become "no", or the place of another language."""
    illness = {
        word
        for file in FILES
        for head, words in read_sections(file, concepts.__package__)
        for word in words
        if head[0] == "health"
    }
    known = {word for concept in CONCEPTS if concept.role != "sensitive" for word in concept.words}
    elsewhere = known | ANSWERS | {fold(word) for word in MISSING_WORDS}
    assert not illness & elsewhere


def test_a_farm_is_no_stay() -> None:
    farms = {f"La {name}": 9 for name in ("Juana", "Paz", "Rosita", "Elena", "Porteña", "Blanca")}
    assert suggest(Profile("estancia", farms, 54)).concept != "health"
