"""The attackers of a plan, and their assumed prior knowledge."""

from typing import Annotated

from sfumato.dataclass import dataclass
from sfumato.localization.messages import Message
from sfumato.schema.dataclass_schema import KeyInfo


@dataclass(frozen=True, slots=True)
class AttackerModel:
    """The assumed prior knowledge of every attacker.

    Attributes:
        lower: The minimum value of every cell.
        upper: The maximum value of every cell.
        integer: Whether all values are known to be integers.
        rule: Whether it is known which suppressed cells are primary, for example because the case column is
            published. The rules then bound these, and exclude their values for other cells.
    """

    lower: float | None = None
    upper: float | None = None
    integer: bool = False
    rule: bool = False


@dataclass(frozen=True, slots=True)
class AttackerOptions:
    """The attackers considered: by default everyone for whom the table has data.

    Attributes:
        outsider: Anyone who reads the table; every other attacker knows at least as much.
        respondents: Every single respondent of a cell, if the table has their number.
        holdings: Every holding, with all cells in which it is alone and its contributions to others.
        persons: In tables of counts, the one person of a cell of 1.
        coalition: Number of insiders who share their knowledge.
    """

    outsider: Annotated[bool, KeyInfo("anyone who reads the table")] = True
    respondents: Annotated[bool, KeyInfo("the only respondent of a cell")] = True
    holdings: Annotated[bool, KeyInfo("every holding, with all its cells")] = True
    persons: Annotated[bool, KeyInfo("the one person of a count of 1")] = True
    coalition: Annotated[int, KeyInfo("how many tell each other what they know", minimum=1, maximum=3)] = 1

    def __post_init__(self) -> None:
        if not self.outsider:
            raise ValueError(Message("error.value.the_outsider_cannot_be"))
