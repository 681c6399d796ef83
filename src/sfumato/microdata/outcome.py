"""The outcome of a release: numbers as attributes, in the form of the release folder's report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.microdata.methods.problem import Judged
from sfumato.microdata.verify import Promise


@dataclass(frozen=True, slots=True)
class LossFigure:
    """The loss that the method minimized, and each column's where it is made of columns."""

    name: str
    value: float
    per_column: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """The published classes."""

    count: int
    smallest: int
    largest: int
    average: float


@dataclass(frozen=True, slots=True)
class Seconds:
    """How long each part took; what is missing to the total was spent on measuring risk and utility."""

    count: float = 0.0
    search: float = 0.0
    apply: float = 0.0
    verify: float = 0.0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is told about a release.

    Attributes:
        rows: Rows read, less those dropped because a value was missing or invalid.
        levels: The level of each quasi-identifier, for methods that choose one.
        candidates: Nodes that the method compared, where its answer includes them.
        remarks: What a reader should know, in sentences.
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
    models: tuple[Promise, ...]
    risk: Mapping[str, Mapping[str, Any]]
    utility: Mapping[str, Any]
    nodes: Mapping[str, int]
    seconds: Seconds
    engine: str
    seed: int
    input_sha256: str
    candidates: tuple[Judged, ...] = ()
    remarks: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every promise holds for what was published."""
        return all(promise.holds for promise in self.models)

    def to_dict(self) -> dict[str, Any]:
        """The report in plain values, as in report.json."""
        return {
            "version": self.version,
            "method": self.method,
            "proved_optimal": self.proved_optimal,
            "levels": dict(self.levels),
            "loss": {"name": self.loss.name, "value": self.loss.value, "per_column": dict(self.loss.per_column)},
            "rows": self.rows,
            "dropped_rows": self.dropped_rows,
            "suppressed_rows": self.suppressed_rows,
            "classes": _plain(self.classes),
            "models": [promise.to_dict() for promise in self.models],
            "risk": {name: dict(figures) for name, figures in self.risk.items()},
            "utility": dict(self.utility),
            "nodes": dict(self.nodes),
            "seconds": _plain(self.seconds),
            "engine": self.engine,
            "seed": self.seed,
            "input_sha256": self.input_sha256,
            "remarks": list(self.remarks),
            **self._candidates(),
            **self.details,
        }

    def _candidates(self) -> dict[str, Any]:
        """The nodes compared; the table of all nodes of an exhaustive search is a file of its own."""
        if not self.candidates or self.method == "exhaustive":
            return {}
        return {"candidates": [self._candidate(node) for node in self.candidates]}

    def _candidate(self, node: Judged) -> dict[str, Any]:
        levels = dict(zip(self.levels, node.node, strict=True))
        return {"levels": levels, "loss": node.loss, "suppressed_rows": node.suppressed_rows, "holds": node.holds}

    def _repr_html_(self) -> str:
        from sfumato.report.release import fragment

        return fragment(self)


def _plain(value: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(value)
