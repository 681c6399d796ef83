"""The suppression method of a plan, and its protection levels."""

from typing import Annotated, Literal

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.schema.dataclass_schema import KeyInfo

Method = Literal["intervals", "optimal", "fast", "ranges"]


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """How cells are suppressed.

    Attributes:
        cost: The cost of suppressing a cell: a known measure, or the name of a column.
        level_factor: Factor by which the cost of a cell increases for each level above the finest.
        time_limit: Time limit of the search in seconds.
        tie_break: Which candidate `intervals` takes: the smallest or the largest cell.
        repair: Whether `intervals` repairs what its audit finds.
        insiders: Whether insiders are considered; short for all switches of `attackers`.
        zeros: Whether cells of value 0 may be suppressed.
    """

    name: Method = "optimal"
    cost: Annotated[str, KeyInfo("unit, value, frequency, log, or the name of a column")] = "value"
    level_factor: Annotated[float, KeyInfo(minimum=1)] = 1.0
    time_limit: Annotated[float, KeyInfo("seconds", minimum=0.1)] = 60.0
    tie_break: Literal["min", "max"] = "max"
    repair: bool = True
    insiders: bool | None = None
    zeros: Annotated[bool, KeyInfo("whether cells of value 0 may be suppressed")] = False

    @property
    def faithful(self) -> bool:
        """Whether the unrepaired result of the legacy method is requested."""
        return self.name == "intervals" and not self.repair


@dataclass(frozen=True, slots=True)
class Protection:
    """Protection levels of sensitive cells: absolute, or in percent of the value."""

    lower: Annotated[float | None, KeyInfo("below the value", minimum=0)] = None
    upper: Annotated[float | None, KeyInfo("above the value", minimum=0)] = None
    percent: Annotated[float | None, KeyInfo("of the value, to each side", minimum=0)] = None

    def __post_init__(self) -> None:
        if (self.percent is None) == (self.lower is None and self.upper is None):
            raise ValueError(Message("error.value.give_either_percent_or"))
