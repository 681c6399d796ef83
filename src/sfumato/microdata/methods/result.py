"""The result of a method."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from sfumato.dataclass import dataclass
from sfumato.microdata.methods.full_domain.lattice.problem import Judgment
from sfumato.microdata.plan.methods import Method
from sfumato.microdata.recoding.recoding import Recoding

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Result:
    """What a method hands over.

    Attributes:
        levels: The level of each column, for methods that choose one.
        nodes: Judgment nodes, where the answer includes them; checked and total count them.
        details: More for the report, by name.
        cut_short: Whether the time was over before the search was done.
        method: The method of the recoding, where several were tried; others: what the others came to, by their names.
    """

    recoding: Recoding
    loss_name: str
    loss: float
    per_column: Mapping[str, float]
    proved_optimal: bool
    checked: int
    total: int
    levels: Mapping[str, int] = field(default_factory=dict)
    nodes: tuple[Judgment, ...] = ()
    remarks: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    cut_short: bool = False
    method: Method | None = None
    others: Mapping[str, "Result"] = field(default_factory=dict)
