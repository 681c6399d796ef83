"""The result of a method: a protected pattern, its cost, the lower bound of the cost, and its witnesses."""

from collections.abc import Callable

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.system import AlternativeTable, BoolArray, Places, Table
from sfumato.tables.suppression.patterns import Pattern
from sfumato.tables.suppression.problem import SuppressionProblem

ProgressCallback = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class SuppressionResult:
    """A protected pattern, its cost, and the least cost that any pattern can have.

    Attributes:
        masked: Which cells of the problem are masked.
        cost: What that costs.
        bound: The least that any pattern costs.
        places: The cells' places in the table.
        witnesses: Other tables that agree with the pattern; the audit looks at them itself.
    """

    masked: BoolArray
    cost: float
    bound: float
    places: Places
    witnesses: tuple[AlternativeTable, ...] = ()

    def over(self, table: Table) -> BoolArray:
        """The pattern over all cells of the table."""
        mask = np.zeros(len(table), bool)
        mask[self.places] = self.masked
        return mask

    @property
    def proved(self) -> bool:
        return self.cost - self.bound <= 1e-6 * max(1.0, self.cost)

    @property
    def gap(self) -> float:
        """The share of the cost that may be too much."""
        return 0.0 if self.proved else (self.cost - max(self.bound, 0.0)) / self.cost


def witnesses_of(problem: SuppressionProblem, pattern: Pattern) -> list[AlternativeTable]:
    """The proofs of a pattern as witnesses, in the cells of the table."""
    return [
        AlternativeTable(int(problem.places[threat.cell]), problem.places[proof.flow.cells], proof.flow.amounts)
        for threat, proofs in pattern.proofs.items()
        for proof in proofs
    ]
