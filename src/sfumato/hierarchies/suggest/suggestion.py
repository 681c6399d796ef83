"""The suggestion for one column of a plan, and its reason."""

from typing import Any

from sfumato.dataclass import dataclass
from sfumato.hierarchies.suggest import reasons
from sfumato.hierarchies.suggest.words.concepts import Role
from sfumato.hierarchies.types import ColumnType

UNKNOWN_RANK = 3
# What is proposed for a quasi-identifier that is special: two values at least among rows alike in all others.
PROTECT = {"model": "l-diversity", "variant": "distinct", "l": 2}


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a plan could say of a column, and why.

    Attributes:
        role: The role.
        reason: Why, in plain words without any value of the data.
        type: The type, text unless it is another.
        hierarchy: The hierarchy's parameters, for quasi-identifiers.
        rejected: Values that the hierarchy does not accept: with any, a plan needs `on_invalid: missing` or `drop`.
        rank: Among quasi-identifiers, the lower are chosen first; so is the one person.
        undecided: Whether the column is withheld only because nobody can say what it is.
        protected: Whether GDPR protects what it tells most (Articles 9 and 10); with it a quasi-identifier is proposed
            together with a guarantee that the others do not disclose it.
        guessed: Whether its numbers are taken for private ones by how they spread: others may know some of them.
        asked: Whether it is an answer to a question that nothing tells: many of these together are a fingerprint.
        concept: The key of what the column is about, where its name or its values tell.
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

    def plan(self) -> dict[str, Any]:
        """The column as a plan has it.

        >>> Suggestion("quasi-identifier", "It tells of sex.", hierarchy={"type": "any"}).plan()
        {'role': 'quasi-identifier', 'hierarchy': {'type': 'any'}}
        """
        typed = {} if self.type == "text" else {"type": self.type}
        withheld = {"publish": "withheld"} if self.role == "weight" else {}
        protect = {"protect": dict(PROTECT)} if self.role == "quasi-identifier" and self.protected else {}
        return (
            {"role": self.role} | typed | ({"hierarchy": self.hierarchy} if self.hierarchy else {}) | protect | withheld
        )

    def withheld(self, reason: str) -> "Suggestion":
        """The column withheld until somebody decides."""
        return Suggestion("identifier", reasons.UNDECIDED + reason, undecided=True, concept=self.concept)
