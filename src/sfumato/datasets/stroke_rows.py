"""Two hundred stroke patients, from the file in this folder."""

import csv
from importlib.resources import files
from typing import Any

from sfumato.datasets.dataset import Dataset, coded_dataset
from sfumato.engines.duckdb.writing import Cell

_YES_NO: dict[str, Any] = {"role": "sensitive"}
_PLANS: dict[str, dict[str, Any]] = {
    "id": {"role": "identifier"},
    "gender": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [5, 10, 20]},
    },
    "hypertension": _YES_NO,
    "heart_disease": _YES_NO,
    "ever_married": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "work_type": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "residence_type": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
    "avg_glucose_level": {"role": "sensitive", "type": "decimal"},
    "bmi": {
        "role": "sensitive",
        "type": "decimal",
        "hierarchy": {"type": "intervals", "start": 10, "end": 60, "widths": [2.5, 5, 10]},
    },
    "smoking_status": {"role": "sensitive", "hierarchy": {"type": "any"}},
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
