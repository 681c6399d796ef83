"""Suggestions: roles from names, hierarchies from values, and a plan that runs as it is."""

from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import datasets
from sfumato.hierarchies.registry import HIERARCHY
from sfumato.hierarchies.suggest import Profile, suggest
from sfumato.hierarchies.types import canonical
from sfumato.shapes.shapes import read

DAYS = [date(1950, 1, 1) + timedelta(days=97 * place) for place in range(200)]
NUMBERS = [str(20 + 7 * place % 61) for place in range(200)]


def profile(name, values, missing=0):
    return Profile(name, Counter(values), len(values) + missing, missing)


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("Nachname", [f"Person {place}" for place in range(50)], "identifier"),
        ("Patientenname", [f"Person {place}" for place in range(50)], "identifier"),
        ("patient_ID", [str(7 * place) for place in range(50)], "identifier"),
        ("contact", [f"p{place}@example.org" for place in range(50)], "identifier"),
        ("no", [str(place) for place in range(1, 51)], "identifier"),
        ("remark", [f"came with {place}" for place in range(50)], "identifier"),
        ("note", ["a long text about a person and all that befell this person"] * 3 + ["x"] * 3, "quasi-identifier"),
        (
            "text",
            ["a long text about a person and all that befell this person", "and another one, just as long as the"],
            "identifier",
        ),
        ("Krankheit", ["Asthma", "Grippe"] * 30, "sensitive"),
        ("Hauptdiagnose", ["Asthma", "Grippe"] * 30, "sensitive"),
        ("salary-class", ["<=50K", ">50K"] * 30, "sensitive"),
        ("Geschlecht", ["m", "w"] * 30, "quasi-identifier"),
        ("PLZ", ["72021", "72022"] * 30, "quasi-identifier"),
        ("ward", ["A", "B"] * 30, "quasi-identifier"),
        ("study", ["S1"] * 30, "insensitive"),
        ("empty", [], "insensitive"),
    ],
)
def test_roles(name, values, role):
    assert suggest(profile(name, values)).role == role


def test_a_constant_with_gaps_tells_rows_apart():
    assert suggest(profile("study", ["S1"] * 30, missing=5)).role == "quasi-identifier"


@pytest.mark.parametrize(
    ("name", "values", "hierarchy"),
    [
        ("dob", [day.strftime("%Y%m%d") for day in DAYS], {"type": "date", "format": "%Y%m%d"}),
        ("x", [day.strftime("%d.%m.%Y") for day in DAYS], {"type": "date", "format": "%d.%m.%Y"}),
        ("x", [day.strftime("%m/%d/%Y") for day in DAYS], {"type": "date", "format": "%m/%d/%Y"}),
        ("plz", ["72021", "01067"], {"type": "digits", "length": 5}),
        ("ward", ["0071", "0102"], {"type": "digits", "length": 4}),
        ("postcode", ["SW1A1", "N19"], {"type": "digits"}),
        ("age", NUMBERS, {"type": "intervals", "start": 20, "end": 99, "widths": [5, 10, 20]}),
        (
            "weight",
            ["60.5", "72.25", "91"],
            {"type": "intervals", "start": 60.0, "end": 92.0, "widths": [2.0, 4.0, 8.0], "numbers": "decimal"},
        ),
        ("pain", ["High", "low", "Medium"], {"type": "order", "size": 2, "values": ["low", "Medium", "High"]}),
        ("color", ["red", "green"] * 9, {"type": "any"}),
        ("flag", ["0", "1"] * 9, {"type": "any"}),
    ],
)
def test_hierarchies(name, values, hierarchy):
    suggestion = suggest(profile(name, values))
    assert suggestion.hierarchy == hierarchy
    assert suggestion.rejected == ()


def test_impossible_dates_among_dates_are_named_as_bad_input():
    values = [day.strftime("%Y%m%d") for day in DAYS[:30]] + ["19911520"]
    suggestion = suggest(profile("date_of_birth", values))
    assert suggestion.rejected == ("19911520",)
    assert "19911520" not in suggestion.reason
    assert "1 of its values" in suggestion.reason


def test_reasons_hold_no_value_of_the_data():
    suggestion = suggest(profile("city", ["Entenhausen", "Gansbach"] * 30))
    assert "Entenhausen" not in suggestion.reason
    assert suggestion.reason.endswith(".")


def accepted(suggestion, values):
    texts, wrong = canonical(values, suggestion.type)
    assert not wrong
    if suggestion.hierarchy:
        distinct = list(dict.fromkeys(text for text in texts if text is not None))
        assert read(HIERARCHY, suggestion.hierarchy).bind(distinct).rejected == suggestion.rejected


@pytest.mark.parametrize("name", datasets.DATASETS)
def test_suggestions_for_the_datasets_run_as_they_are(name):
    for column, values in datasets.DATASETS[name]().columns().items():
        texts = [str(value) for value in values]
        suggestion = suggest(profile(column, texts))
        assert suggestion.rejected == ()
        accepted(suggestion, list(dict.fromkeys(texts)))


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["x", "plz", "age", "dob", "salary"]),
    st.one_of(
        st.lists(st.integers(-(10**6), 10**18).map(str), max_size=12),
        st.lists(st.decimals(-1000, 1000, places=3).map(str), max_size=12),
        st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr), max_size=12),
        st.lists(st.dates().map(str), max_size=12),
        st.lists(st.text(max_size=8), max_size=12),
    ),
)
def test_whatever_is_suggested_accepts_the_values(name, values):
    accepted(suggest(profile(name, values)), list(dict.fromkeys(values)))
