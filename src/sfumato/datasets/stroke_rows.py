"""Two hundred stroke patients, from the file in this folder."""

import csv
from importlib.resources import files
from typing import Any

from sfumato.datasets.dataset import Dataset, coded_dataset, quasi_identifier
from sfumato.engines.duckdb.writing import Cell

_PLANS: dict[str, dict[str, Any]] = {
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
    """The dataset in the file."""
    with files(__package__).joinpath("stroke200.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {name: [_cell(name, row[name]) for row in rows] for name in _PLANS}
    return coded_dataset("stroke", columns, _PLANS, ",")


def _cell(name: str, text: str) -> Cell:
    return int(text) if name in _NUMBERS else float(text) if name in _DECIMALS else text
