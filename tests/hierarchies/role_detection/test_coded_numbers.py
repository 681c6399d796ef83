"""Codes of categories are no numbers, and codes of what is missing are none of a range."""

import pytest

from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.hierarchies.role_detection.roles import suggest


def column(name, counts):
    texts = {str(value): rows for value, rows in counts.items()}
    return suggest(Profile(name, texts, rows=sum(texts.values())))


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("sex_of_driver", {1: 600, 2: 350, -1: 50}),
        ("sexe", {1: 450, 2: 500, 9: 50}),
        ("region_code", {1: 200, 3: 100, 7: 100, 12: 90}),
        ("marital", {1: 300, 2: 300, 3: 100, 4: 80, 99: 20}),
        ("house_type", dict.fromkeys((1, 2, 3, 5, 9, 19), 50)),
    ],
)
def test_codes_of_categories_have_no_intervals(name, counts):
    suggestion = column(name, counts)
    assert (suggestion.role, suggestion.hierarchy) == ("quasi-identifier", {"type": "any"})


@pytest.mark.parametrize(("name", "code", "end"), [("veh_age", -1, "bottom"), ("car_years", 99, "top")])
def test_codes_of_what_is_missing_lie_outside_the_range(name, code, end):
    hierarchy = column(name, {**dict.fromkeys(range(25), 40), code: 60}).hierarchy
    assert hierarchy["type"] == "intervals"
    assert (hierarchy[end] >= 0) if end == "bottom" else (hierarchy[end] < code)


@pytest.mark.parametrize("name", ["children", "Anzahl Kinder"])
def test_counts_stay_quantities(name):
    assert column(name, dict.fromkeys(range(7), 100)).hierarchy["type"] == "intervals"


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("Bem", ["Zeugnis fehlt, nachgefragt", "Antrag wegen Erkrankung der Mutter"], "identifier"),
        ("Anm. Gesundheit", ["ruft wegen Krankheit zurück", "war beim Arzt"], "identifier"),
        ("Gew_Mitgl", ["x", "-"], "sensitive"),
        ("GebGew_g", [str(2500 + 13 * place) for place in range(150)], "sensitive"),
        ("police_force", ["North", "South", "West"], "quasi-identifier"),
        ("yrs_licensed", [str(place) for place in range(40)], "quasi-identifier"),
        ("HHIncome", ["$850/mo", "2170", "1730"], "sensitive"),
        ("cord pH", ["7.25", "7.31", "7.20", "7.28"], "sensitive"),
        ("Alkohol_mg", ["0", "96", "88", "12"], "sensitive"),
        ("resolución", ["Favorable", "Denegada"], "sensitive"),
        ("phone_calls", ["0", "6", "1", "9", "14"], "sensitive"),
    ],
)
def test_names_are_believed_where_values_support_them(name, values, role):
    assert suggest(Profile(name, dict.fromkeys(values, 40), rows=40 * len(values))).role == role


def test_a_system_is_no_blood_pressure():
    assert suggest(Profile("SRC_SYS", {"A_2022": 90, "A_2023": 90}, rows=180)).concept != "health"
