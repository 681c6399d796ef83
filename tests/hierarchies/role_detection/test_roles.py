"""Roles by evidence: from names, from values, and never from a sentence that fits every column."""

import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import datasets
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.role_detection.lexicon.name_terms import concepts_of
from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.role_reasons import UNDECIDED
from sfumato.hierarchies.role_detection.roles import suggest
from sfumato.hierarchies.types import canonical
from sfumato.schema.composite import read
from sizes import size

DAYS = [date(1950, 1, 1) + timedelta(days=97 * place) for place in range(200)]


def profile(name, values, missing=0):
    return Profile(name, Counter(map(str, values)), len(values) + missing, missing)


def drawn(*values, rows=200, seed=1):
    return random.Random(seed).choices(values, k=rows)


LONG = [f"the patient of room {place} asked to be called by the name of the mother" for place in range(60)]
TELEPHONES = [f"07071 29{place:04d}" for place in range(60)]
PLATES = [f"RT-AB {place}" for place in range(100, 160)]
CASES = [f"{place % 7 + 1} OWi {place}/21" for place in range(60)]
STREETS = [f"Gartenweg {place}" for place in range(1, 61)]
UUIDS = [f"123e4567-e89b-12d3-a456-{place:012d}" for place in range(60)]
SURNAMES = ("Müller", "Schmidt", "Becker", "Yilmaz", "Krause", "Hofmann", "Zwirner", "Haas")


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("Nachname", drawn(*SURNAMES), "identifier"),
        ("x", drawn(*SURNAMES), "identifier"),
        ("x", drawn("Anna", "Jürgen", "Petra", "Emre", "Mia"), "identifier"),
        ("Patientenname", [f"Person {place}" for place in range(50)], "identifier"),
        ("patient_ID", [7 * place for place in range(50)], "identifier"),
        ("USUBJID", drawn(*(f"ABC-301-{place}" for place in range(1000, 1300)), rows=900), "person"),
        ("contact", [f"p{place}@example.org" for place in range(50)], "identifier"),
        ("x", TELEPHONES, "identifier"),
        ("x", PLATES, "identifier"),
        ("x", CASES, "identifier"),
        ("x", STREETS, "identifier"),
        ("x", UUIDS, "identifier"),
        ("x", [f"A{place:08d}" for place in range(200)], "identifier"),
        ("no", range(1, 51), "identifier"),
        ("x", range(1, 51), "identifier"),
        ("remark", [f"came with {place}" for place in range(50)], "identifier"),
        ("text", LONG, "identifier"),
        ("ticket", [f"PC {17000 + place}" for place in range(50)], "identifier"),
        ("survey_weight", [f"{0.5 + place / 100:.2f}" for place in range(200)], "identifier"),
        ("hhid", drawn(*range(100, 180)), "household"),
        ("pweight", [f"{1 + place / 100:.2f}" for place in range(200)], "weight"),
        ("patient_id", drawn(*range(1, 16), rows=300), "person"),
        ("Halter-Nr.", drawn(*range(126, 500), rows=900), "person"),
        ("PatNr", drawn(*range(7000, 7300), rows=900), "person"),
        ("Versichertennummer", drawn(*(f"Q{place:09d}" for place in range(300)), rows=900), "person"),
        ("login", drawn(*(f"u{place:04d}" for place in range(300)), rows=900), "person"),
        ("e-mail", drawn(*(f"p{place}@example.org" for place in range(300)), rows=900), "person"),
        ("Sachbearbeiter-Nr.", drawn(*range(126, 300), rows=900), "identifier"),
        ("invoice_no", drawn(*range(10000, 10300), rows=900), "identifier"),
        ("hhid", drawn(*range(10000, 10300), rows=900), "household"),
        ("phone", drawn("07071 29001", "07071 29002", "0170 1234567", rows=300), "identifier"),
        ("phone", drawn("yes", "no"), "quasi-identifier"),
        ("account_balance", [place / 3 for place in range(300)], "sensitive"),
        ("Mutter", [f"Anna {name}" for name in drawn(*SURNAMES)], "identifier"),
        ("suspect_name", drawn("Noah Carver", "Liam Doyle", "Ava Patel"), "identifier"),
        ("disease_name", drawn("Asthma", "Gout", "Lupus"), "sensitive"),
        ("Voorschrijver", drawn("dr. Brouwer", "dr. van den Berg", "drs. Kok", "dr. Schouten"), "identifier"),
        ("Veterinario", drawn("Dr.ssa Vet. Fabbri", "Dr. Vet. Neri", "Dott. Vet. Bo"), "identifier"),
        ("Handl.", drawn("A. Lind", "K. Berg", "M. Ahmadi", "S. Eklund"), "identifier"),
        ("PC", drawn("3512 AB", "3512 CD", "3513 EA"), "quasi-identifier"),
        ("Risk PC", drawn("LS12 3AB", "LS1 4DN", "BD3 9PQ"), "quasi-identifier"),
        ("payment", [*drawn("cash", "apple pay"), *(f"visa ****{place}" for place in range(3400, 3460))], "identifier"),
        ("card", [f"XXXX-{1000 + 37 * place % 9000}" for place in range(90)], "identifier"),
        ("payment", drawn("cash", "card **", "xx 2024"), "sensitive"),
        ("Gruppe", drawn("A. Klasse", "B. Klasse", "C. Klasse"), "quasi-identifier"),
        ("Krankheit", drawn("Asthma", "Grippe"), "sensitive"),
        ("Hauptdiagnose", drawn("Asthma", "Grippe"), "sensitive"),
        ("x", drawn("E11.9", "I10.0", "J45.9"), "sensitive"),
        ("salary-class", drawn("<=50K", ">50K"), "sensitive"),
        ("religiousness", drawn(1, 2, 3, 4, 5), "sensitive"),
        ("Konfession", drawn("ev", "rk"), "sensitive"),
        ("x", drawn("evangelisch", "katholisch", "konfessionslos"), "sensitive"),
        ("affairs", drawn(0, 1, 2, 12), "sensitive"),
        ("vote_2024", drawn("SPD", "CDU", "Grüne"), "sensitive"),
        ("Gewerkschaft", drawn("ja", "nein"), "sensitive"),
        ("charge_degree", drawn("F", "M"), "sensitive"),
        ("ethnicity", drawn("A", "B", "C"), "quasi-identifier"),
        ("sexual_orientation", drawn("A", "B", "C"), "sensitive"),
        ("fingerprint_type", drawn("A", "B", "C"), "sensitive"),
        ("Survived", drawn(0, 1), "sensitive"),
        ("outcome", drawn("good", "bad"), "sensitive"),
        ("Geschlecht", drawn("m", "w"), "quasi-identifier"),
        ("x", drawn("ledig", "verheiratet"), "quasi-identifier"),
        ("PLZ", drawn("72021", "72022"), "quasi-identifier"),
        ("Diagnosedatum", [day.isoformat() for day in DAYS], "quasi-identifier"),
        ("age_at_diagnosis", drawn(*range(20, 80)), "quasi-identifier"),
        ("school_name", drawn("North High", "South High", "East High"), "quasi-identifier"),
        ("hospital_id", drawn(*range(1, 9)), "quasi-identifier"),
        ("ward", drawn("A", "B"), "quasi-identifier"),
        ("zz", drawn("A", "B"), "quasi-identifier"),
        ("study", ["S1"] * 30, "insensitive"),
        ("empty", [], "insensitive"),
    ],
)
def test_roles(name, values, role):
    suggestion = suggest(profile(name, values))
    assert suggestion.role == role, suggestion.reason
    assert suggestion.reason.endswith(".")


def test_a_number_that_nobody_can_place_is_withheld_until_somebody_decides():
    suggestion = suggest(profile("zz", [f"{place / 7:.4f}" for place in range(400)]))
    assert (suggestion.role, suggestion.undecided) == ("identifier", True)
    assert suggestion.reason.startswith(UNDECIDED)


def test_a_constant_with_gaps_tells_rows_apart():
    assert suggest(profile("study", ["S1"] * 30, missing=5)).role == "quasi-identifier"


def test_persons_with_several_rows_are_named_as_such():
    suggestion = suggest(profile("patient_id", drawn(*range(1000, 1080), rows=400)))
    assert suggestion.role == "person"
    assert "5.0 rows each on average" in suggestion.reason
    assert suggestion.plan() == {"role": "person"}


def test_rows_without_a_person_leave_the_key_an_identifier():
    suggestion = suggest(profile("patient_id", drawn(*range(1000, 1080), rows=400), missing=3))
    assert suggestion.role == "identifier"
    assert "some rows have none" in suggestion.reason


@pytest.mark.parametrize(
    "name",
    ["Mannschaft", "current_status", "Auswahl", "Parkplatz", "Laufleistung", "Wirtschaft", "terrace", "latest_plan"],
)
def test_a_word_that_ends_like_another_does_not_speak_of_it(name):
    assert suggest(profile(name, drawn("A", "B", "C"))).role == "quasi-identifier"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Last_Perf_Rtg", "performance"),
        ("Base_Sal", "money"),
        ("disab_cd", "health"),
        ("hh_inc", "money"),
        ("Aufwand (EUR)", "money"),
        ("CRP mg/l", "health"),
        ("birth_yr", "age"),
        ("Cost_Ctr", "work"),
        ("Jahresbeitrag", "money"),
        ("Geburtsdatum", "age"),
        ("Nom de naissance", "name"),
        ("Lieu de naissance", "place"),
        ("Fecha de nacimiento", "age"),
        ("HEIGHTBL", "body"),
        ("sample weight", "weight"),
        ("Brutoloon", "money"),
        ("rate_plan", None),
        ("mode", None),
    ],
)
def test_abbreviations_and_units_speak_of_what_they_stand_for(name, key):
    assert next((concept.key for concept, _ in concepts_of(name)), None) == key


@pytest.mark.parametrize(
    "format_",
    [
        *("%d-%b-%Y", "%m/%d/%Y %I:%M %p", "%Y-%m-%dT%H:%M:%S%z", "%d/%m/%y", "%Y%m%d%H%M%S", "%B %d, %Y"),
        *("%Y-%m-%d %H:%M:%S+00", "%Y-%m-%d %H:%M:%S.%f+00"),
    ],
)
def test_dates_are_known_however_they_are_written(format_):
    days = [datetime(2019, 1, 1, 8, 30, tzinfo=UTC) + timedelta(days=5 * place) for place in range(200)]
    suggestion = suggest(profile("x", [day.strftime(format_) for day in days]))
    assert (suggestion.role, suggestion.hierarchy["format"]) == ("quasi-identifier", format_)


def test_few_whole_sentences_are_no_categories():
    sentences = (
        "parents not married, priest agreed to it",
        "baptized in hospital by a nurse",
        "nothing to remark here",
    )
    suggestion = suggest(profile("c13", drawn(*sentences)))
    assert (suggestion.role, suggestion.undecided) == ("identifier", True)


def test_check_digits_tell_numbers_of_offices_from_others():
    right = [f"{code}{_luhn(code)}" for code in (f"4{place:014d}" for place in range(3, 90))]
    assert "accounts or cards" in suggest(profile("x", right)).reason
    wrong = [f"{number[:-1]}{(int(number[-1]) + 5) % 10}" for number in right]
    assert "accounts or cards" not in suggest(profile("x", wrong)).reason


def _luhn(code):
    digits = [int(sign) for sign in reversed(code)]
    total = sum(digits[1::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[::2])
    return -total % 10


def test_reasons_hold_no_value_of_the_data_and_differ():
    columns = {"city": ("Entenhausen", "Gansbach"), "illness": ("Ente", "Gans"), "x": ("Huhn", "Hahn")}
    reasons = {suggest(profile(name, values * 30)).reason for name, values in columns.items()}
    assert len(reasons) == 3
    assert not any(value in reason for reason in reasons for values in columns.values() for value in values)


def test_sensitive_values_of_another_kind_leave_the_column_a_text():
    numbers = [*(str(place) for place in range(1000, 1100)), "unclear"]
    assert suggest(profile("income", numbers)).type == "text"
    assert suggest(profile("income", numbers[:-1])).type == "integer"


def accepted(suggestion, values):
    texts, wrong = canonical(values, suggestion.type)
    assert {values[place] for place in wrong} <= {*suggestion.rejected}
    if suggestion.hierarchy:
        distinct = list(dict.fromkeys(text for text in texts if text is not None))
        assert {*read(HIERARCHY, suggestion.hierarchy).fit(distinct).rejected} <= {*suggestion.rejected}


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_suggestions_for_the_datasets_run_as_they_are(name):
    for column, values in datasets.DATASETS[name]().columns().items():
        texts = [str(value) for value in values]
        suggestion = suggest(profile(column, texts))
        assert suggestion.rejected == ()
        accepted(suggestion, list(dict.fromkeys(texts)))


@settings(max_examples=size(60, 300), deadline=None)
@given(
    st.sampled_from(["x", "plz", "age", "dob", "salary", "ward", "year"]),
    st.one_of(
        st.lists(st.integers(-(10**6), 10**18).map(str), max_size=12),
        st.lists(st.integers(0, 3).map(lambda power: str(10**power)), max_size=60),
        st.lists(st.decimals(-1000, 1000, places=3).map(str), max_size=12),
        st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr), max_size=12),
        st.lists(st.dates().map(str), max_size=12),
        st.lists(st.text(max_size=8), max_size=12),
    ),
)
def test_whatever_is_suggested_accepts_the_values(name, values):
    accepted(suggest(profile(name, values)), list(dict.fromkeys(values)))


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("grp", ["A", "B"] * 100, "quasi-identifier"),
        ("AU_Tage", [0, 0, 1, 2, 12] * 40, "sensitive"),
        ("Free meals", ["Y", "N"] * 100, "sensitive"),
        ("Kostenstelle", [4100 + place % 20 for place in range(200)], "quasi-identifier"),
        ("code", [f"K{place // 2:05d}" for place in range(400)], "identifier"),
        ("who", [f"K{place // 2:05d}" for place in range(400)], "person"),
    ],
)
def test_names_that_were_misread(name, values, role):
    assert suggest(profile(name, list(map(str, values)))).role == role


def test_free_meals_are_no_matter_of_health():
    assert "health" not in suggest(profile("Free meals", ["Y", "N"] * 100)).reason


@pytest.mark.parametrize(("name", "value"), [("Name", "Anna Schmidt"), ("mail", "a@b.de"), ("x", "Anna Schmidt")])
def test_what_points_to_the_one_person_of_all_rows_is_not_published(name, value):
    assert suggest(profile(name, [value] * 12)).role == "identifier"
    assert suggest(profile("country", ["DE"] * 12)).role == "insensitive"


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("Gew. (kg)", [f"{50 + place % 60}.5" for place in range(200)], "quasi-identifier"),
        ("section", drawn("Judo", "Tennis"), "quasi-identifier"),
        (
            "Personal statement",
            drawn(*(f"I want to study here for reason {place}" for place in range(9))),
            "identifier",
        ),
        ("comment", drawn("ok", "check"), "identifier"),
        ("Note", drawn("sent back", "lost", "called"), "identifier"),
        ("Note", drawn("1", "2", "3", "4", "5"), "sensitive"),
        ("Prénom", drawn("Camille", "Rémi", "Zoé", "Océane", "Hugo"), "identifier"),
        ("Médecin traitant", drawn("Dr Lefèvre", "Dr Roux"), "identifier"),
        ("apellidos", drawn("Ruiz Gil", "Pérez Moreno", "Díaz Gil", "Ortega", "Vidal"), "identifier"),
        ("Data di nascita", [day.isoformat() for day in DAYS], "quasi-identifier"),
        ("Sexe", drawn("H", "F"), "quasi-identifier"),
        ("huurachterstand", drawn(0, 120, 300), "sensitive"),
        ("Årsinkomst (kr)", drawn(*range(100000, 100900, 7)), "sensitive"),
        ("Stürze (30 Tage)", drawn(0, 1, 2), "sensitive"),
        ("called", drawn("yes", "no"), "quasi-identifier"),
        ("cursor", drawn("yes", "no"), "quasi-identifier"),
        ("Cartão SUS", drawn(*(f"7{place:014d}" for place in range(300)), rows=900), "person"),
    ],
)
def test_units_remarks_and_further_languages(name, values, role):
    suggestion = suggest(profile(name, values))
    assert suggestion.role == role, suggestion.reason


def test_reasons_name_the_word_that_stands_in_the_name():
    assert '"Geschl" (geschlecht)' in suggest(profile("Geschl.", drawn("m", "w"))).reason
    assert '"Prénom"' in suggest(profile("Prénom", drawn("Camille", "Rémi", "Zoé", "Océane", "Hugo"))).reason


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("ill", drawn("flu", "hiv", "none")),
        ("c7", drawn("none", "none", "none", "none", "none", "flu", "hiv")),
        ("x", drawn("Diabetes mellitus Typ 2", "Asthma bronchiale", "Rückenschmerzen")),
        ("x", drawn("gripe", "cáncer de mama", "diabetes tipo 2", "ninguna")),
        ("x", drawn("grippe", "asthme", "dépression", "aucune")),
        ("x", drawn("hipertensão", "enxaqueca", "pneumonia")),
        ("x", drawn("lunginflammation", "ångest", "utmattningssyndrom")),
        ("x", drawn("polmonite", "emicrania", "frattura")),
        ("x", drawn("longontsteking", "beroerte", "hoge bloeddruk")),
        ("Comorbidades", drawn("A", "B", "C")),
        ("Sjukdagar", drawn(*range(30))),
        ("Vencimento", drawn(*range(900, 1200))),
    ],
)
def test_short_names_and_values_speak_of_what_is_private(name, values):
    assert suggest(profile(name, values)).role == "sensitive"


def test_ages_are_told_by_numbers_alone_where_columns_have_no_names():
    ages = drawn(*range(18, 90), rows=600)
    assert suggest(profile("c3", ages)).concept == "age"
    assert suggest(profile("zeta", ages)).concept is None
    assert suggest(profile("c3", drawn(*range(0, 101, 5), rows=600))).concept is None
    assert suggest(profile("c3", drawn(*range(150, 200), rows=600))).concept is None


def test_numbers_of_a_hospital_that_repeat_are_those_of_its_patients():
    counts = {f"K{651026 + 37 * place}": 11 for place in range(170)}
    assert suggest(Profile("pt_hosp_no", counts, rows=170 * 11)).role == "person"


@pytest.mark.parametrize(
    ("name", "values", "role", "concept"),
    [
        ("EXPORT_TS", [f"2022-02-01T01:{place:02d}:12" for place in range(60)], "identifier", "processing"),
        ("erfasst_am", [f"{place:02d}.03.2023 10:15" for place in range(1, 29)], "identifier", "processing"),
        ("Created Date", [f"03/{place:02d}/2023" for place in range(1, 29)], "identifier", "processing"),
        ("etl_batch", ["20230701", "20230801"], "identifier", "processing"),
        ("recorded", ["yes", "no"], "quasi-identifier", None),
        ("m/w/d", ["m", "w", "d"], "quasi-identifier", "sex"),
        ("x", ["s", "m", "d", "w"], "quasi-identifier", "family"),
        ("Zahlungsart", ["SEPA", "Rechnung", "bar"], "sensitive", "money"),
        ("PRIMARY_PAYER", ["Medicaid", "Self pay", "Blue Cross"], "sensitive", "money"),
        ("Entgeltgr.", ["E5", "E6", "E9a"], "sensitive", "money"),
        ("WZ", ["Q86", "G47", "O84", "H49"], "quasi-identifier", "work"),
        ("x", ["Q87", "G40", "O80", "H40"], "sensitive", "health"),
        (
            "Home_Room",
            [f"{letter}1{place:02d}" for letter in "ABC" for place in range(20)],
            "quasi-identifier",
            "schooling",
        ),
        ("Vertrauen_Stadtrat", ["1", "2", "3", "4", "5"], "sensitive", "opinion"),
        ("What is the highest school you have completed?", ["High school", "College"], "quasi-identifier", "schooling"),
        ("c9", [f"Schmerzen seit {place} Tagen" for place in range(2, 40)], "identifier", "free_text"),
        ("c9", [f"{place}.5 %" for place in range(40)], "sensitive", "performance"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_classes_of_columns_of_files_never_seen(name, values, role, concept):
    rows = 8 if name == "c9" else 40
    suggestion = suggest(Profile(name, dict.fromkeys(values, rows), rows=rows * len(values)))
    assert (suggestion.role, suggestion.concept) == (role, concept), suggestion.reason


@pytest.mark.parametrize("name", ["patient_nbr", "InsdID", "Pers.-Nr.", "MitglNr", "EmpNo", "PatNr", "cust_num"])
def test_numbers_behind_somebody_are_persons_where_they_repeat(name):
    suggestion = suggest(Profile(name, {str(51676 * place + 4204842): 4 for place in range(300)}, rows=1200))
    assert suggestion.role == "person", suggestion.reason


def test_numbers_about_a_middle_are_measures_unless_they_may_be_ages_or_years():
    def bell(middle, width):
        return {str(middle + step): max(1, 60 - 60 * abs(step) // width) for step in range(-width, width + 1)}

    roles = [suggest(Profile("c7", counts, sum(counts.values()))).role for counts in (bell(132, 40), bell(700, 90))]
    assert roles == ["sensitive", "sensitive"]
    assert suggest(Profile("c7", bell(27, 10), sum(bell(27, 10).values()))).role == "quasi-identifier"
    assert suggest(Profile("c7", bell(1980, 30), sum(bell(1980, 30).values()))).role == "quasi-identifier"


def test_times_without_a_colon_are_times_though_the_name_speaks_of_something_private():
    times = {f"{hour:02d}{minute:02d}": 3 for hour in range(24) for minute in range(0, 60, 7)}
    arrests = suggest(Profile("ARREST_TIME", times, rows=sum(times.values())))
    assert (arrests.role, arrests.hierarchy) == ("quasi-identifier", {"type": "digits", "length": 4, "shown": [2]})


def test_what_persons_weigh_is_no_weight_of_a_survey_though_it_is_called_so():
    pounds = {str(pound): round(90 * 2.7 ** (-(((pound - 170) / 30) ** 2))) + 1 for pound in range(95, 260)}
    assert suggest(Profile("WGT", pounds | {"999": 40}, rows=sum(pounds.values()) + 40)).role == "quasi-identifier"


def test_codes_of_practices_are_no_illnesses():
    practices = {f"{letter}8{number:04d}": 30 for letter in "BV" for number in range(1000, 1018)}
    assert suggest(Profile("prc", practices, rows=30 * len(practices))).concept != "health"


@pytest.mark.parametrize(("name", "concept"), [("HT p/m", None), ("Serv.kst", None), ("height", "body")])
def test_sums_with_cents_are_not_what_a_short_word_says(name, concept):
    sums = {f"{place * 1.37 + 3:.2f}": 2 for place in range(300)}
    assert suggest(Profile(name, sums, rows=600)).concept == concept


def test_descriptions_from_a_list_are_no_remarks():
    texts = {f"ASSAULT {place} IN A STREET, UNCLASSIFIED": 40 for place in range(12)}
    assert suggest(Profile("PD_DESC", texts, rows=480)).concept != "free_text"
    assert suggest(Profile("Bemerkung", texts, rows=480)).concept == "free_text"


PSEUDONYMS = [f"{place * 2654435761 % 2**32:08x}" for place in range(60)]


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("x", PSEUDONYMS, "person"),
        ("driver", [f"D{place:03}" for place in range(60)], "person"),
        ("Fahrer", ["1", "2", "3"], "quasi-identifier"),
        ("IBAN", [f"DE{place * 371:020}" for place in range(60)], "person"),
        ("telefone", [f"+35191{place * 371:07}" for place in range(60)], "person"),
        ("CPR", [f"010170{place * 37:04}" for place in range(60)], "person"),
        ("Konto", [str(4000 + 10 * place) for place in range(60)], "identifier"),
        ("product", PSEUDONYMS, "quasi-identifier"),
    ],
)
def test_what_one_person_has_names_persons_in_however_many_rows(name, values, role):
    """Fifty calls of each telephone and bookings of each account: k counted rows, and one person was a class."""
    assert suggest(profile(name, values * 50)).role == role


def test_pseudonyms_with_gaps_are_withheld():
    assert suggest(profile("rider", PSEUDONYMS * 50, missing=40)).role == "identifier"


@pytest.mark.parametrize("name", ["owner", "Eigenaar", "wer"])
@pytest.mark.parametrize("surnames", [("Jones", "Evans", "Davies"), ("Ilmen", "Wrzos", "Östby", "Bos")])
def test_initials_before_a_few_surnames_are_names(name, surnames):
    """Where many share a surname, `A. Jones` to `W. Jones` were published as they were."""
    names = [f"{initial}. {surname}" for initial in "ABDEFGHJKLMNPRSTW" for surname in surnames]
    assert suggest(profile(name, names * 20)).role == "identifier"


def test_a_few_surnames_with_the_first_initials_are_names():
    assert suggest(profile("wer", ["A. Becker", "B. Schmidt", "C. Hofmann"] * 100)).role == "identifier"


@pytest.mark.parametrize("unit", ["Kč", "kr", "Ft", "lei"])
def test_whole_sums_with_a_currency_are_no_keys_of_rows(unit):
    found = suggest(profile("Hodnota", [f"{3000 + 67 * place} {unit}" for place in range(400)]))
    assert (found.role, found.concept) == ("sensitive", "money"), found.reason
