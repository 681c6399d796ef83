"""The policy: a named, versioned list of clauses, each with its metric, its limit and its source."""

from dataclasses import field, replace
from typing import Annotated, Literal

from sfumato.dataclass import dataclass
from sfumato.shapes.records import Note, record_of
from sfumato.shapes.shapes import Either, Integer, Text

Op = Literal["<=", ">=", "=", "attested"]
# What stands behind a figure: a text that tells of the document, or nothing that was read.
Evidence = Literal["secondary", "unconfirmed"]
SMALL = Either((((str,), Text()), ((int,), Integer())), "what a small count is published as")


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that a policy asks for.

    Attributes:
        name: By which a user overrides its value or attests it.
        metric: What is measured; op, value: how it must compare; no value where the user must set one.
        scope: What it is measured on; action: what mends it; says: the same in words.
        evidence: Where its figure was seen, where that differs from the policy's.
    """

    name: str
    metric: str
    op: Op
    scope: str
    action: str
    says: str
    value: float | None = None
    evidence: Evidence | None = None

    def keeps(self, measured: float) -> bool:
        """Whether a measured figure satisfies the clause."""
        assert self.value is not None
        return {"<=": measured <= self.value, ">=": measured >= self.value, "=": measured == self.value}[self.op]


@dataclass(frozen=True, slots=True)
class CellRule:
    """What a policy does to the counts of a table.

    Attributes:
        low, high: The least and the greatest small count; small: what these are published as.
        base: The base to which other counts are rounded; 1 leaves them.
        complementary: Whether further cells are masked so that no small one can be computed.
    """

    low: Annotated[int, Note(minimum=0)]
    high: Annotated[int, Note(minimum=1)]
    small: Annotated[str | int, SMALL]
    base: Annotated[int, Note(minimum=1)] = 1
    complementary: bool = True


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy.

    Attributes:
        about: Whether it is about rows or about tables of counts.
        source: The name of the document; evidence: where its figures were seen.
        cells: What it does to the counts of a table, where it is about these.
        overrides: The values of clauses as the policy has them, where the user has set others.
    """

    id: str
    version: int
    about: Literal["rows", "tables"]
    title: str
    source: str
    evidence: Evidence
    clauses: Annotated[tuple[Clause, ...], Note(at_least=1)]
    cells: CellRule | None = None
    aliases: tuple[str, ...] = ()
    note: str = ""
    overrides: dict[str, float | None] = field(default_factory=dict)

    def evidence_of(self, clause: Clause) -> Evidence:
        """Where the figure of a clause was seen."""
        return clause.evidence or self.evidence

    def with_values(self, values: dict[str, float]) -> "Policy":
        """The policy with other values for some clauses, which it remembers."""
        clauses = tuple(
            replace(clause, value=values[clause.name]) if clause.name in values else clause for clause in self.clauses
        )
        before = {clause.name: clause.value for clause in self.clauses if clause.name in values}
        return replace(self, clauses=clauses, overrides=before)


SHAPE = record_of(Policy, make=Policy)
