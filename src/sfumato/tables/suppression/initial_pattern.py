"""A starting pattern for a search, found for a subset of the cells, with witnesses that may hold for all of them."""

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.cells.system import AlternativeTable, BoolArray
from sfumato.tables.suppression.flows.flow import SLACK, Flow
from sfumato.tables.suppression.problem import SuppressionProblem


@dataclass(frozen=True, slots=True)
class InitialPattern:
    """A pattern over the cells of a table, and other tables that are said to agree with it.

    Attributes:
        masked: Which cells of the table it masks.
        witnesses: Deviations that move masked cells only; each is looked at before it counts.
    """

    masked: BoolArray
    witnesses: Sequence[AlternativeTable] = ()

    def of(self, problem: SuppressionProblem) -> BoolArray:
        """The pattern over the cells of a problem."""
        return np.asarray(self.masked[problem.places] | problem.forced)

    def flows(self, problem: SuppressionProblem) -> Iterator[tuple[int, Flow]]:
        """The witnesses that are flows of a problem within the pattern, each with the cell that it moves."""
        places = np.full(len(self.masked), -1, np.int64)
        places[problem.places[self.of(problem)]] = np.flatnonzero(self.of(problem))
        for witness in self.witnesses:
            moving = np.abs(witness.amounts) > SLACK * np.abs(witness.amounts).max(initial=0.0)
            flow = Flow(places[witness.cells[moving]], witness.amounts[moving])
            if places[witness.cell] in flow.cells and _holds(problem, flow):
                yield int(places[witness.cell]), flow


def _holds(problem: SuppressionProblem, flow: Flow) -> bool:
    """Whether a flow moves cells of the problem alone, within their room, and keeps every relation."""
    if (flow.cells < 0).any() or not flow.fits(problem.up, problem.down):
        return False
    net = np.zeros(problem.size)
    net[flow.cells] = flow.amounts
    return bool(np.abs(problem.matrix @ net).max(initial=0.0) <= SLACK * np.abs(flow.amounts).max())
