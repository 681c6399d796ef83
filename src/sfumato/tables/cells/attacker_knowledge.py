"""Attackers on a table, and what each knows in addition to the publication."""

from enum import StrEnum

from sfumato.dataclass import dataclass
from sfumato.tables.cells.cells import Bounds, Places, ProtectionLevels


class AttackerKind(StrEnum):
    """The kind of attacker; a plan excludes attackers by these names."""

    OUTSIDER = "outsider"
    RESPONDENT = "respondents"
    HOLDING = "holdings"
    PERSON = "persons"
    COALITION = "coalition"


@dataclass(frozen=True, eq=False, slots=True)
class Insider:
    """An insider: one contributor to some cells, or a coalition of contributors who share their knowledge.

    Attributes:
        name: Name for messages.
        kind: The kind of insider.
        cells: The cells with an own contribution.
        bounds: The known bounds of each of these cells; a single value if there is no other contributor.
        reach: The protection levels of these cells against the insider: only for the contributions of others.
    """

    name: str
    kind: AttackerKind
    cells: Places
    bounds: Bounds
    reach: ProtectionLevels


@dataclass(frozen=True, slots=True)
class AttackerKnowledge:
    """What attackers know in addition to the cells and their bounds.

    Attributes:
        integer: Whether all values are known to be integers.
        rounding: How far totals may differ from the sum of their parts, if published ones do.
        attackers: The insiders, in addition to the outsider.
    """

    integer: bool = False
    rounding: float = 0.0
    precision: float = 1.0
    attackers: tuple[Insider, ...] = ()
