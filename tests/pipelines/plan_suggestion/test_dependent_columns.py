"""Columns that another one tells: codes beside private texts, towns beside postcodes, keys that persons share."""

import random

import polars as pl
import pytest

from sfumato.pipelines.suggest import suggest_for_frame

ROWS = 1200
OFFENCES = {"Theft": ("101", "B"), "Assault": ("109", "A"), "Robbery": ("339", "A"), "Fraud": ("511", "B")}


def persons(seed=1):
    dice = random.Random(seed)
    return {
        "age": [str(dice.randint(18, 80)) for _ in range(ROWS)],
        "sex": [dice.choice("mf") for _ in range(ROWS)],
    }


def roles_of(columns):
    plan = suggest_for_frame(pl.DataFrame(columns)).plan
    return {name: entry["role"] for name, entry in plan["columns"].items()}


def offences(wrong=0.0):
    """An offence in each row, a code of it and a group of codes; some of these are wrong."""
    dice = random.Random(2)
    rows = [dice.choice(list(OFFENCES)) for _ in range(ROWS)]
    codes = [OFFENCES[dice.choice(list(OFFENCES)) if dice.random() < wrong else text][0] for text in rows]
    groups = dict(OFFENCES.values())
    return persons() | {"offence": rows, "pd_cd": codes, "zzq": [groups[code] for code in codes]}


def test_codes_of_a_private_text_and_their_groups_are_as_private():
    roles = roles_of(offences(wrong=0.02))
    assert [roles[name] for name in ("offence", "pd_cd", "zzq")] == ["sensitive"] * 3


@pytest.mark.parametrize("spelling", [str, str.upper, lambda town: f"{town} "])
def test_a_town_shares_the_place_of_its_postcode_however_it_is_spelled(spelling):
    dice = random.Random(3)
    towns = {str(44135 + 11 * place): town for place, town in enumerate(("Lünen", "Kamen", "Schwerte", "Unna") * 5)}
    zips = [dice.choice(list(towns)) for _ in range(ROWS)]
    town = [spelling(towns[code]) if dice.random() < 0.05 else towns[code] for code in zips]
    roles = roles_of(persons() | {"zip": zips, "town": town})
    assert roles["zip"] == roles["town"] == "quasi-identifier"


def test_a_household_is_no_person_where_its_members_are_numbered():
    dice = random.Random(4)
    members = [
        (f"{7_000_000 + 13 * home}", str(place + 1))
        for home in range(ROWS)
        for place in range(dice.choice((1, 2, 2, 3)))
    ]
    homes, numbers = zip(*members[:ROWS], strict=True)
    roles = roles_of(persons() | {"hserial": homes, "persno": numbers})
    assert roles["hserial"] == roles["persno"] == "identifier"


def test_what_repeats_is_shared_where_each_row_has_a_person_of_its_own():
    accounts = [f"35502//{1_000_000 + 13 * (place // 2)}" for place in range(ROWS)]
    customers = [f"355D{100_000 + 7 * place}" for place in range(ROWS)]
    alone = roles_of(persons() | {"BG-Nummer": accounts})
    both = roles_of(persons() | {"BG-Nummer": accounts, "Kundennr.": customers})
    assert (alone["BG-Nummer"], both["BG-Nummer"], both["Kundennr."]) == ("person", "identifier", "identifier")


def test_a_patient_stays_the_person_though_visits_of_patients_are_numbered_too():
    patients = [f"RX{2_000_000 + 17 * (place // 3)}" for place in range(ROWS)]
    visits = [f"V{5_000_000 + 19 * place}" for place in range(ROWS)]
    assert roles_of(persons() | {"pat_mrn_id": patients, "pat_visit_csn": visits})["pat_mrn_id"] == "person"


def test_numbers_of_a_hospital_are_its_patients():
    patients = [f"RX{2_000_000 + 17 * (place // 3)}" for place in range(ROWS)]
    assert roles_of(persons() | {"hosp_no": patients})["hosp_no"] == "person"
