"""Synthetic German patients: a seeded generator, two examples with a known optimal release, and stroke data."""

from collections.abc import Sequence
from datetime import date, timedelta
from importlib.resources import files
from typing import Any

import numpy as np

from sfumato.datasets.generated import Dataset, coded_dataset, quasi_identifier
from sfumato.delimited.records import parse_lines
from sfumato.engines.duckdb.writing import Cell
from sfumato.errors import PlanError

COLUMNS = ("name", "date_of_birth", "sex", "zip", "illness")
Row = tuple[str, str, str, str, str]

FOUR_ROWS: tuple[Row, ...] = (
    ("Jonas", "19780808", "male", "72021", "Asthma"),
    ("Lena", "19980102", "female", "63331", "Migraine"),
    ("Emil", "19780809", "male", "72062", "Diabetes"),
    ("Clara", "19980329", "female", "63409", "Influenza"),
)
EIGHT_ROWS: tuple[Row, ...] = (
    ("Moritz", "20010808", "male", "92021", "Asthma"),
    ("Lena", "19980102", "female", "63331", "Migraine"),
    ("Emil", "19780809", "male", "72062", "Diabetes"),
    ("Clara", "19980329", "female", "63409", "Influenza"),
    ("Anton", "19970423", "male", "22321", "Hypertension"),
    ("Frieda", "19980322", "female", "53531", "Bronchitis"),
    ("Konrad", "19540512", "male", "32462", "Arthritis"),
    ("Marlene", "19880321", "female", "63634", "Asthma"),
)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_PLANS: dict[str, dict[str, Any]] = {
    "name": {"role": "identifier"},
    "date_of_birth": quasi_identifier("date", format="%Y%m%d"),
    "sex": quasi_identifier("any"),
    "zip": quasi_identifier("digits", length=5),
    "illness": {"role": "sensitive"},
}
_NAMES = {
    "male": _words("Jonas Emil Moritz Anton Konrad Paul Felix Jakob Oskar Karl Theo Jürgen"),
    "female": _words("Lena Clara Frieda Marlene Ida Greta Paula Johanna Käthe Ute Mia Helga"),
}
_SURNAMES = _words("Ahrens Böhm Cordes Döring Ebert Frey Graf Haas Jung Kaiser Lorenz Weiß")
# Two-digit postcode regions around a hospital, with the proportion of patients from each.
_REGIONS = (("72", 0.34), ("70", 0.24), ("73", 0.18), ("71", 0.14), ("89", 0.10))
# Illness: proportion of patients, and the age of highest frequency.
_ILLNESSES = (
    ("Asthma", 0.14, 22),
    ("Influenza", 0.18, 35),
    ("Migraine", 0.12, 38),
    ("Diabetes", 0.16, 62),
    ("Hypertension", 0.18, 66),
    ("Arthritis", 0.10, 70),
    ("Bronchitis", 0.08, 50),
    ("Cancer", 0.04, 68),
)
_TODAY = date(2024, 6, 30)
_OUTLIER_SHARE = 0.02
_AGE_SPREAD = 22.0


def make_patients(rows: int, seed: int) -> Dataset:
    """Return patients around one hospital, a few of whom are very old and live far away.

    Raises:
        PlanError: If the number is 0, or the seed is negative.
    """
    if rows < 1 or seed < 0:
        raise PlanError("rows.patients_need_at_least")
    random = np.random.default_rng(seed)
    outliers = random.random(rows) < _OUTLIER_SHARE
    return make_example("patients", [_patient(random, bool(outlier)) for outlier in outliers])


def make_example(name: str, rows: Sequence[Row]) -> Dataset:
    """Return a dataset of patients from its rows."""
    columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
    return coded_dataset(name, columns, _PLANS)


def _patient(random: np.random.Generator, outlier: bool) -> Row:
    sex = "female" if random.random() < 0.53 else "male"
    age = float(random.uniform(98, 106) if outlier else np.clip(random.normal(52, 21), 1, 96))
    birth = _TODAY - timedelta(days=int(age * 365.25))
    return (_name(random, sex), birth.strftime("%Y%m%d"), sex, _postcode(random, outlier), _illness(random, age))


def _name(random: np.random.Generator, sex: str) -> str:
    return f"{_NAMES[sex][random.integers(12)]} {_SURNAMES[random.integers(12)]}"


def _postcode(random: np.random.Generator, outlier: bool) -> str:
    if outlier:
        return f"{random.integers(1, 69):02d}{random.integers(1000):03d}"
    region = random.choice([code for code, _ in _REGIONS], p=[share for _, share in _REGIONS])
    # Towns are concentrated: few of the hundred districts of a region hold most of its people.
    return f"{region}{int(random.beta(0.8, 3) * 10)}{random.integers(10)}{random.integers(4)}"


def _illness(random: np.random.Generator, age: float) -> str:
    weights = np.array([share * np.exp(-(((age - peak) / _AGE_SPREAD) ** 2) / 2) for _, share, peak in _ILLNESSES])
    return _ILLNESSES[int(random.choice(len(_ILLNESSES), p=weights / weights.sum()))][0]


_STROKE_PLANS: dict[str, dict[str, Any]] = {
    "id": {"role": "identifier"},
    "gender": quasi_identifier("any"),
    "age": quasi_identifier("intervals", "integer", start=0, end=99, widths=[5, 10, 20]),
    "hypertension": {"role": "sensitive"},
    "heart_disease": {"role": "sensitive"},
    "ever_married": quasi_identifier("any"),
    "work_type": quasi_identifier("any"),
    "residence_type": quasi_identifier("any"),
    "avg_glucose_level": {"role": "sensitive", "type": "decimal"},
    "bmi": {**quasi_identifier("intervals", "decimal", start=10, end=60, widths=[2.5, 5, 10]), "role": "sensitive"},
    "smoking_status": quasi_identifier("any") | {"role": "sensitive"},
    "stroke": {"role": "sensitive"},
}
_NUMBERS = {"age", "hypertension", "heart_disease", "ever_married", "stroke"}
_DECIMALS = {"avg_glucose_level", "bmi"}


def read_stroke() -> Dataset:
    """Return the bundled stroke dataset (200 rows)."""
    head, *lines = parse_lines(files(__package__).joinpath("stroke200.csv").read_text(encoding="utf-8"))
    places = {name: head.fields.index(name) for name in _STROKE_PLANS}
    columns = {name: [_cell(name, line.fields[place]) for line in lines] for name, place in places.items()}
    return coded_dataset("stroke", columns, _STROKE_PLANS, ",")


def _cell(name: str, text: str) -> Cell:
    return int(text) if name in _NUMBERS else float(text) if name in _DECIMALS else text
