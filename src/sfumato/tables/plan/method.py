"""The suppression method of a plan, and its protection levels."""

from typing import Annotated, Literal

from sfumato.dataclass import dataclass
from sfumato.shapes.records import Note

Method = Literal["intervals", "optimal", "fast", "ranges"]


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """How cells are masked.

    Attributes:
        name: The method.
        cost: What masking a cell costs: a known measure, or the name of a column.
        level_factor: A cell is dearer by this factor for each level above the finest.
        time_limit: Seconds for the search.
        prefer: Which candidate `intervals` prefers.
        repair: Whether `intervals` mends what its audit finds.
        insiders: Whether anyone but the outsider attacks; short for all of `attackers`.
        zeros: Whether cells of value 0 may be masked.
    """

    name: Method = "optimal"
    cost: Annotated[str, Note("unit, value, frequency, log, or the name of a column")] = "value"
    level_factor: Annotated[float, Note(minimum=1)] = 1.0
    time_limit: Annotated[float, Note("seconds", minimum=0.1)] = 60.0
    prefer: Literal["min", "max"] = "max"
    repair: bool = True
    insiders: bool | None = None
    zeros: Annotated[bool, Note("whether cells of value 0 may be masked")] = False

    @property
    def faithful(self) -> bool:
        """Whether the original's answer is wanted as it is, faults included."""
        return self.name == "intervals" and not self.repair


@dataclass(frozen=True, slots=True)
class Protection:
    """How far the range of an unsafe cell must reach: absolute, or in percent of its value."""

    lower: Annotated[float | None, Note("below the value", minimum=0)] = None
    upper: Annotated[float | None, Note("above the value", minimum=0)] = None
    percent: Annotated[float | None, Note("of the value, to each side", minimum=0)] = None

    def __post_init__(self) -> None:
        if (self.percent is None) == (self.lower is None and self.upper is None):
            raise ValueError("give either percent, or lower and upper.")
