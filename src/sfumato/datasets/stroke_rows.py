"""Two hundred stroke patients, read from the file in this folder."""

from importlib.resources import files
from typing import Any

from sfumato.datasets.dataset import Dataset, coded_dataset, quasi_identifier
from sfumato.delimited.records import parse_lines
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
    """Return the dataset in the file."""
    head, *lines = parse_lines(files(__package__).joinpath("stroke200.csv").read_text(encoding="utf-8"))
    places = {name: head.fields.index(name) for name in _PLANS}
    columns = {name: [_cell(name, line.fields[place]) for line in lines] for name, place in places.items()}
    return coded_dataset("stroke", columns, _PLANS, ",")


def _cell(name: str, text: str) -> Cell:
    return int(text) if name in _NUMBERS else float(text) if name in _DECIMALS else text
