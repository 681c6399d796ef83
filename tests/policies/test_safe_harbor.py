"""Safe Harbor on values and columns written by hand, right and wrong; the kinds of identifiers each one holds."""

from datetime import date

import pytest

from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.policies.identifiers import SafeHarborContext, column_identifiers, identifiers_of

TODAY = date(2026, 6, 1)
# Column, its values, and the kinds of identifiers that it holds.
COLUMNS = [
    ("dev sn", ["99812", "1"], {"device-identifiers"}),
    ("remark", ["pump S/N 4471-20 replaced"], {"device-identifiers"}),
    ("remark", ["serial ECG, sn unknown", "serial 12-lead"], set()),
    ("code", ["$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW"], {"other-identifiers"}),
    ("code", ["$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG"], {"other-identifiers"}),
    ("code", ["$6$rounds=5000$saltsalt$abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"], {"other-identifiers"}),
    ("code", ["5f4dcc3b-5aa7-65d6-1d83-27deb882cf99"], {"other-identifiers"}),
    ("price", ["$2.50", "$1,200"], set()),
    ("birth_year", ["31", "58"], {"ages"}),
    ("birth_year", ["'58", "95", "04"], set()),
    ("year_of_birth", ["1900s", "2000s"], set()),
    ("year_of_birth", ["1920s", "1960s"], {"ages"}),
    ("year_of_birth", ["1930s", "1960s"], set()),
    ("geburtsjahr", ["1950er", "1920er Jahre"], {"ages"}),
    ("birth century", ["19th century"], {"ages"}),
    ("birth century", ["20th century", "21. Jahrhundert"], set()),
    ("birth_years", ["1900-1999", "2000-2099"], set()),
    ("birth_years", ["1920-29", "1960-69"], {"ages"}),
    ("patient_name", ["Ada Lovelace", "Alan Turing"], {"names"}),
    ("patient_name", ["*", "*"], set()),
    ("mother", ["Maria Schmidt", "Anna Becker"], {"names"}),
    ("employer name", ["Acme Works"], {"names"}),
    ("Employer", ["Acme Works", "Bell & Sons"], {"names"}),
    ("employer", ["yes", "no"], set()),
    ("employer_size", ["50-99", "100-199"], set()),
    ("drug_name", ["Aspirin", "Ibuprofen"], set()),
    ("hospital_name", ["General"], set()),
    ("surname", ["Becker", "Meyer"], {"names"}),
    ("zip", ["02139", "10025"], {"geography"}),
    ("zip", ["02139-4307"], {"geography"}),
    ("zip", ["021", "100"], set()),
    ("zip", ["021**", "100**"], set()),
    ("zip", ["036**"], {"geography"}),
    ("zip3", ["893"], {"geography"}),
    ("zip", ["000", "021"], set()),
    ("zip", ["0213*"], {"geography"}),
    ("postal_code", ["*****"], set()),
    ("city", ["Boston", "Ulm"], {"geography"}),
    ("county", ["Suffolk"], {"geography"}),
    ("state", ["MA", "NY"], set()),
    ("state of residence", ["Massachusetts"], set()),
    ("country", ["US"], set()),
    ("street address", ["12 Main Street"], {"geography"}),
    ("home", ["221 Baker St, Apt 4"], {"geography"}),
    ("latitude", ["42.3601"], {"geography"}),
    ("census_tract", ["250173531"], {"geography"}),
    ("admission_date", ["2019-03-01"], {"dates"}),
    ("admission_year", ["2019"], set()),
    ("admitted", ["03/14/2019"], {"dates"}),
    ("admitted", ["March 2019"], {"dates"}),
    ("discharge", ["2019Q1"], {"dates"}),
    ("discharge", ["2019"], set()),
    ("month_of_death", ["3"], {"dates"}),
    ("dob", ["19620214"], {"dates"}),
    ("birth_year", ["1962"], set()),
    ("birth_year", ["1931"], {"ages"}),
    ("year of birth", ["1937"], set()),
    ("age", ["45", "89"], set()),
    ("age", ["45", "90"], {"ages"}),
    ("age", ["90+"], set()),
    ("age", [">89"], set()),
    ("age", ["≥90", "80-89"], set()),
    ("age", ["90-94"], {"ages"}),
    ("age", ["85+"], set()),
    ("age_group", ["80 and over"], set()),
    ("stage", ["92"], set()),
    ("phone", ["617-555-0101"], {"telephone-numbers"}),
    ("contact", ["(617) 555-0101"], {"telephone-numbers"}),
    ("has_phone", ["yes", "no"], set()),
    ("fax", ["617 555 0102"], {"fax-numbers", "telephone-numbers"}),
    ("contact", ["ada@example.org"], {"email-addresses"}),
    ("id", ["078-05-1120", "219-09-9999"], {"social-security-numbers"}),
    ("mrn", ["00123456"], {"medical-record-numbers"}),
    ("remark", ["see MRN 4711234"], {"medical-record-numbers"}),
    ("member_id", ["1EG4-TE5-MK73"], {"health-plan-numbers"}),
    ("iban", ["DE89370400440532013000"], {"account-numbers"}),
    ("payment", ["4111 1111 1111 1111"], {"account-numbers"}),
    ("license_number", ["D1234567"], {"license-numbers"}),
    ("vehicle", ["1HGCM82633A004352"], {"vehicle-identifiers"}),
    ("device_serial", ["SN-998877", "SN-998878"], {"device-identifiers"}),
    ("homepage", ["https://example.org/~ada"], {"urls"}),
    ("client", ["192.168.0.17"], {"ip-addresses"}),
    ("version", ["1.2.3"], set()),
    ("fingerprint", ["a8f3e1"], {"biometric-identifiers"}),
    ("photo", ["ada.jpg"], {"photographs"}),
    ("key", ["550e8400-e29b-41d4-a716-446655440000"], {"other-identifiers"}),
    ("patient_hash", ["9e107d9d372bb6826bd81d3542a419d6"], {"other-identifiers"}),
    ("subject_id", ["S-1001", "S-1002", "S-1003"], {"other-identifiers"}),
    ("ward_id", ["1", "2"], set()),
    ("diagnosis", ["J45", "E11"], set()),
    ("blood_pressure", ["120/80", "130/85"], set()),
    ("glucose", ["5.25", "6.125"], set()),
    ("age", ["45", "92,5"], {"ages"}),
    ("Alter", ["88,5"], set()),
    ("age", ["über 90"], {"ages"}),
    ("age", ["über 89", "ab 90"], set()),
    ("age", ["ninety-two"], {"ages"}),
    ("admitted_at", ["1551398400"], {"dates"}),
    ("timestamp", ["1551398400000"], {"dates"}),
    ("x", ["1551398400", "1551405400"], {"dates"}),
    ("x", ["20190301120000"], {"dates"}),
    ("income", ["1551398", "30170.44"], set()),
    ("dob", ["470301"], {"dates"}),
    ("geburtsdatum", ["010347"], {"dates"}),
    ("dob", ["17226"], {"dates"}),
    ("note", ["seen on March 3"], {"dates"}),
    ("notiz", ["am 3. März operiert"], {"dates"}),
    ("note", ["may 3 times a day be taken"], set()),
    ("note", ["call 6175551234"], {"telephone-numbers"}),
    ("contact", ["6175551234"], {"telephone-numbers"}),
    ("notiz", ["Tel 0171-2340000"], {"telephone-numbers"}),
    ("x", ["030/1234567"], {"telephone-numbers"}),
    ("ratio", ["0.25", "0.125"], set()),
    ("lot", ["6175551234"], set()),
    ("Patientennummer", ["1"], {"medical-record-numbers"}),
    ("Fallnummer", ["1"], {"medical-record-numbers"}),
    ("kfz", ["B-AB 123"], {"vehicle-identifiers"}),
    ("mother", ["Ann"], {"names"}),
    ("spouse_name", ["Chris"], {"names"}),
    ("Ehemann", ["Karl"], {"names"}),
    ("child", ["yes", "no"], set()),
    ("children", ["2", "3"], set()),
    ("birth_date", ["192*"], {"ages"}),
    ("birth_date", ["194*", "19**"], set()),
    ("next_of_kin", ["Eva"], {"names"}),
    ("webseite", ["example.org"], {"urls"}),
    ("opdatum", ["211231"], {"dates"}),
    ("notiz", ["ruft unter 0049 171 2345678 an"], {"telephone-numbers"}),
    ("child", ["0", "2"], set()),
    ("kind", ["acute", "chronic"], set()),
    ("note", ["Seen on 3/14/2019, 93 years old, call 617-555-0101"], {"dates", "ages", "telephone-numbers"}),
]


def kinds(column: str, values: list[str], setting: SafeHarborContext) -> set[str]:
    rows = 40 if column == "ward_id" else 1
    profile = Profile(column, dict.fromkeys(values, rows), rows * len(values))
    return {kind for kind, _ in column_identifiers(profile, setting)}


def test_there_are_enough_of_both() -> None:
    assert len(COLUMNS) >= 60
    assert min(sum(bool(wrong) == side for _, _, wrong in COLUMNS) for side in (True, False)) >= 25


@pytest.mark.parametrize(("column", "values", "wrong"), COLUMNS, ids=[f"{c}-{v[0]}" for c, v, _ in COLUMNS])
def test_columns_written_by_hand(column, values, wrong) -> None:
    assert kinds(column, values, SafeHarborContext(TODAY)) == wrong


def test_people_of_areas_count_where_they_are_given() -> None:
    people = {"021": 900_000, "036": 21_000, "100": 20_000}
    assert kinds("zip", ["036**", "021"], SafeHarborContext(TODAY, people)) == set()
    assert kinds("zip", ["100"], SafeHarborContext(TODAY, people)) == {"geography"}
    assert kinds("zip", ["555"], SafeHarborContext(TODAY, people)) == {"geography"}, (
        "an area that nobody counted is not crowded"
    )


def test_a_code_for_reidentification_is_for_people_to_judge() -> None:
    assert kinds("subject_id", ["S-1001", "S-1002"], SafeHarborContext(TODAY, code_column="subject_id")) == set()


def test_free_text_is_named() -> None:
    text = "The patient came in with his brother, who had seen him fall from a ladder."
    identifiers = identifiers_of(
        [Profile("report", {text: 1}, 1), Profile("sex", {"f": 1}, 1)], SafeHarborContext(TODAY)
    )
    assert identifiers.free_text == ("report",)
