"""The suggestion for one column of a plan, and its reason."""

from typing import Any

from sfumato.hierarchies.role_detection.lexicon.concepts import Role
from sfumato.hierarchies.types import ColumnType
from sfumato.localization.messages import Message
from sfumato.values import Value

UNKNOWN_RANK = 3
# Proposed protection of a special quasi-identifier: at least two values among rows that agree in all others.
PROTECT = {"model": "l-diversity", "variant": "distinct", "l": 2}


class Suggestion(Value):
    """The suggested plan of a column, and its reason.

    Attributes:
        reason: The reason, in plain words without any data value.
        type: The type, by default text.
        hierarchy: The hierarchy's parameters, for quasi-identifiers.
        rejected: Values that the hierarchy does not accept: they require `on_invalid: missing` or `drop`.
        rank: Order of selection among quasi-identifiers and person columns, lowest first.
        undecided: Whether the column is removed only because its meaning is unknown.
        protected: Whether it is a special category (GDPR, Articles 9 and 10); a quasi-identifier is then proposed
            together with a guarantee that the others do not disclose it.
        guessed: Whether its numbers are considered sensitive by their distribution: others may know some of them.
        asked: Whether it is an answer to an unknown question: many of these together may be unique.
        concept: The key of the column's concept, if its name or its values indicate one.
        confidence: How sure the role is, from 0 to 1, by the evidence for it and against it; 0 without any evidence.
        evidence: What was seen: for each concept, the least likely last, its key and weight in log-odds.
        kept: Whether it is kept although its meaning is unknown, on the assumption that nobody knows it.
        needed: Whether a question of the purpose needs it.
        weight: The weight of a quasi-identifier in the information loss.
    """

    role: Role
    reason: str
    type: ColumnType = "text"
    hierarchy: dict[str, Any] | None = None
    rejected: tuple[str, ...] = ()
    rank: int = UNKNOWN_RANK
    undecided: bool = False
    protected: bool = False
    guessed: bool = False
    asked: bool = False
    concept: str | None = None
    confidence: float = 0.0
    evidence: tuple[tuple[str, float], ...] = ()
    kept: bool = False
    needed: bool = False
    weight: float = 1.0

    def plan(self) -> dict[str, Any]:
        """Return the column as plan entries.

        >>> Suggestion("quasi-identifier", "It indicates sex.", hierarchy={"type": "any"}).plan()
        {'role': 'quasi-identifier', 'hierarchy': {'type': 'any'}}
        """
        typed = {} if self.type == "text" else {"type": self.type}
        withheld = {"publish": "removed"} if self.role == "weight" and not self.needed else {}
        protect = {"protect": dict(PROTECT)} if self.role == "quasi-identifier" and self.protected else {}
        weight = {"weight": self.weight} if self.role == "quasi-identifier" and self.weight != 1 else {}
        role = {"role": "undecided" if self.undecided else self.role}
        return role | typed | ({"hierarchy": self.hierarchy} if self.hierarchy else {}) | protect | withheld | weight

    def withheld(self, reason: str) -> "Suggestion":
        """Return the column as removed until a decision is made."""
        return Suggestion("identifier", Message("said.decide", reason=reason), undecided=True, concept=self.concept)
