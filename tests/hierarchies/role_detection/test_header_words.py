"""Names of columns: questions, compounds, abbreviations of trades, units of times; and what they must not mean."""

import random
from collections import Counter

import pytest

from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.quasi_identifiers import inferred_by_several
from sfumato.hierarchies.role_detection.roles import suggest
from sfumato.hierarchies.role_detection.suggestion import Suggestion

YES_NO, SMALL, SEXES = ("yes", "no"), tuple(map(str, range(6))), ("M", "F")
AGES = tuple(map(str, range(18, 80)))
OFTEN = ("nie", "selten", "oft", "täglich")


def suggested(name, *values, rows=300):
    drawn = random.Random(3).choices(values, k=rows)
    return suggest(Profile(name, Counter(drawn), rows))


@pytest.mark.parametrize(
    ("name", "values", "role", "concept"),
    [
        ("How old are you?", AGES, "quasi-identifier", "age"),
        ("Wie alt sind Sie?", AGES, "quasi-identifier", "age"),
        *((born, AGES, "quasi-identifier", "age") for born in ("Né(e) le", "Née le", "Nato/a il", "Nacido/a el")),
        ("Wie oft treiben Sie Sport?", OFTEN, "sensitive", "use"),
        ("Rauchen Sie?", ("ja", "nein"), "sensitive", "health"),
        ("hx_cad", YES_NO, "sensitive", "health"),
        ("VHF", ("J", "N"), "sensitive", "health"),
        ("tot_clm", tuple(map(str, range(100, 900, 7))), "sensitive", "money"),
        ("cap_gains", tuple(map(str, range(10000, 10900, 7))), "sensitive", "money"),
        ("prob_yrs", SMALL, "sensitive", "crime"),
        ("Resturlaubstage", SMALL, "sensitive", "performance"),
        ("dfndt_sx", SEXES, "quasi-identifier", "sex"),
        ("sit_lab", ("parado", "ocupado", "jubilado"), "quasi-identifier", "work"),
        ("Sukupuoli", ("M", "N"), "quasi-identifier", "sex"),
        ("Kotikunta", ("Helsinki", "Oulu", "Pori"), "quasi-identifier", "place"),
        ("Foglalkozás", ("tanár", "orvos", "ács"), "quasi-identifier", "work"),
        ("județ", ("Cluj", "Iași", "Dolj"), "quasi-identifier", "place"),
        ("cinsiyet", ("erkek", "kadın"), "quasi-identifier", "sex"),
        ("Hastalık", ("grip", "astım"), "sensitive", "health"),
        ("lytis", ("V", "M"), "quasi-identifier", "sex"),
        ("Φύλο", ("Α", "Θ"), "quasi-identifier", "sex"),
        ("ΗΛΙΚΙΑ", AGES, "quasi-identifier", "age"),
        ("Διάγνωση εξόδου", ("γρίπη", "άσθμα"), "sensitive", "health"),
        ("Μηνιαίο εισόδημα", tuple(map(str, range(600, 3000, 7))), "sensitive", "money"),
        ("пол", ("м", "ж"), "quasi-identifier", "sex"),
        ("Населено_място", ("София", "Варна", "Русе"), "quasi-identifier", "place"),
        ("диагноза", ("грип", "астма"), "sensitive", "health"),
        ("grade_lvl", ("9", "10", "11", "12"), "quasi-identifier", "schooling"),
        ("inc_hr", tuple(map(str, range(24))), "quasi-identifier", "date"),
        ("resting_hr", tuple(map(str, range(50, 110))), "sensitive", "health"),
    ],
)
def test_names_tell_what_a_column_is(name, values, role, concept):
    suggestion = suggested(name, *values)
    assert (suggestion.role, suggestion.concept) == (role, concept), suggestion.reason


@pytest.mark.parametrize("name", ["final", "days", "zkq_months"])
def test_words_that_tell_nothing(name):
    assert suggested(name, *SMALL).concept is None


def test_a_column_of_dates_keeps_its_unit():
    assert suggested("years", "1998", "1999", "2004", "2011").concept in ("date", "age")


def test_what_is_chosen_from_a_list_of_long_texts_is_no_free_text():
    texts = [f"exceeding the permitted speed outside of towns by {over} km/h" for over in range(30)]
    assert suggested("Tatvorwurf", *texts, rows=900).role == "sensitive"
    assert suggested("zkq", *texts, rows=900).role == "identifier"


def test_what_private_columns_tell_together_is_withheld_instead_of_them():
    day = Suggestion("quasi-identifier", "A day.", rank=1, concept="date")
    age = Suggestion("quasi-identifier", "An age.", rank=0, concept="age")
    suggestions = {"relapse": day, "age": age, "sex": age, "a": Suggestion("sensitive", "a"), "b": day}
    told = inferred_by_several(suggestions, {"a": "relapse", "b": "relapse"})
    assert [*told] == ["relapse"] and told["relapse"].role == "identifier" and told["relapse"].undecided
    assert not inferred_by_several(suggestions, {"a": "age", "b": "age"})
    assert not inferred_by_several(suggestions, {"a": "relapse", "b": None})


def test_a_key_called_one_of_persons_names_them_where_a_few_repeat():
    keys = Counter({f"{place}": 2 if place < 150 else 1 for place in range(1000)})
    assert suggest(Profile("HALTER_ID", keys, 1150)).role == "person"
    assert suggest(Profile("row_id", keys, 1150)).role == "identifier"


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("SUSP_HAIR", ("BLK", "BRO", "BLD"), "quasi-identifier"),
        ("SUSP_BUILD", ("MED", "THN", "HVY"), "quasi-identifier"),
        ("Marca y modelo", ("Seat Toledo", "Skoda Octavia", "Toyota Prius"), "quasi-identifier"),
        ("Verletzter Körperteil", ("Zkq", "Wxv", "Bnm"), "sensitive"),
        ("zkq", ("Hand", "Knie", "Kopf"), "sensitive"),
        ("zkq", ("48,00 €", "96,00 €", "54,00 €"), "sensitive"),
        ("zkq", ("CHF 120", "CHF 80", "CHF 95"), "sensitive"),
        ("Berufsbildner/in", ("Hr. Böhm", "Fr. Engel", "Mme Masson"), "identifier"),
    ],
)
def test_heads_joined_words_and_values_tell_what_a_column_is(name, values, role):
    assert suggest(Profile(name, dict.fromkeys(values, 40), 40 * len(values))).role == role


@pytest.mark.parametrize("name", ["Notlar", "Poznámka", "Megjegyzés", "Huomautus", "Açıklama", "Notering", "Napomena"])
def test_remarks_are_withheld_in_any_language_though_they_are_few_so_far(name):
    """What stood in some rows each was published as what others know."""
    assert suggested(name, "Eşi hamile", "Fatura gecikti", "Aradım").role == "identifier"


def test_marks_are_no_languages_that_somebody_learns():
    marks = tuple(f"{tenths / 10}" for tenths in range(60, 180))
    assert suggested("LV1", *marks).concept is None
    assert suggested("LV1", "anglais", "allemand", "espagnol").concept == "schooling"
    assert suggested("Hist-Géo", *marks).concept == "performance"


@pytest.mark.parametrize("written", ["{:02}-{:03}", "{:03} {:02}", "{:05}-{:03}"])
def test_postcodes_are_codes_by_how_they_are_written(written):
    """Where nearly every row has one of its own, they were withheld as texts, and no region was left."""
    codes = [written.format(number % 90 + 1, number * 7 % 90 + 1) for number in range(5000)]
    found = suggested("kod pocztowy", *codes, rows=400)
    assert (found.role, found.concept, found.hierarchy["type"]) == ("quasi-identifier", "place", "digits")
