"""Method `exhaustive`: evaluate every node of the lattice; the result includes a table of all of them.

For k-anonymity alone the lattice is swept in compiled loops; other models are evaluated node by node. Either way nodes
are taken by height, and each is grouped from the smallest of its finer neighbors.
"""

from collections.abc import Iterator

from sfumato.microdata.counts.grouping import Grouped, Node
from sfumato.microdata.losses.loss import LossTerms, Sweepable, SweepResult
from sfumato.microdata.methods.full_domain.greedy import Walk
from sfumato.microdata.methods.full_domain.lattice.problem import (
    ClassSizeSummary,
    LatticeProblem,
    NodeEvaluation,
    NodeSolution,
)
from sfumato.microdata.methods.full_domain.lattice.sweep import by_height, sweep
from sfumato.microdata.methods.full_domain.unattainable import unattainable

# Larger lattices are not enumerated: their nodes are evaluated in order as long as there is time.
MAX_LISTED = 1_000_000
# Beyond this number of nodes a greedy search comes first, so that there is a result whatever the time.
MAX_UNAIDED = 100_000


def judge_all(problem: LatticeProblem) -> tuple[NodeEvaluation, ...]:
    """Evaluate every node, as far as there is time, in the order of their levels."""
    loss = problem.loss
    if problem.size > MAX_LISTED:
        return tuple(_in_order(problem))
    if problem.sizes_alone and isinstance(loss, Sweepable):
        judgments = _swept(problem, loss)
    else:
        judgments = _one_by_one(problem)
    return tuple(judgments[node] for node in problem.nodes() if node in judgments)


def _in_order(problem: LatticeProblem) -> Iterator[NodeEvaluation]:
    for done, node in enumerate(problem.nodes()):
        if problem.deadline.over:
            return
        yield problem.evaluate(node)
        problem.progress(done + 1, problem.size)


def _swept(problem: LatticeProblem, loss: Sweepable) -> dict[Node, NodeEvaluation]:
    judgments: dict[Node, NodeEvaluation] = {}
    for swept in sweep(problem.grouper, by_height(problem.nodes()), problem.k, loss.charges(), problem.deadline):
        judgments.update((node.node, node) for node in _judgments(problem, loss, swept))
        problem.progress(len(judgments), problem.size)
    return judgments


def _judgments(problem: LatticeProblem, loss: Sweepable, swept: SweepResult) -> Iterator[NodeEvaluation]:
    """Yield the evaluations of the nodes of a height."""
    generalization, suppression = loss.swept_terms(swept)
    figures = (swept.suppressed_rows, swept.classes, swept.smallest, swept.largest)
    before = (swept.all_classes, swept.all_smallest, swept.all_largest)
    rows = zip(
        swept.levels.tolist(),
        generalization.tolist(),
        suppression.tolist(),
        *(figure.tolist() for figure in (*figures, *before)),
        strict=True,
    )
    for levels, plain, added, suppressed, kept, smallest, largest, *sizes in rows:
        terms = LossTerms(plain, added)
        value = loss.value(terms.total)
        holds = suppressed <= problem.limit and kept > 0
        classes = (suppressed, suppressed, kept, smallest, largest, holds)
        yield NodeEvaluation(tuple(levels), terms, value, *classes, before=ClassSizeSummary(*sizes))


def _one_by_one(problem: LatticeProblem) -> dict[Node, NodeEvaluation]:
    judgments: dict[Node, NodeEvaluation] = {}
    below: dict[Node, Grouped] = {}
    for nodes in by_height(problem.nodes()):
        here: dict[Node, Grouped] = {}
        for node in nodes:
            if problem.deadline.over:
                return judgments
            here[node] = problem.grouper.rolled(_smallest(problem, below, node), node)
            judgments[node] = problem.judge_classes(here[node])
        below = here
        problem.progress(len(judgments), problem.size)
    return judgments


def search(problem: LatticeProblem) -> NodeSolution:
    """Return the best of all nodes.

    Raises:
        UnattainableError: No node satisfies the models within the suppression limit.
    """
    walk = Walk(problem).down() if problem.size > MAX_UNAIDED else None
    nodes = judge_all(problem)
    complete = len(nodes) == problem.size
    if not complete and walk is None:
        walk = problem.evaluate(problem.highest)
    best = problem.best([*nodes, walk] if walk else nodes)
    if best is None:
        raise unattainable(problem)
    remark = (
        f"{len(nodes):,} of {problem.size:,} nodes were judged in {problem.time_limit:g} s; the loss is the best found."
    )
    remarks = () if complete else (remark,)
    return NodeSolution(best, complete, len(nodes), problem.size, nodes, notes=remarks, cut_short=not complete)


def _smallest(problem: LatticeProblem, below: dict[Node, Grouped], node: Node) -> Grouped:
    """Return the finer neighbor with the fewest classes, or the original table for the lowest node."""
    best = problem.grouper.base
    for column, level in enumerate(node):
        neighbor = below.get((*node[:column], level - 1, *node[column + 1 :]))
        if neighbor is not None and len(neighbor.sizes) < len(best.sizes):
            best = neighbor
    return best
