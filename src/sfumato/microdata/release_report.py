"""The outcome of a release and of a comparison of methods: their metrics as attributes."""

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from sfumato.localization.messages import Message
from sfumato.microdata.measures.attribute_disclosure import Disclosure
from sfumato.microdata.methods.search_result import NodeEvaluation
from sfumato.microdata.verdict import Guarantee
from sfumato.values import Value, asdict, field, fields

# The loss by which releases are compared, whatever their methods minimized.
COMPARED = "loss-metric"
# Keys in report.json and the reports for publication whose SHA-256 they hold.
EXTERNAL_CHECKSUMS = {"external_html_sha256": "report-external.html", "external_json_sha256": "report-external.json"}


class NamedMetrics(dict[str, Any]):
    """Metrics by name: as keys, and as attributes if the name allows it (`-` becomes `_`).

    >>> metrics({"after": {"highest": 0.2}}).after.highest
    0.2
    """

    def __getattr__(self, name: str) -> Any:
        for key in (name, name.replace("_", "-")):
            if key in self:
                return self[key]
        raise AttributeError(name)


def metrics(entries: Mapping[str, Any]) -> NamedMetrics:
    """Return metrics with all nested ones."""
    return NamedMetrics(
        {name: metrics(entry) if isinstance(entry, Mapping) else entry for name, entry in entries.items()}
    )


class LossFigure(Value):
    """The loss that the method minimized, and each column's if it is defined by columns."""

    name: str
    value: float
    per_column: Mapping[str, float] = field(default_factory=dict)


class ClassFigures(Value):
    """The published classes."""

    count: int
    smallest: int
    largest: int
    average: float


class Timings(Value):
    """Duration of each part; the difference to the total was spent on measuring risk and utility.

    Attributes:
        bound: The lower bound of local recoding, computed in parallel.
        trade_off: Loss with other suppression limits and levels, computed when a release is saved.
    """

    count: float = 0.0
    search: float = 0.0
    bound: float = 0.0
    apply: float = 0.0
    perturb: float = 0.0
    verify: float = 0.0
    check: float = 0.0
    trade_off: float = 0.0
    total: float = 0.0


class Report(Value):
    """The report of a release.

    Attributes:
        rows: Rows read, without those dropped because a value was missing or invalid.
        levels: The level of each quasi-identifier, for methods that choose one.
        classes: The published classes; suppressed rows are in none of them.
        risk: Risk metrics by name, as keys or attributes.
        utility: Utility metrics by name.
        nodes: Metrics of the search by name.
        star_rows: Whether suppressed rows are published with `*` in every quasi-identifier instead of dropped.
        removed_columns: Columns that are `*` in every row.
        candidates: Nodes that the method compared, if its result includes them.
        notes: Notes for the reader, in sentences.
        disclosure: Disclosure outside the guarantees.
    """

    version: str
    method: str
    proved_optimal: bool
    levels: Mapping[str, int]
    loss: LossFigure
    rows: int
    dropped_rows: int
    suppressed_rows: int
    classes: ClassFigures
    models: tuple[Guarantee, ...]
    risk: NamedMetrics
    utility: NamedMetrics
    nodes: NamedMetrics
    seconds: Timings
    engine: str
    seed: int | None
    input_sha256: str
    candidates: tuple[NodeEvaluation, ...] = ()
    notes: tuple[Message, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    disclosure: Disclosure = field(default_factory=Disclosure)
    star_rows: bool = False
    removed_columns: tuple[str, ...] = ()

    @property
    def published_rows(self) -> int:
        """Number of published rows, including those with `*` only."""
        return self.rows - (0 if self.star_rows else self.suppressed_rows)

    @property
    def mean_loss(self) -> float | None:
        """Mean information loss of a value, from 0 (unchanged) to 1 (no information left); a suppressed row counts 1.

        The metric for comparing releases, whatever their methods minimized; None if no column was measured.
        """
        shares = self.column_losses
        return sum(shares.values()) / len(shares) if shares else None

    @property
    def column_losses(self) -> Mapping[str, float]:
        """The information loss of each quasi-identifier by the metric for comparing releases."""
        measured = (self.utility.get("losses") or {}).get(COMPARED, {})
        minimized = self.loss.per_column if self.loss.name == COMPARED else {}
        return minimized or measured.get("per_column", {})

    def mean_of(self, objective: float) -> float | None:
        """Return the mean loss of a release by its objective; None if that is no sum of losses of columns."""
        shares, mean = self.loss.per_column, self.mean_loss
        if self.loss.name != COMPARED or not mean:
            return None
        parts = {1: mean, len(shares): mean * len(shares)}
        return next((objective / part for part, own in parts.items() if isclose(own, self.loss.value)), None)

    @property
    def counts_persons(self) -> bool:
        """Whether models and risks count persons, each of whom may have several rows."""
        return bool(self.details.get("counts_persons"))

    @property
    def uncounted(self) -> tuple[str, ...]:
        """Removed columns that identify persons, although rows of one person were counted as different persons."""
        return tuple(entry["column"] for entry in self.details.get("persons_uncounted", ()))

    @property
    def limits_levels(self) -> bool:
        """Whether the plan forbids some levels: a proof of optimality covers the others only."""
        return "levels_allowed" in self.details

    @property
    def levels_chosen(self) -> bool:
        """Whether the plan permits a single node, so that no search was needed."""
        return self.limits_levels and self.details["levels_allowed"]["combinations"] == 1

    @property
    def satisfied(self) -> bool:
        """Whether every model is satisfied for the published rows, also for an attacker who combines their columns."""
        return all(promise.satisfied for promise in self.models) and not self.inferred

    @property
    def inferred(self) -> Sequence[Mapping[str, Any]]:
        """The columns from which quasi-identifiers are inferred, if that violates a guarantee."""
        found = self.details.get("release_check") or {}
        return found.get("inferences", ()) if found.get("models") else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain values, as in report.json."""
        return {
            "version": self.version,
            "method": self.method,
            "proved_optimal": self.proved_optimal,
            "levels": dict(self.levels),
            "loss": {"name": self.loss.name, "value": self.loss.value, "per_column": dict(self.loss.per_column)},
            "mean_loss": self.mean_loss,
            "rows": self.rows,
            "dropped_rows": self.dropped_rows,
            "suppressed_rows": self.suppressed_rows,
            "published_rows": self.published_rows,
            "classes": asdict(self.classes),
            "models": [promise.to_dict() for promise in self.models],
            "disclosure": self.disclosure.to_dict(),
            "risk": {name: dict(figures) for name, figures in self.risk.items()},
            "utility": dict(self.utility),
            "nodes": dict(self.nodes),
            "seconds": asdict(self.seconds),
            "engine": self.engine,
            "seed": self.seed,
            "input_sha256": self.input_sha256,
            "remarks": list(self.notes),
            "removed_columns": list(self.removed_columns),
            **self._candidates(),
            **self.details,
        }

    def _candidates(self) -> dict[str, Any]:
        """Return the compared nodes; the table of all nodes of an exhaustive search is a separate file."""
        if not self.candidates or self.method == "exhaustive":
            return {}
        return {"candidates": [self._candidate(node) for node in self.candidates]}

    def _candidate(self, node: NodeEvaluation) -> dict[str, Any]:
        levels = dict(zip(self.levels, node.node, strict=True))
        return {
            "levels": levels,
            "loss": node.loss,
            "suppressed_rows": node.suppressed_rows,
            "satisfied": node.satisfied,
        }


COMPARED_LOSS = {"loss": "loss-metric", "aggregate": "mean"}


class ComparisonRun(Value):
    """One run of the comparison: its loss, or why it failed.

    Attributes:
        loss: Mean information loss over columns and rows; None if the run failed.
        suppression: The share of the rows that might be suppressed.
        highest_risk: The maximum prosecutor risk of a published row.
        average_risk: The mean prosecutor risk of the published rows.
        seconds: Duration of the search alone.
        same_answers: Questions of the plan with the same answer in the release, and with a different one.
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
    same_answers: int | None = None
    different_answers: int | None = None
    error: Message | None = None
    code: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


COLUMNS = fields(ComparisonRun)


def _rank(cell: ComparisonRun) -> tuple[float, ...]:
    answers = (cell.different_answers or 0, -(cell.same_answers or 0))
    return (*answers, round(cell.loss or 0.0, 9), cell.seconds or 0.0)


class Runs(Value):
    """All runs of a comparison.

    Attributes:
        rows: Number of rows of the data.
        columns: The quasi-identifiers.
        methods: The methods of the grid, in the requested order.
        k: The values of k.
        suppression: The suppression limits.
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
        """Return the run for one k and suppression limit: of the best answers, then of least loss, then the faster."""
        answers = [cell for cell in self.answers if cell.k == k and cell.suppression == suppression]
        return min(answers, key=_rank, default=None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "loss": COMPARED_LOSS,
            "rows": self.rows,
            "quasi_identifiers": list(self.columns),
            "methods": list(self.methods),
            "k": list(self.k),
            "suppression": list(self.suppression),
            "runs": [cell.to_dict() for cell in self.cells],
        }
