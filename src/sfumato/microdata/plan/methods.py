"""The parameters of each method, as given in a plan."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, ClassVar, Literal, get_args

from sfumato.localization.messages import Message
from sfumato.schema.composite import (
    Conversion,
    Integer,
    KeySchema,
    MapSchema,
    Number,
    RecordSchema,
    TaggedUnionSchema,
    UnionSchema,
)
from sfumato.schema.dataclass_schema import KeyInfo, record_of
from sfumato.schema.typed_parts import PlanPart
from sfumato.values import field

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
LOSSES: tuple[LossName, ...] = get_args(LossName)


class Suppression(PlanPart):
    """Suppression limit: a proportion of the rows, or a number of rows.

    >>> Suppression(share=0.02).limit(30162)
    603
    """

    share: Annotated[float, KeyInfo("of the rows", minimum=0, maximum=1)] = 0.0
    rows: Annotated[int | None, KeyInfo("at most so many", minimum=0)] = None

    def limit(self, rows: int) -> int:
        """Return the number of rows that may be suppressed out of `rows`."""
        if self.rows is not None:
            return min(self.rows, rows)
        return int(Decimal(str(self.share)) * rows)


SUPPRESSION = UnionSchema(
    (
        ((int, float), Conversion(Number(minimum=0, maximum=1, about="share of the rows"), Suppression)),
        (
            (dict,),
            RecordSchema({"rows": KeySchema(Integer(0, about="at most so many rows"), required=True)}, Suppression),
        ),
    ),
    about="how many rows may be suppressed: a share, or {rows: n}",
)
Loss = Annotated[LossName, KeyInfo("what the method makes as small as possible")]
Means = Annotated[Aggregate, KeyInfo("how the losses of the columns become one")]
Budget = Annotated[Suppression, SUPPRESSION]
ClassColumn = Annotated[
    str | None, KeyInfo("the column in which the loss classification wants classes to agree", key="class")
]
Seconds = Annotated[float, KeyInfo("seconds after which the best found so far is taken", minimum=0)]
Hiding = Annotated[bool, KeyInfo("draw a near-optimal release at random, to prevent minimality attacks")]


# What a method publishes: one level per column, levels per class, cuts between values, classes with own labels, single
# values as missing, means of groups, a sample of the rows at one level per column, or the best of several.
RecodingKind = Literal["levels", "local", "cuts", "classes", "cells", "means", "sample", "best"]


class FullDomain(PlanPart):
    """Parameters of all full-domain methods.

    Attributes:
        aggregate: How the columns' losses are combined: sum, mean, or the geometric mean of 1 + loss, minus 1.
        class_column: The target column of the loss `classification` (`class` in a plan).
        time_limit: Seconds after which the best solution so far is used, and the report states what is proven about it.
        hide_minimality: Whether a near-optimal release is drawn instead of the optimal one (see docs/models.md).
    """

    loss: Loss = "loss-metric"
    aggregate: Means = "sum"
    suppression: Budget = Suppression()
    class_column: ClassColumn = None
    time_limit: Seconds = 60.0
    hide_minimality: Hiding = False
    name: ClassVar[str] = ""
    recoding: ClassVar[RecodingKind] = "levels"
    search: ClassVar[str] = "full_domain.search"


class Exhaustive(FullDomain):
    """Every node of the lattice is evaluated, and the table of all nodes is written."""

    loss: Loss = "score"
    name: ClassVar[str] = "exhaustive"


class Samarati(FullDomain):
    """The lowest height with a releasable node, and there the node of least loss."""

    name: ClassVar[str] = "samarati"


class Optimal(FullDomain):
    """The node of least loss in the lattice, with a proof if the time suffices, else with a lower bound."""

    name: ClassVar[str] = "optimal"


class Greedy(FullDomain):
    """Change one level of one column at a time, always the most favorable: fast on any lattice, without proof.

    Attributes:
        direction: Whether to refine from the highest levels or to generalize from the lowest.
    """

    direction: Annotated[
        Literal["top-down", "bottom-up"], KeyInfo("refine from the top, or generalize from the bottom")
    ] = "top-down"
    name: ClassVar[str] = "greedy"


FeatureKind = Literal["isolate", "ordered"]
FeatureLoss = Literal["discernibility", "classification", "loss-metric"]


class KOptimize(PlanPart):
    """The set of published values or cuts of least loss, with a proof unless the time runs out.

    Attributes:
        features: The features of a column: its single values, or cuts between ordered values.
        suppression: The suppression limit; all rows by default, because each suppressed row counts in the loss.
        time_limit: Seconds after which the best solution so far is used.
        class_column: As for full-domain methods.
    """

    features: Annotated[FeatureKind, KeyInfo("single values, or cuts between values in order")] = "ordered"
    loss: Annotated[FeatureLoss, KeyInfo("what the method makes as small as possible")] = "discernibility"
    suppression: Budget = Suppression(share=1.0)
    time_limit: Seconds = 60.0
    class_column: ClassColumn = None
    name: ClassVar[str] = "k-optimize"
    recoding: ClassVar[RecodingKind] = "cuts"
    search: ClassVar[str] = "k_optimize.search"


class Local(FullDomain):
    """Each row at the least generalized node with a large enough class: node after node for the remaining rows.

    Attributes:
        rounds: Number of passes over the lattice, each for more expensive classes; more rounds, less loss.
        weight: Where to start: 0 with the original values, 1 with the best node for all rows, as `optimal` finds it.
        nodes: Maximum number of nodes tried in a round.
    """

    rounds: Annotated[int, KeyInfo("how often the lattice is gone through; more rounds, less loss", minimum=1)] = 1
    weight: Annotated[
        float, KeyInfo("0 starts from raw values, 1 from the best node for all rows", minimum=0, maximum=1)
    ] = 0.0
    nodes: Annotated[int, KeyInfo("the most nodes gone through in a round", minimum=1)] = 20_000
    name: ClassVar[str] = "local"
    recoding: ClassVar[RecodingKind] = "local"
    search: ClassVar[str] = "local_recoding.search"


class Mondrian(PlanPart):
    """Classes are cut in two recursively as long as both parts satisfy the models.

    Attributes:
        mode: Whether rows with the value of a cut all go to one side, or are divided evenly.
        cut: The median of the widest column, or the cut that lowers the loss most.
        choice: Whether the column is the widest one, or drawn from the plan's seed.
        bounds: Whether ranges and sets end at the cuts around a class, or at its own values: these are the
            original values of single persons.
        suppression: The suppression limit; Mondrian suppresses none.
    """

    mode: Annotated[
        Literal["strict", "relaxed"], KeyInfo("rows with the value of a cut stay together, or are divided")
    ] = "strict"
    cut: Annotated[
        Literal["range", "loss"], KeyInfo("the widest column at its middle, or the cut that lowers the loss")
    ] = "range"
    choice: Annotated[Literal["widest", "random"], KeyInfo("of the column to be cut")] = "widest"
    bounds: Annotated[Literal["own", "cut"], KeyInfo("publish a class's own bounds, or those of its cuts")] = "cut"
    aggregate: Means = "sum"
    time_limit: Seconds = 60.0
    hide_minimality: Hiding = False
    suppression: Budget = Suppression()
    name: ClassVar[str] = "mondrian"
    recoding: ClassVar[RecodingKind] = "classes"
    search: ClassVar[str] = "mondrian.search"

    def check_part(self) -> None:
        if self.cut == "loss" and (self.mode, self.choice) != ("strict", "widest"):
            raise ValueError(Message("error.value.cut_by_loss_is_strict"))


class Auto(PlanPart):
    """Local recoding, Mondrian by loss and the optimal node are all tried; the release that loses least is used.

    Attributes:
        suppression: The suppression limit; Mondrian suppresses none.
        time_limit: Seconds for all of them together.
    """

    suppression: Budget = Suppression()
    time_limit: Seconds = 60.0
    hide_minimality: Hiding = False
    name: ClassVar[str] = "auto"
    recoding: ClassVar[RecodingKind] = "best"
    search: ClassVar[str] = "auto"


class LocalSuppression(PlanPart):
    """Local suppression: as few single values as possible are suppressed so that every row is in a large enough class.

    The cost of a value is its column's `importance`.
    """

    time_limit: Seconds = 60.0
    name: ClassVar[str] = "local-suppression"
    recoding: ClassVar[RecodingKind] = "cells"
    search: ClassVar[str] = "local_suppression.search"


class Microaggregation(PlanPart):
    """All quasi-identifiers are microaggregated together, as their columns state: every group is a class."""

    time_limit: Seconds = 60.0
    name: ClassVar[str] = "microaggregation"
    recoding: ClassVar[RecodingKind] = "means"
    search: ClassVar[str] = "microaggregation"


class SafePub(PlanPart):
    """Rows are sampled at random and published at named or randomly drawn levels: for differential privacy.

    Attributes:
        levels: The level of each quasi-identifier, chosen without looking at the data; without them, levels are drawn
            by the exponential mechanism.
        steps: The number of levels to evaluate if the lattice is too large for all of them.
    """

    levels: Annotated[
        Mapping[str, int],
        MapSchema(Integer(minimum=0), about="the level of each quasi-identifier; else they are drawn"),
    ] = field(default_factory=dict)
    steps: Annotated[int, KeyInfo("nodes tried where there are too many for all", minimum=1)] = 300
    time_limit: Seconds = 60.0
    name: ClassVar[str] = "safepub"
    recoding: ClassVar[RecodingKind] = "sample"
    search: ClassVar[str] = "safepub"


Method = (
    Auto
    | Exhaustive
    | Samarati
    | Optimal
    | Greedy
    | KOptimize
    | Local
    | Mondrian
    | LocalSuppression
    | Microaggregation
    | SafePub
)
METHODS: tuple[type[Method], ...] = get_args(Method)
# Methods that use the full suppression limit.
SUPPRESSING = frozenset({"auto", "k-optimize", *(kind.name for kind in METHODS if issubclass(kind, FullDomain))})
METHOD: TaggedUnionSchema[Method] = TaggedUnionSchema(
    "name",
    {kind.name: record_of(kind, (kind.__doc__ or "").splitlines()[0]) for kind in METHODS},
    about="how a recoding is found",
)
