"""Results of a comparison of methods, and the method with the least information loss."""

from dataclasses import asdict, fields
from typing import Any

from sfumato.dataclass import dataclass

COMPARED = {"loss": "loss-metric", "aggregate": "mean"}


@dataclass(frozen=True, slots=True)
class ComparisonRun:
    """One run of the comparison: its loss, or why it failed.

    Attributes:
        loss: Mean information loss over columns and rows; None if the run failed.
        suppression: The share of the rows that might be suppressed.
        highest_risk, average_risk: Of the prosecutor, over the published rows.
        seconds: Duration of the search alone.
        error: Reason of the failure, and its code.
    """

    method: str
    k: int
    suppression: float
    loss: float | None = None
    suppressed_rows: int | None = None
    classes: int | None = None
    smallest: int | None = None
    largest: int | None = None
    highest_risk: float | None = None
    average_risk: float | None = None
    proved_optimal: bool | None = None
    seconds: float | None = None
    error: str | None = None
    code: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


COLUMNS = tuple(field.name for field in fields(ComparisonRun))


@dataclass(frozen=True)
class Runs:
    """All runs of a comparison.

    Attributes:
        rows: Rows of the data; columns: the quasi-identifiers.
        methods, k, suppression: The grid, in the order asked for.
        cells: The runs, method by method.
        language: Language of the report, from the plan.
    """

    rows: int
    columns: tuple[str, ...]
    methods: tuple[str, ...]
    k: tuple[int, ...]
    suppression: tuple[float, ...]
    cells: tuple[ComparisonRun, ...]
    language: str = "en"

    @property
    def answers(self) -> tuple[ComparisonRun, ...]:
        """The successful runs."""
        return tuple(cell for cell in self.cells if cell.loss is not None)

    def best(self, k: int, suppression: float) -> ComparisonRun | None:
        """Return the run of least loss for one k and suppression limit; of equal ones the faster."""
        answers = [cell for cell in self.answers if cell.k == k and cell.suppression == suppression]
        return min(answers, key=lambda cell: (round(cell.loss or 0.0, 9), cell.seconds or 0.0), default=None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "loss": COMPARED,
            "rows": self.rows,
            "quasi_identifiers": list(self.columns),
            "methods": list(self.methods),
            "k": list(self.k),
            "suppression": list(self.suppression),
            "runs": [cell.to_dict() for cell in self.cells],
        }
