"""A quick check for suppressed cells that are disclosed at once, before any program is solved."""

import numpy as np

from sfumato.tables.suppression.problem import SuppressionProblem


class QuickCheck:
    """The masked cells of each relation, as they are published one by one.

    A cell that is masked alone in a relation is computed; so is, by one who knows a cell, the one beside it.
    """

    def __init__(self, problem: SuppressionProblem) -> None:
        rows, columns = problem.matrix.tocsr(), problem.columns
        self._members = [set(part.tolist()) for part in np.split(rows.indices, rows.indptr[1:-1])]
        self._of = [part.tolist() for part in np.split(columns.indices, columns.indptr[1:-1])]
        self._attacked = {threat.cell for threat in problem.threats}
        self._problem = problem

    def remove(self, cell: int) -> None:
        """Publish a cell."""
        for relation in self._of[cell]:
            self._members[relation].discard(cell)

    def exposes(self, cell: int) -> bool:
        """Whether publishing a cell gives an unsafe one away, by single relations."""
        gone, waiting = {cell}, [cell]
        while waiting:
            for relation in self._of[waiting.pop()]:
                left = self._members[relation] - gone
                if len(left) == 1:
                    alone = next(iter(left))
                    if alone in self._attacked:
                        return True
                    gone.add(alone)
                    waiting.append(alone)
                elif len(left) == 2 and self._known_to_other(*left):
                    return True
        return False

    def _known_to_other(self, one: int, other: int) -> bool:
        """Whether somebody who alone knows one of two cells attacks the other."""
        return self._tells(one, other) or self._tells(other, one)

    def _tells(self, one: int, cell: int) -> bool:
        if cell not in self._attacked:
            return False
        return any(
            up == 0.0 and down == 0.0 and self._problem.attacks(place, cell)
            for place, up, down in self._problem.insiders.get(one, ())
        )
