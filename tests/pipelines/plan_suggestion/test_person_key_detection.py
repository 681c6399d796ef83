"""Whatever the column of persons is called: where attributes stay the same in all rows of one, promises count these."""

import random

import polars as pl
import pytest

from sfumato.pipelines.suggest import suggest_for_frame

NAMES = [
    "Patient",
    "Person",
    "Teilnehmer",
    "Kunde",
    "client",
    "member",
    "Patientin",
    "Name",
    "Patientenname",
    "Mitarbeiter",
    "Schüler",
    "Proband",
    "subject",
    "Versicherter",
    "resident",
    "PatNr",
    "Pat_ID",
    "PID",
    "MRN",
    "Fallnummer",
    "Pseudonym",
    "wer",
    "code",
]
FIRST = ("Anna", "Max", "Ida", "Paul", "Clara", "Jonas", "Lea", "Felix", "Maria", "Peter")
LAST = ("Becker", "Kern", "Schmidt", "Wagner", "Huber", "Maier", "Fischer", "Koch", "Bauer", "Wolf")


def stays(persons: int = 60, seed: int = 1) -> pl.DataFrame:
    """Rows of persons with five to nine stays each, in any order."""
    chance = random.Random(seed)
    rows = []
    for number in range(persons):
        born, sex = chance.randint(1936, 1990), chance.choice("mw")
        town = chance.choice(("Ulm", "Biberach", "Ehingen"))
        called = f"{FIRST[number % 10]} {LAST[number // 10]}"
        rows += [
            {
                "key": f"P{number:04}",
                "called": called,
                "Geburtsjahr": str(born),
                "Geschlecht": sex,
                "Ort": town,
                "Alter": str(2015 + stay - born),
                "Diagnose": chance.choice(("F32", "I63", "E11", "J45", "K50")),
            }
            for stay in range(chance.randint(5, 9))
        ]
    chance.shuffle(rows)
    return pl.DataFrame(rows)


def role_of(frame: pl.DataFrame, name: str) -> str:
    return str(suggest_for_frame(frame).plan["columns"][name]["role"])


@pytest.mark.parametrize("name", NAMES)
def test_a_key_of_persons_is_one_whatever_it_is_called(name):
    frame = stays().select(pl.col("key").alias(name), "Geburtsjahr", "Geschlecht", "Ort", "Diagnose")
    assert role_of(frame, name) == "person"


@pytest.mark.parametrize("name", ["Name", "Patient", "Kunde", "wer"])
def test_names_that_repeat_with_one_birth_year_are_persons(name):
    frame = stays().select(pl.col("called").alias(name), "Geburtsjahr", "Geschlecht", "Ort", "Diagnose")
    assert role_of(frame, name) == "person"


def test_ages_of_several_visits_may_differ():
    frame = stays().select(pl.col("key").alias("member"), "Alter", "Geschlecht", "Diagnose")
    assert role_of(frame, "member") == "person"


def test_of_persons_and_their_stays_the_persons_are_counted():
    frame = stays().with_columns(pl.concat_str("key", pl.lit("/"), pl.int_range(pl.len()) % 2).alias("Aufenthalt"))
    frame = frame.select("Aufenthalt", pl.col("key").alias("Teilnehmer"), "Geburtsjahr", "Geschlecht", "Diagnose")
    columns = suggest_for_frame(frame).plan["columns"]
    assert columns["Teilnehmer"]["role"] == "person"
    assert columns["Aufenthalt"]["role"] in ("identifier", "undecided")


def test_names_that_repeat_by_chance_are_no_persons():
    chance = random.Random(2)
    frame = stays().with_columns(
        pl.Series("Name", [f"{chance.choice(FIRST)} {chance.choice(LAST)}" for _ in range(stays().height)])
    )
    assert role_of(frame.select("Name", "Geburtsjahr", "Geschlecht", "Ort", "Diagnose"), "Name") == "identifier"


@pytest.mark.parametrize("name", ["Arzt", "Station", "wer"])
def test_who_serves_several_persons_is_no_person(name):
    chance = random.Random(3)
    codes = pl.Series(name, [f"D{chance.randint(0, 40):03}" for _ in range(stays().height)])
    assert role_of(stays().with_columns(codes).select(name, "Geburtsjahr", "Geschlecht", "Ort"), name) != "person"


def test_the_reason_names_what_stays_the_same_and_calls_no_key_a_name():
    frame = stays().select(pl.col("key").alias("Patient"), "Geburtsjahr", "Geschlecht", "Diagnose")
    assert "names of persons" not in suggest_for_frame(frame).reasons["Patient"]
    frame = stays().select(pl.col("key").alias("wer"), "Geburtsjahr", "Geschlecht", "Diagnose")
    assert '"Geburtsjahr", "Geschlecht"' in suggest_for_frame(frame).reasons["wer"]


@pytest.mark.parametrize("name", ["length_of_stay", "LengthOfStay", "LOS", "Verweildauer", "Aufenthaltsdauer"])
def test_the_length_of_a_stay_is_private(name):
    chance = random.Random(4)
    days = pl.Series(name, [str(chance.randint(1, 30)) for _ in range(stays().height)])
    assert role_of(stays().select("Geburtsjahr", "Geschlecht").with_columns(days), name) == "sensitive"


def test_a_key_with_one_name_in_all_rows_names_persons():
    """Nothing but the name is known of who has an account: 40 rows each were counted as 40 persons."""
    chance = random.Random(5)
    names = [f"{first} {last}" for first in FIRST for last in LAST[:4]]
    owners = [chance.randrange(len(names)) for _ in range(1600)]
    rows = pl.DataFrame(
        {
            "nr": [f"{owner * 37 + 100:04}" for owner in owners],
            "Kontoinhaber": [names[owner] for owner in owners],
            "Art": [chance.choice(("Kauf", "Rückgabe")) for _ in owners],
        }
    )
    assert suggest_for_frame(rows).plan["columns"]["nr"]["role"] == "person"
