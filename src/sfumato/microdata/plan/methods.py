"""The parameters of each method, as the plan gives them."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Literal

from sfumato.shapes.shapes import Choice, Either, Integer, Key, Number, Record, Tagged, Text

LossName = Literal[
    "score",
    "loss-metric",
    "discernibility",
    "precision",
    "height",
    "average-class-size",
    "non-uniform-entropy",
    "classification",
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
        class_column: The column whose values the loss `classification` wants classes to agree in (`class` in a plan).
    """

    loss: LossName = "loss-metric"
    aggregate: Aggregate = "sum"
    suppression: Suppression = field(default_factory=Suppression)
    class_column: str | None = None
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
    """The node of least loss in the whole lattice, proved.

    Attributes:
        time_limit: Seconds after which, in a lattice of more than ten million nodes, the best found is taken and the
            report says how much less any other could lose.
    """

    time_limit: float = 60.0
    name: ClassVar[str] = "optimal"


@dataclass(frozen=True, slots=True)
class Greedy(FullDomain):
    """One step of one column at a time, the one that looks best: quick on any lattice, and proves nothing.

    Attributes:
        direction: Whether to refine from the highest levels or to generalize from the lowest.
    """

    direction: Literal["top-down", "bottom-up"] = "top-down"
    name: ClassVar[str] = "greedy"


FeatureKind = Literal["isolate", "ordered"]
FeatureLoss = Literal["discernibility", "classification", "loss-metric"]


@dataclass(frozen=True, slots=True)
class KOptimize:
    """The set of published values or cuts of least loss, proved unless the time runs out.

    Attributes:
        features: What a column contributes: its single values, or cuts between values in order.
        suppression: How many rows may be suppressed; all, since each has its price in the loss.
        time_limit: Seconds after which the best found so far is taken.
        class_column: As for full-domain methods.
    """

    features: FeatureKind = "ordered"
    loss: FeatureLoss = "discernibility"
    suppression: Suppression = field(default_factory=lambda: Suppression(share=1.0))
    time_limit: float = 60.0
    class_column: str | None = None
    name: ClassVar[str] = "k-optimize"


@dataclass(frozen=True, slots=True)
class Local(FullDomain):
    """Every row at the least generalization at which it has company: node after node, each for the rows still left.

    Attributes:
        rounds: How often the lattice is gone through, each time for dearer classes; more rounds, less loss.
        weight: Where to start: 0 with the raw values, 1 with the best node for all rows at once, as `optimal` finds it.
        nodes: The most nodes of the lattice that are gone through in a round.
    """

    rounds: int = 1
    weight: float = 0.0
    nodes: int = 20_000
    name: ClassVar[str] = "local"


@dataclass(frozen=True, slots=True)
class Mondrian:
    """Classes are cut in two, again and again, as long as both parts keep the promises.

    Attributes:
        mode: Whether rows with the value of a cut all go to one side, or are divided evenly.
        cut: The widest column at its middle, or the cut that lowers the loss most.
        choice: Whether the column is the widest one, or drawn from the plan's seed.
        bounds: Whether a class is published by its own values or by the cuts around it, which tell less of extremes.
    """

    mode: Literal["strict", "relaxed"] = "strict"
    cut: Literal["range", "loss"] = "range"
    choice: Literal["widest", "random"] = "widest"
    bounds: Literal["own", "cut"] = "own"
    aggregate: Aggregate = "sum"
    name: ClassVar[str] = "mondrian"

    def __post_init__(self) -> None:
        if self.cut == "loss" and (self.mode, self.choice) != ("strict", "widest"):
            raise ValueError("cut: loss goes with mode: strict, and chooses the column itself.")


Method = Exhaustive | Samarati | Optimal | Greedy | KOptimize | Local | Mondrian

SUPPRESSION = Either(
    (
        ((int, float), Number(minimum=0, maximum=1, about="share of the rows")),
        ((dict,), Record({"rows": Key(Integer(minimum=0), required=True)}, Suppression)),
    ),
    about="how many rows may be suppressed: a share, or {rows: n}",
)


def _made(kind: type[Any]) -> Any:
    def make(suppression: float | Suppression | None = None, **rest: Any) -> Any:
        if suppression is not None:
            rest["suppression"] = (
                suppression if isinstance(suppression, Suppression) else Suppression(share=suppression)
            )
        if "class" in rest:
            rest["class_column"] = rest.pop("class")
        return kind(**rest)

    return make


def _full_domain(kind: type[FullDomain], **more: Key) -> Record[Any]:
    keys = {
        "loss": Key(Choice(LOSSES)),
        "aggregate": Key(Choice(AGGREGATES)),
        "suppression": Key(SUPPRESSION),
        "class": Key(CLASS),
    }
    return Record(keys | more, _made(kind), about=(kind.__doc__ or "").splitlines()[0])


CLASS = Text(about="the column in which the loss classification wants classes to agree")
K_OPTIMIZE = Record(
    {
        "features": Key(Choice(("isolate", "ordered"), about="single values, or cuts between values in order")),
        "loss": Key(Choice(("discernibility", "classification", "loss-metric"))),
        "suppression": Key(SUPPRESSION),
        "time_limit": Key(Number(minimum=0, about="seconds after which the best found so far is taken")),
        "class": Key(CLASS),
    },
    _made(KOptimize),
    about=(KOptimize.__doc__ or "").splitlines()[0],
)
LOCAL = _full_domain(
    Local,
    rounds=Key(Integer(minimum=1, about="how often the lattice is gone through; more rounds, less loss")),
    weight=Key(Number(minimum=0, maximum=1, about="0 starts from raw values, 1 from the best node for all rows")),
    nodes=Key(Integer(minimum=1, about="the most nodes gone through in a round")),
)
OPTIMAL = _full_domain(
    Optimal, time_limit=Key(Number(minimum=0, about="seconds after which, in a huge lattice, the best found is taken"))
)
GREEDY = _full_domain(
    Greedy, direction=Key(Choice(("top-down", "bottom-up"), about="refine from the top, or generalize from the bottom"))
)
MONDRIAN = Record(
    {
        "mode": Key(Choice(("strict", "relaxed"), about="rows with the value of a cut stay together, or are divided")),
        "cut": Key(Choice(("range", "loss"), about="the widest column at its middle, or the cut that lowers the loss")),
        "choice": Key(Choice(("widest", "random"), about="of the column to be cut")),
        "bounds": Key(Choice(("own", "cut"), about="publish a class's own bounds, or those of its cuts")),
        "aggregate": Key(Choice(AGGREGATES)),
    },
    Mondrian,
    about=(Mondrian.__doc__ or "").splitlines()[0],
)
METHOD: Tagged[Method] = Tagged(
    "name",
    {kind.name: _full_domain(kind) for kind in (Exhaustive, Samarati)}
    | {
        Optimal.name: OPTIMAL,
        Greedy.name: GREEDY,
        KOptimize.name: K_OPTIMIZE,
        Local.name: LOCAL,
        Mondrian.name: MONDRIAN,
    },
    about="how a recoding is found",
)
