"""The policy: a named, versioned list of clauses, each with its metric, its limit and its source."""

from dataclasses import field, replace
from typing import Annotated, Literal

from sfumato.dataclass import dataclass
from sfumato.schema.composite import Integer, Text, UnionSchema
from sfumato.schema.dataclass_schema import KeyInfo, record_of

Op = Literal["<=", ">=", "=", "attested"]
# The evidence for a limit: a text about the document, or unverified.
Evidence = Literal["secondary", "unconfirmed"]
SMALL = UnionSchema((((str,), Text()), ((int,), Integer())), "what a small count is published as")


@dataclass(frozen=True, slots=True)
class Clause:
    """One requirement of a policy.

    Attributes:
        name: The key with which a user overrides its value or attests it.
        metric: What is measured; op, value: the condition; no value if the user must set one.
        scope: What it is measured on; action: how to satisfy it; says: the clause in words.
        evidence: Source of its limit, if it differs from the policy's.
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
        """Return whether a measured number satisfies the clause."""
        assert self.value is not None
        return {"<=": measured <= self.value, ">=": measured >= self.value, "=": measured == self.value}[self.op]


@dataclass(frozen=True, slots=True)
class CellRule:
    """How a policy changes the counts of a table.

    Attributes:
        low, high: The smallest and the largest small count; small: the published text of these.
        base: The base to which other counts are rounded; 1 leaves them.
        complementary: Whether further cells are suppressed so that no small one can be computed.
    """

    low: Annotated[int, KeyInfo(minimum=0)]
    high: Annotated[int, KeyInfo(minimum=1)]
    small: Annotated[str | int, SMALL]
    base: Annotated[int, KeyInfo(minimum=1)] = 1
    complementary: bool = True


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy.

    Attributes:
        about: Whether it applies to rows or to tables of counts.
        source: The name of the document; evidence: source of its limits.
        cells: How it changes the counts of a table, if it applies to tables.
        overrides: The original values of clauses for which the user has set others.
    """

    id: str
    version: int
    about: Literal["rows", "tables"]
    title: str
    source: str
    evidence: Evidence
    clauses: Annotated[tuple[Clause, ...], KeyInfo(at_least=1)]
    cells: CellRule | None = None
    aliases: tuple[str, ...] = ()
    note: str = ""
    overrides: dict[str, float | None] = field(default_factory=dict)

    def evidence_of(self, clause: Clause) -> Evidence:
        """Return the source of a clause's limit."""
        return clause.evidence or self.evidence

    def with_values(self, values: dict[str, float]) -> "Policy":
        """Return the policy with other values for some clauses, keeping the original ones."""
        clauses = tuple(
            replace(clause, value=values[clause.name]) if clause.name in values else clause for clause in self.clauses
        )
        before = {clause.name: clause.value for clause in self.clauses if clause.name in values}
        return replace(self, clauses=clauses, overrides=before)


SHAPE = record_of(Policy, make=Policy)
