"""Attackers on a table, and what each knows in addition to the publication."""

from enum import StrEnum

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Bounds, Places, Reach


class Kind(StrEnum):
    """Who attacks, by the name that a plan switches him off with."""

    OUTSIDER = "outsider"
    RESPONDENT = "respondents"
    HOLDING = "holdings"
    PERSON = "persons"
    COALITION = "coalition"


@dataclass(frozen=True, eq=False, slots=True)
class Attacker:
    """One who has a part in some cells, or several who tell each other theirs.

    Attributes:
        name: Who he is, for messages.
        kind: What he is.
        cells: The cells in which he has a part.
        bounds: Between which values he knows each of them to lie; a single value where he is alone in it.
        reach: What must stay open to him in each of them: only what is not his.
    """

    name: str
    kind: Kind
    cells: Places
    bounds: Bounds
    reach: Reach


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known besides the cells and their bounds.

    Attributes:
        integer: Whether all values are known to be whole numbers.
        rounding: How far totals may be off their parts, where published ones show that they are.
        step: The smallest difference between two values.
        attackers: Who attacks besides the outsider.
    """

    integer: bool = False
    rounding: float = 0.0
    step: float = 1.0
    attackers: tuple[Attacker, ...] = ()
