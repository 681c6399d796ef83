"""The result of a method."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.microdata.methods.full_domain.lattice.problem import NodeEvaluation
from sfumato.microdata.plan.methods import Method
from sfumato.microdata.recoding.mapping import Recoding

ProgressCallback = Callable[[int, int], None]


@dataclass(frozen=True)
class Result:
    """The recoding that a method found, and what is known about it.

    Attributes:
        levels: The level of each column, for methods that choose one.
        nodes: Evaluated nodes, if the result includes them; checked, total: their numbers.
        details: Further entries for the report, by name.
        cut_short: Whether the search timed out.
        method: The method of the recoding, if several were tried; others: the results of the others, by name.
    """

    recoding: Recoding
    loss_name: str
    loss: float
    per_column: Mapping[str, float]
    proved_optimal: bool
    checked: int
    total: int
    levels: Mapping[str, int] = field(default_factory=dict)
    nodes: tuple[NodeEvaluation, ...] = ()
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    cut_short: bool = False
    method: Method | None = None
    others: Mapping[str, "Result"] = field(default_factory=dict)
