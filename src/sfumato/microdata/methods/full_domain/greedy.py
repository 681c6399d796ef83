"""Method `greedy`: change one level of one column at a time, always the most promising; fast, without any proof.

Top-down starts with every column at its highest level and refines, each time to the releasable neighbor of least loss,
as long as the loss decreases. Bottom-up starts from the lowest levels and generalizes, each time the column that saves
most rows from suppression per loss added, until the node may be released; then it refines where possible (similar to
Sweeney, L. (2002). Datafly, https://doi.org/10.1142/S021848850200165X, which generalizes the column with most values
instead). Both stop at a node that no single step improves; a better one may exist elsewhere.
"""

from collections.abc import Iterator

from sfumato.localization.messages import Message
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.methods.full_domain.lattice.problem import (
    Judgments,
    LatticeProblem,
    NodeEvaluation,
    NodeSolution,
)
from sfumato.microdata.methods.full_domain.unattainable import unattainable

REMARK = "Greedy search: no single step improves this result, but a better one may exist; method optimal proves."


def search(problem: LatticeProblem) -> NodeSolution:
    """Find a good node.

    Raises:
        UnattainableError: No node on the path, not even the top, satisfies the models within the suppression limit.
    """
    walk = Walk(problem)
    best = walk.up() if problem.upwards else walk.down()
    if best is None:
        raise unattainable(problem)
    late = Message("note.greedy_late", seconds=problem.time_limit)
    remarks = (late if walk.ended else Message("note.greedy"),)
    return NodeSolution(best, False, walk.checked, problem.size, notes=remarks, cut_short=walk.ended)


class Walk:
    """A path through the lattice on which each node is evaluated once.

    Attributes:
        ended: Whether the search timed out.
    """

    def __init__(self, problem: LatticeProblem) -> None:
        self.problem = problem
        self.ended = False
        self._judgments = Judgments(problem)

    @property
    def checked(self) -> int:
        return len(self._judgments)

    def down(self, start: Node | None = None) -> NodeEvaluation | None:
        """Refine from a releasable node until no finer neighbor improves it; None if the start is not releasable."""
        best = self._judgments[start or self.problem.highest]
        if not best.satisfied:
            return None
        while True:
            next_best = self.problem.best([best, *self._neighbors(best.node, -1)])
            if next_best is None or next_best is best:
                return best
            best = next_best

    def up(self) -> NodeEvaluation | None:
        """Generalize from the lowest levels to a releasable node, then refine; None if no node on the path is."""
        here = self._judgments[self.problem.lowest]
        while not here.satisfied:
            coarser = list(self._neighbors(here.node, 1))
            if not coarser:
                return self.down() if self.ended else None
            here = max(coarser, key=lambda after: _worth(here, after))
        return self.down(here.node)

    def _neighbors(self, node: Node, step: int) -> Iterator[NodeEvaluation]:
        """Yield the neighbors of a node that are evaluated in time."""
        for neighbor in self.problem.neighbors(node, step):
            self.ended |= self.problem.deadline.over
            if self.ended:
                return
            yield self._judgments[neighbor]


def _worth(before: NodeEvaluation, after: NodeEvaluation) -> tuple[bool, float, float]:
    """Return whether a step reaches a releasable node, and the rows it saves per additional loss."""
    saved = before.suppressed_rows - after.suppressed_rows
    cost = max(after.loss_terms.generalization - before.loss_terms.generalization, 1e-12)
    return (after.satisfied, -after.loss if after.satisfied else saved / cost, -after.loss)
