"""Controlled rounding: every cell a multiple of its base, all relations satisfied, minimum total change.

Zero-restricted (Cox 1987, doi:10.1080/01621459.1987.10478456): a multiple is kept, any other value goes to an adjacent
multiple. That always succeeds in two dimensions with a hierarchy in at most one of them; otherwise it may not, which
the integer program proves, and cells may go further by as few multiples as needed. It protects a value within one base
plus these; an attacker who knows that the total change is minimal knows a little more, which is not counted.
"""

from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import InternalError, UnattainableError
from sfumato.tables.cells.cells import Bounds, LinearConstraints, Numbers
from sfumato.tables.deadline import Deadline
from sfumato.tables.integer_programs import SolverResult, solve
from sfumato.tables.rounding.multiples import Multiples, between_multiples


@dataclass(frozen=True, slots=True)
class Rounded:
    """A rounded table.

    Attributes:
        published: The multiples.
        steps: By how many further steps cells were allowed to move.
        change: The sum of all changes.
        bound: What no other such rounding changes less than.
    """

    published: Numbers
    steps: int
    change: float
    bound: float

    @property
    def proved(self) -> bool:
        """Whether no other rounding changes less."""
        return self.change - self.bound <= 1e-6 * max(1.0, self.change)


def round_controlled(
    values: Numbers, bases: Numbers, relations: LinearConstraints, steps: int, deadline: Deadline
) -> Rounded:
    """Round with as few further steps as are needed, up to the number allowed.

    Raises:
        UnattainableError: It is proved that nothing adds up, or the time was over before anything was found.
    """
    multiples = between_multiples(values, bases)
    for extra in range(steps + 1):
        program = _Program(values, multiples, relations, extra)
        answer = program.solved(deadline.left)
        if len(answer.point):
            return program.rounded(answer)
        if answer.outcome == "unknown":
            raise _out_of_time(extra)
    raise _infeasible(steps)


class _Program:
    """Each cell is the multiple below it, plus one or none, plus steps up, minus steps down."""

    def __init__(self, values: Numbers, multiples: Multiples, relations: LinearConstraints, extra: int) -> None:
        self.values, self.multiples, self.extra = values, multiples, extra
        self.matrix = relations.matrix(len(values))
        unit = multiples.bases.min(initial=np.inf) if len(values) else 1.0
        self.weights = multiples.bases / unit

    def solved(self, seconds: float) -> SolverResult:
        """The answer to the program; variables are one for each cell, then steps up, then steps down."""
        from scipy.sparse import diags, hstack

        weighted = self.matrix @ diags(self.weights)
        whole: Any = hstack([weighted, weighted, -weighted]) if self.extra else weighted
        target = -(weighted @ self.multiples.below)
        costs, bounds = self._costs(), self._bounds()
        return solve(whole.tocsr(), costs, bounds, Bounds(target, target), np.ones(len(costs), bool), seconds)

    def _costs(self) -> Numbers:
        """What each variable changes: the neighbor above instead of the one below, or a whole base for a step."""
        nearer = self.weights * (1.0 - 2.0 * self.multiples.rest)
        return np.concatenate([nearer, self.weights, self.weights]) if self.extra else nearer

    def _bounds(self) -> Bounds:
        free = np.where(self.multiples.whole, 0.0, 1.0)
        none = np.zeros(len(free))
        if not self.extra:
            return Bounds(none, free)
        far = np.full(len(free), float(self.extra))
        # Nothing below zero where nothing was.
        down = np.where(self.values >= 0, np.minimum(far, self.multiples.below), far)
        return Bounds(np.concatenate([none, none, none]), np.concatenate([free, far, down]))

    def rounded(self, answer: SolverResult) -> Rounded:
        """The multiples, checked: every relation holds in whole numbers."""
        parts = np.round(answer.point).reshape(-1, len(self.values))
        counts = self.multiples.below + parts[0]
        if self.extra:
            counts = counts + parts[1] - parts[2]
        if np.abs(self.matrix @ (counts * self.weights)).max(initial=0.0) > 1e-6 * max(1.0, np.abs(counts).max()):
            raise InternalError("a rounded table does not add up.", code="rounding")
        published = counts * self.multiples.bases
        change = float(np.abs(published - self.values).sum())
        start = self.multiples.rest * self.weights
        bound = (answer.bound + start.sum()) * (self.multiples.bases[0] / self.weights[0]) if len(counts) else 0.0
        return Rounded(published, self.extra, change, min(float(bound), change))


def _infeasible(steps: int) -> UnattainableError:
    further = f", even with {steps} further steps" if steps else ""
    return UnattainableError(
        f"controlled rounding is infeasible: it is proved that no such table adds up{further}.",
        "Allow more steps in method.steps, or choose another base, or fewer tables together.",
        "rounding-infeasible",
    )


def _out_of_time(extra: int) -> UnattainableError:
    with_steps = f" with {extra} further steps" if extra else ""
    return UnattainableError(
        f"the time was over before a rounding was found that adds up{with_steps}.",
        "Allow more seconds in method.time_limit, or use kind random or deterministic.",
        "time-limit",
    )
