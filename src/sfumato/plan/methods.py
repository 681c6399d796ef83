"""The parameters of each method, as the plan gives them."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Literal

from sfumato.plan.shapes import Choice, Either, Integer, Key, Number, Record, Tagged

LossName = Literal[
    "score",
    "loss-metric",
    "discernibility",
    "precision",
    "height",
    "average-class-size",
    "non-uniform-entropy",
]
Aggregate = Literal["sum", "mean", "geometric"]
LOSSES: tuple[LossName, ...] = LossName.__args__  # type: ignore[attr-defined]
AGGREGATES: tuple[Aggregate, ...] = Aggregate.__args__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Suppression:
    """How many rows may be suppressed: a share of the rows, or a number.

    >>> Suppression(share=0.02).limit(30162)
    603
    """

    share: float = 0.0
    rows: int | None = None

    def limit(self, rows: int) -> int:
        """The number of rows that may be suppressed out of `rows`."""
        if self.rows is not None:
            return min(self.rows, rows)
        return int(Decimal(str(self.share)) * rows)


@dataclass(frozen=True, slots=True)
class FullDomain:
    """What all full-domain methods share.

    Attributes:
        aggregate: How the columns' losses become one: their sum, their mean, or the geometric mean of 1 + loss, less 1.
    """

    loss: LossName = "loss-metric"
    aggregate: Aggregate = "sum"
    suppression: Suppression = field(default_factory=Suppression)
    name: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class Exhaustive(FullDomain):
    """Every node of the lattice is evaluated, and the table of all nodes is written."""

    loss: LossName = "score"
    name: ClassVar[str] = "exhaustive"


@dataclass(frozen=True, slots=True)
class Samarati(FullDomain):
    """The lowest height with a releasable node, and there the node of least loss."""

    name: ClassVar[str] = "samarati"


@dataclass(frozen=True, slots=True)
class Optimal(FullDomain):
    """The node of least loss in the whole lattice, proved."""

    name: ClassVar[str] = "optimal"


Method = Exhaustive | Samarati | Optimal

SUPPRESSION = Either(
    (
        ((int, float), Number(minimum=0, maximum=1, about="share of the rows")),
        ((dict,), Record({"rows": Key(Integer(minimum=0), required=True)}, Suppression)),
    ),
    about="how many rows may be suppressed: a share, or {rows: n}",
)


def _made(kind: type[Any]) -> Any:
    def make(suppression: float | Suppression = 0.0, **rest: Any) -> Any:
        budget = suppression if isinstance(suppression, Suppression) else Suppression(share=suppression)
        return kind(suppression=budget, **rest)

    return make


def _full_domain(kind: type[FullDomain]) -> Record[Any]:
    keys = {"loss": Key(Choice(LOSSES)), "aggregate": Key(Choice(AGGREGATES)), "suppression": Key(SUPPRESSION)}
    return Record(keys, _made(kind), about=(kind.__doc__ or "").splitlines()[0])


METHOD: Tagged[Method] = Tagged(
    "name", {kind.name: _full_domain(kind) for kind in (Exhaustive, Samarati, Optimal)}, about="how a recoding is found"
)
