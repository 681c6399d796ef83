"""Columns that tell the same share a place among the quasi-identifiers; free places are filled again."""

import random
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
    crowded = [name for name, reason in suggestion.reasons.items() if "quasi-identifiers already" in reason]
    assert len(chosen) > 8, suggestion.reasons
    for name in crowded:
        assert f"since {len(chosen)} columns" in suggestion.reasons[name]
    # Eleven columns have eight places, three of which twins share.
    assert not crowded, crowded
