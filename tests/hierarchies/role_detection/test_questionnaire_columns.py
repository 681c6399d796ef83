"""Answers, codes and written measures of columns that have no name, or one that tells nothing."""

from collections import Counter

import pytest

from sfumato.hierarchies.role_detection.column_context import with_context
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest


def column(name, *values, each=40):
    return Profile(name, Counter(dict.fromkeys(values, each)), each * len(values))


@pytest.mark.parametrize(
    ("values", "role", "concept"),
    [
        (("S", "M", "D", "W"), "quasi-identifier", "family"),
        (("LD", "VH", "GS", "VW"), "quasi-identifier", "family"),
        (("BRO", "BLK", "BLN", "GRY"), "quasi-identifier", "body"),
        (("OH", "IN", "KY", "PA"), "quasi-identifier", "place"),
        (("D", "TR", "PL", "SYR"), "quasi-identifier", "nationality"),
        (("5'04\"", "5'11\"", "6'01\""), "quasi-identifier", "body"),
        (("Hartsville", "Pine Grove", "Gallatin"), "quasi-identifier", "place"),
        (("37066", "37074", "37148", "37186"), "quasi-identifier", "place"),
        (("0", "500", "1000", "2500", "10000"), "sensitive", "money"),
        (("WHITE", "BLACK", "HISPANIC"), "quasi-identifier", "origin"),
        (("120/80", "135/85", "142/91"), "sensitive", "health"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_values_without_a_name_tell_together_what_they_are(values, role, concept):
    suggestion = suggest(column("c7", *values))
    assert (suggestion.role, suggestion.concept) == (role, concept), suggestion.reason


@pytest.mark.parametrize("name", ["arr", "map", "act", "opt", "ret", "hold", "os", "csv", "ss"])
def test_short_words_of_many_meanings_tell_nothing(name):
    assert suggest(column(name, "alpha", "beta", "gamma")).concept is None


def test_ages_with_typing_errors_are_ages():
    ages = {str(age): 30 for age in range(18, 80)} | {"999": 9, "0": 6}
    assert suggest(Profile("c5", ages, sum(ages.values()))).concept == "age"


def test_numbered_questions_with_one_set_of_answers_are_private():
    items = [column(f"bfi_{number}", *"12345") for number in range(1, 6)]
    profiles = {profile.name: profile for profile in items}
    roles = with_context({name: suggest(profile) for name, profile in profiles.items()}, profiles)
    assert {one.role for one in roles.values()} == {"sensitive"}


def roles_of(*profiles):
    by_name = {profile.name: profile for profile in profiles}
    return {
        name: one.role
        for name, one in with_context({name: suggest(profile) for name, profile in by_name.items()}, by_name).items()
    }


FORM = [column(f"F{number}_xq{number}", *"abc"[: 2 + number % 2]) for number in range(1, 6)]


def test_a_question_that_mentions_a_town_is_no_town():
    asked = [column("F6_Sicherheit_Tag", *"1234"), column("F7_Vertr_Stadtrat", *"12345")]
    roles = roles_of(*FORM, *asked, column("F8_Stadtbezirk", "Mitte", "Nord"))
    assert roles["F6_Sicherheit_Tag"] == roles["F7_Vertr_Stadtrat"] == "sensitive"
    assert roles["F8_Stadtbezirk"] == "quasi-identifier"


def test_when_a_form_was_filled_in_is_withheld():
    times = [f"2024-05-{day:02d} 10:{day:02d}:07" for day in range(1, 28)]
    own = [column("StartDate", *times, each=4), column("Finished", "True", "False"), column("Duration", "61", "75")]
    assert {roles_of(*FORM, *own)[one.name] for one in own} == {"identifier"}
    assert roles_of(column("StartDate", *times, each=4))["StartDate"] == "quasi-identifier"


@pytest.mark.parametrize(
    "name", ["Timestamp", "Zeitstempel", "Horodateur", "submitdate", "datestamp", "RecordedDate", "LASTDATA"]
)
def test_when_a_form_was_sent_is_withheld_by_the_names_that_programs_for_forms_give(name):
    times = [f"{day:02d}.05.2024 10:{day:02d}" for day in range(1, 28)]
    assert roles_of(*FORM, column(name, *times, each=4))[name] == "identifier"


def test_three_scales_beside_something_private_are_answers():
    scales = [column(name, *"12345") for name in ("c8", "c9", "c10")]
    assert {*roles_of(*scales).values()} == {"quasi-identifier"}
    assert roles_of(*scales, column("Diagnose", "flu", "asthma"))["c9"] == "sensitive"


STATEMENTS = (
    "Ich fühle mich wohl.",
    "Mein Gehalt ist fair.",
    "Mein Arbeitsplatz ist sicher.",
    "Ich bin oft müde.",
    "Mein Team hilft mir.",
)
AGREEMENT = ("trifft nicht zu", "teils/teils", "trifft zu", "weiß nicht")


def test_a_statement_that_mentions_work_is_an_answer_as_those_beside_it():
    """Its answers were taken for what colleagues know, and lost nearly all of their detail."""
    found = roles_of(*(column(name, *AGREEMENT) for name in STATEMENTS), column("Abteilung", "IT", "Vertrieb", "HR"))
    assert found["Mein Arbeitsplatz ist sicher."] == "sensitive"
    assert found["Abteilung"] == "quasi-identifier"


def test_statements_make_a_form_of_which_is_withheld_when_it_was_sent():
    """Programs for forms write whole statements above answers, not numbers of questions."""
    sent = column("Zeitstempel", *(f"2024-05-{day:02} 10:00" for day in range(1, 29)))
    assert roles_of(sent, *(column(name, *AGREEMENT) for name in STATEMENTS))["Zeitstempel"] == "identifier"
