"""The attackers of a plan, and their assumed prior knowledge."""

from typing import Annotated

from sfumato.dataclass import dataclass
from sfumato.shapes.records import Note


@dataclass(frozen=True, slots=True)
class AttackerModel:
    """What anyone is assumed to know besides what is published.

    Attributes:
        lower: The least value that a cell can have.
        upper: The greatest.
        integer: Whether all values are known to be whole.
        rule: Whether it is known which masked cells are primary (the case column is handed out, say), so that the
            rules tell between which values they lie and above which the others do.
    """

    lower: float | None = None
    upper: float | None = None
    integer: bool = False
    rule: bool = False


@dataclass(frozen=True, slots=True)
class Attackers:
    """Who attacks: by default everyone that the table tells of.

    Attributes:
        outsider: Anyone who reads the table; whoever else attacks knows all that he knows.
        respondents: Every single respondent of a cell, where the table tells their number.
        holdings: Every holding, with all cells in which it is alone and its part of the others.
        persons: In tables of counts, the one person of a cell of 1.
        coalition: So many of them who tell each other what they know.
    """

    outsider: Annotated[bool, Note("anyone who reads the table")] = True
    respondents: Annotated[bool, Note("the only respondent of a cell")] = True
    holdings: Annotated[bool, Note("every holding, with all its cells")] = True
    persons: Annotated[bool, Note("the one person of a count of 1")] = True
    coalition: Annotated[int, Note("how many tell each other what they know", minimum=1, maximum=3)] = 1

    def __post_init__(self) -> None:
        if not self.outsider:
            raise ValueError("the outsider cannot be switched off: whoever else attacks knows all that he knows.")
