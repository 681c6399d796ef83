"""Names and values of registers, offices and public files: the role of each, and no reason that is false."""

import pytest

from sfumato.hierarchies.role_detection.lexicon.coded_names import labels_of
from sfumato.hierarchies.role_detection.lexicon.name_terms import concepts_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest
from sfumato.hierarchies.role_detection.survey_codes import CodeBook, suggest_labeled


def column(name: str, *values: str, rows: int = 40) -> Profile:
    return Profile(name, dict.fromkeys(values, rows), rows=rows * len(values))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Leistungsminderung_Sanktion", "performance"),
        ("search_type", "crime"),
        ("récidive", "crime"),
        ("sit_procesal", "crime"),
        ("Verfahrensausgang", "crime"),
        ("adicciones", "health"),
        ("tumour_laterality", "health"),
        ("UICC_Stadium", "health"),
        ("Chemotherapie_JN", "health"),
        ("Masernschutz", "health"),
        ("lesiones", "health"),
        ("procedure_code", "health"),
        ("SonderpädFörderung", "health"),
        ("urgence", "need"),
        ("Härtefall", "need"),
        ("homeless_flag", "need"),
        ("taux_interet", "money"),
        ("public_records", "money"),
        ("income_class", "money"),
        ("inkomensklasse", "money"),
        ("schadensart", "money"),
        ("riserve", "money"),
        ("days_absent", "performance"),
        ("unentschuldigt", "performance"),
        ("fraud_flag", "outcome"),
        ("decisión", "outcome"),
        ("syndiqué", "union"),
        ("vakbondslid", "union"),
        ("fackanslutning", "union"),
        ("Religionsunterricht", "religion"),
        ("ethnic_group", "origin"),
        ("Aufenthaltsstatus", "origin"),
        ("état_civil", "family"),
        ("burgerlijke_staat", "family"),
        ("nb_enfants", "family"),
        ("CSP", "work"),
        ("employee_title", "work"),
        ("vehicle_make", "belongings"),
        ("facility_name", "belongings"),
        ("county_name", "place"),
        ("kommunkod", "place"),
        ("GebJahr", "age"),
        ("facteur_ponderation", "weight"),
        ("REPWT12", "weight"),
        ("Hochrechnungsfaktor", "weight"),
        ("survey_year", "date"),
    ],
)
def test_words_of_registers(name, key):
    assert next((concept.key for concept, _ in concepts_of(name)), None) == key


@pytest.mark.parametrize("name", ["class_code_x", "tariff_class", "customer_type"])
def test_a_class_of_anything_is_no_class_of_a_school_and_a_type_no_name(name):
    assert not {"schooling", "name"} & {concept.key for concept, _ in concepts_of(name)}


@pytest.mark.parametrize(
    ("profile", "role", "concept"),
    [
        (column("adm_date", "elective", "urgent", "newborn"), "sensitive", "health"),
        (column("school_name", *(f"Park School {number}" for number in range(30))), "quasi-identifier", "schooling"),
        (column("reason_for_leave", "illness", "care", "study"), "sensitive", "reason"),
        (column("total_charges", *(f"{place * 137}.5" for place in range(9, 90))), "sensitive", "money"),
        (column("charges", "battery", "trespass", "forgery"), "sensitive", "crime"),
        (column("title", "Dr.", "Prof. Dr.", "Mrs"), "quasi-identifier", "title"),
        (column("title", "Office Manager", "Buyer", "Controller"), "quasi-identifier", "work"),
        (column("book_title", "The Garden", "A Long Way", "Rivers"), "quasi-identifier", None),
        (column("CAP", "20121", "40100", "10128"), "quasi-identifier", "place"),
        (column("cap", "1", "2", "3"), "quasi-identifier", None),
        (column("poids", *(f"{0.4 + place / 83:.4f}" for place in range(100)), rows=1), "identifier", "weight"),
        (column("poids", *map(str, range(50, 110))), "quasi-identifier", "body"),
        (column("gewicht", *(str(800 + 13 * place) for place in range(60))), "weight", "weight"),
    ],
    ids=lambda part: part.name if isinstance(part, Profile) else str(part),
)
def test_the_values_say_whether_a_name_is_believed(profile, role, concept):
    suggestion = suggest(profile)
    assert (suggestion.role, suggestion.concept) == (role, concept), suggestion.reason


def test_what_somebody_wrote_freely_is_withheld():
    texts = {f"my {word} plan": 1 for word in "abcdefghijklmnopqrstuvwxyz"} | {"debt consolidation": 200}
    suggestion = suggest(Profile("purpose", texts, rows=226))
    assert suggestion.role == "identifier" and suggestion.undecided


def test_keys_of_staff_are_no_persons():
    suggestion = suggest(Profile("officer_hash", {f"a{place:07d}f": 4 for place in range(300)}, rows=1200))
    assert suggestion.role == "identifier"
    assert "role: person" not in suggestion.reason


@pytest.mark.parametrize(
    ("names", "role"),
    [
        (("RIDRETH1", "RIDAGEYR", "RIAGENDR"), "quasi-identifier"),
        (("rlgdnm", "agea", "gndr"), "sensitive"),
        (("PB150", "PE040", "PB140"), "quasi-identifier"),
        (("MAR", "AGEP", "RAC1P", "PUMA"), "quasi-identifier"),
    ],
)
def test_names_of_public_codebooks_are_known_in_company(names, role):
    profile = column(names[0], "1", "2", "3", "4", "5")
    alone, company = (CodeBook(public=labels_of(columns)) for columns in (names[:1], names))
    assert suggest_labeled(profile, alone).concept is None
    told = suggest_labeled(profile, company)
    assert (told.role, told.type) == (role, "text")
    assert "codebook of" in told.reason and "whole numbers" not in told.reason


@pytest.mark.parametrize(
    ("values", "concept"),
    [
        (("8140/3", "8500/3", "9680/3"), "health"),
        (("0FT44ZZ", "10E0XZZ", "5A1935Z"), "health"),
        (("A10BA02", "C09AA05", "N02BE01"), "health"),
        (("5-470.11", "8-854.2", "1-632.0"), "health"),
        (("I2510", "E119", "J189"), "health"),
        (("no", "Heroina", "Cocaína"), "health"),
        (("keine", "ver.di", "IG Metall"), "union"),
        (("ninguno", "UGT", "CC.OO."), "union"),
        (("catholique", "musulman", "sans religion"), "religion"),
        (("PvdA", "VVD", "D66"), "politics"),
        (("acquitted", "guilty", "dismissed"), "crime"),
        (("condannato", "assolto", "archiviato"), "crime"),
    ],
)
def test_values_tell_what_is_private_where_no_name_does(values, concept):
    suggestion = suggest(column("c7", *values))
    assert (suggestion.role, suggestion.concept) == ("sensitive", concept), suggestion.reason


def test_values_tell_what_is_seen_and_special() -> None:
    suggestion = suggest(column("c7", "White British", "Pakistani", "Black African"))
    assert (suggestion.role, suggestion.concept, suggestion.protected) == ("quasi-identifier", "origin", True)


@pytest.mark.parametrize("values", [("A101", "A102", "A203"), ("KA12345", "KA12346", "KA12999"), ("1-2", "3-4", "5-6")])
def test_codes_of_rooms_and_plates_are_no_illnesses(values):
    assert suggest(column("c7", *values)).concept != "health"


@pytest.mark.parametrize(
    ("profile", "role"),
    [
        (column("claimant_surname", "Davies", "Jones", "Wilson", "Patel"), "identifier"),
        (column("debtor_forename", "Amir", "Olivia", "Harry"), "identifier"),
        (column("num_stay_hospital", *(str(900_000 + 7 * place) for place in range(200)), rows=1), "identifier"),
        (column("sejour", *(str(9_000 + place) for place in range(200)), rows=1), "identifier"),
        (column("Abitur_Jahr", *map(str, range(2004, 2022))), "quasi-identifier"),
        (
            column("income", *(f"{900 + 7 * place} EUR" if place % 3 else str(place) for place in range(90))),
            "sensitive",
        ),
    ],
    ids=lambda part: part.name if isinstance(part, Profile) else part,
)
def test_what_points_to_a_person_does_so_beside_a_private_word(profile, role):
    assert suggest(profile).role == role, suggest(profile).reason


@pytest.mark.parametrize("name", ["num_dossier", "numero_prestamo", "weight_id"])
def test_long_numbers_that_repeat_are_keys_where_the_name_numbers(name):
    numbers = {str(100_000 + 2_999 * place): 2 for place in range(300)}
    assert suggest(Profile(name, numbers, rows=600)).role in ("identifier", "person")


def test_towns_are_places_without_a_name():
    suggestion = suggest(column("c9", "Neuss", "Köln", "Bonn", "Gummersbach", "Brühl"))
    assert (suggestion.role, suggestion.concept) == ("quasi-identifier", "place")
