"""Columns that tell the same share a place among the quasi-identifiers; free places are filled again."""

import random
import re
from datetime import date, timedelta

import pytest

from sfumato.pipelines.suggest import suggest_for_frame

polars = pytest.importorskip("polars")
ROWS = 800


def people():
    draw = random.Random(3)
    born = [date(1940, 1, 1) + timedelta(days=draw.randrange(23_000)) for _ in range(ROWS)]
    admitted = [date(2022, 1, 1) + timedelta(days=draw.randrange(360)) for _ in range(ROWS)]
    towns = draw.choices(("10115", "20095", "50667", "80331"), k=ROWS)
    known = {
        "birth_date": [str(day) for day in born],
        "age": [str(2024 - day.year) for day in born],
        "admission_date": [str(day) for day in admitted],
        "discharge_date": [str(day + timedelta(days=draw.randrange(1, 6))) for day in admitted],
        "zip": towns,
        "town": [{"1": "Berlin", "2": "Hamburg", "5": "Köln", "8": "München"}[code[0]] for code in towns],
        "sex": draw.choices("fm", k=ROWS),
    }
    few = {
        "nationality": ("DE", "FR", "PL"),
        "marital_status": ("single", "married"),
        "occupation": ("clerk", "cook", "nurse"),
        "school_type": ("primary", "grammar"),
    }
    return polars.DataFrame(known | {name: draw.choices(values, k=ROWS) for name, values in few.items()})


def test_twins_share_a_place():
    suggestion = suggest_for_frame(people())
    roles = {name: entry["role"] for name, entry in suggestion.plan["columns"].items()}
    chosen = [name for name, role in roles.items() if role == "quasi-identifier"]
    crowded = [name for name, reason in suggestion.reasons.items() if "already quasi-identifiers" in reason]
    assert len(chosen) > 8, suggestion.reasons
    for name in crowded:
        assert f"since {len(chosen)} columns" in suggestion.reasons[name]
    # Eleven columns have eight places, three of which twins share.
    assert not crowded, crowded


def registered(**columns):
    draw = random.Random(11)
    return {
        "sex": draw.choices("fm", k=ROWS),
        "occupation": draw.choices(("clerk", "cook", "nurse", "driver", "smith"), k=ROWS),
        "education": draw.choices(("primary", "secondary", "tertiary"), k=ROWS),
        "income": [str(draw.randrange(1000, 5000)) for _ in range(ROWS)],
    } | columns


def roles_of(suggestion):
    return {name: entry["role"] for name, entry in suggestion.plan["columns"].items()}


def test_of_an_age_and_a_birth_date_one_is_kept():
    draw = random.Random(12)
    born = [date(1940, 1, 1) + timedelta(days=draw.randrange(23_000)) for _ in range(ROWS)]
    frame = registered(birth_date=[str(day) for day in born], age=[str(2024 - day.year) for day in born])
    suggestion = suggest_for_frame(polars.DataFrame(frame))
    roles = roles_of(suggestion)
    kept, [spare] = "age", [name for name in ("age", "birth_date") if roles[name] != "quasi-identifier"]
    assert spare == "birth_date"
    assert f'it contains nearly the same information as "{kept}", which is published' in suggestion.reasons[spare]
    assert suggestion.reasons[spare].startswith("decide yourself")


def test_of_three_codings_of_one_thing_one_is_kept():
    draw = random.Random(13)
    codes = draw.choices(("DE", "FR", "PL", "IT", "ES", "NL", "DK"), (30, 9, 5, 4, 3, 2, 1), k=ROWS)
    labels = {"DE": "Germany", "FR": "France", "PL": "Poland", "IT": "Italy", "ES": "Spain", "NL": "Netherlands"}
    frame = registered(
        age=[str(draw.randrange(18, 90)) for _ in range(ROWS)],
        country=[labels.get(code, "Denmark") for code in codes],
        country_code=codes,
        country_no=[str(276 + 4 * (code != "DE") + ord(code[0])) for code in codes],
    )
    suggestion = suggest_for_frame(polars.DataFrame(frame))
    roles = roles_of(suggestion)
    chosen = [name for name in roles if name.startswith("country") and roles[name] == "quasi-identifier"]
    assert len(chosen) == 1, suggestion.reasons
    for name in {"country", "country_code", "country_no"} - {*chosen}:
        assert f'nearly the same information as "{chosen[0]}"' in suggestion.reasons[name]


def test_a_birth_date_is_no_twin_of_what_it_happens_to_tell():
    draw = random.Random(14)
    persons = [(str(date(1940, 1, 1) + timedelta(days=draw.randrange(23_000))), draw.choice("fm")) for _ in range(200)]
    visits = [draw.choice(persons) for _ in range(ROWS)]
    frame = registered(birth_date=[born for born, _ in visits], sex=[sex for _, sex in visits])
    suggestion = suggest_for_frame(polars.DataFrame(frame))
    assert roles_of(suggestion)["sex"] == "quasi-identifier"
    assert "nearly the same" not in "".join(suggestion.reasons.values())


def test_a_costly_column_is_withheld_with_what_it_costs():
    draw = random.Random(15)
    names = [f"zq{letter}" for letter in "abcdefg"]
    frame = {name: [f"v{draw.randrange(8)}x" for _ in range(300)] for name in names}
    suggestion = suggest_for_frame(polars.DataFrame(frame))
    costly = [reason for reason in suggestion.reasons.values() if "of their detail without such columns" in reason]
    assert 0 < len(costly) < len(names) - 1, suggestion.reasons
    for reason in costly:
        assert reason.startswith("decide yourself")
        after, before = map(int, re.findall(r"(\d+) % (?:of their|with them)", reason))
        assert 0 <= after < before <= 100
