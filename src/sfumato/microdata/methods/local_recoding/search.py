"""Method `local`: rows that one node would suppress are generalized again by the next best node, and so on.

A single rare combination no longer forces a column to `*` for all rows: each row is published at the least generalized
node at which its class is large enough among the remaining rows. The loss is never larger than that of `optimal` with
the same plan: if the sweep over the nodes is not better than the best single node, it restarts from that node.

Prasser, F., Bild, R., Kuhn, K. (2016). A generic method for assessing the quality of de-identified health data,
https://doi.org/10.3233/978-1-61499-678-1-312; the greedy order by cost is specific to Sfumato. It is a heuristic: not
the least loss of all local recodings. Published labels of one column may be at different levels and contain each other.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sfumato.errors import SfumatoError, UnattainableError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Node
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.methods.class_labels import distinct_classes, distinct_labels, recode_classes
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain import search as full_domain
from sfumato.microdata.methods.full_domain.best_first import Walk
from sfumato.microdata.methods.full_domain.lattice_nodes import screened
from sfumato.microdata.methods.full_domain.problem import LatticeProblem, NodeSolution, problem_of
from sfumato.microdata.methods.full_domain.unattainable import releasable, unattainable
from sfumato.microdata.methods.local_recoding import exchange_kernels as cluster_kernels
from sfumato.microdata.methods.local_recoding.annealing import annealed
from sfumato.microdata.methods.local_recoding.candidates import (
    SAME,
    Candidate,
    CellWalk,
    better,
    placed,
    sweep_of,
    swept,
)
from sfumato.microdata.methods.local_recoding.sweep import MOST_LISTED, UNPLACED, Ints, Sweep
from sfumato.microdata.methods.mondrian.search import partition
from sfumato.microdata.methods.search_result import Deadline, NodeEvaluation, ProgressCallback, Result
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats
from sfumato.microdata.plan.methods import Local
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import ClassRecoding, Labels
from sfumato.values import replace

# Minimum rows of a block: more rows mean less loss and more time.
BLOCK_ROWS = 256


def neighborhoods(sweep: Sweep, plan: Plan) -> Iterator[Ints]:
    """Yield classes by neighborhood, as the class of each combination: Mondrian's own, and clusters within blocks.

    The rows are cut into blocks as Mondrian cuts them (by loss). In each block a class begins with one combination and
    takes the one that adds least loss, until it has k rows (similar to Byun, J.-W. et al. (2007). Efficient
    k-anonymization using clustering techniques, https://doi.org/10.1007/978-3-540-71703-4_18). Models beyond
    k-anonymity are satisfied by Mondrian's own classes, which are evaluated as they are cut. No node of the lattice is
    ever listed.
    """
    problem = sweep.problem
    yield partition(plan, sweep.table, problem.k, problem.deadline)
    if problem.sizes_alone:
        least = min(max(BLOCK_ROWS, 4 * problem.k), sweep.table.rows)
        yield _clustered(sweep, partition(plan, sweep.table, least, problem.deadline))


def _clustered(sweep: Sweep, blocks: Ints) -> Ints:
    """Return the clusters of neighbors in each block."""
    table, problem = sweep.table, sweep.problem
    order = np.argsort(blocks, kind="stable")
    edges = np.searchsorted(blocks[order], np.arange(int(blocks.max()) + 2))
    owners = np.full(len(table.counts), -1, np.int64)
    levels = np.array(problem.lowest, np.int64), np.array(problem.highest, np.int64)
    number = 0
    with problem.deadline.flag() as stop:
        for block in range(len(edges) - 1):
            rows = order[edges[block] : edges[block + 1]]
            number = cluster_kernels.cluster_block(
                table.codes, table.counts, rows, problem.k, *levels, sweep.prices, owners, number, stop
            )
            sweep.tell(block + 1, len(edges) - 1)
    return owners


# With fewer seconds, a fair solution comes first.
UNHURRIED = 20.0
# Nodes times combinations up to which the sweep is very fast.
QUICK_SWEEP = 20_000_000


def search(plan: Plan, method: Local, table: FrequencyTable, progress: ProgressCallback | None = None) -> Result:
    """Return the recoding that the sweep finds, never worse than the best node.

    Raises:
        UnattainableError: No recoding of this kind satisfies the models within the suppression limit.
    """
    problem = problem_of(plan, method, table)
    sweep = sweep_of(plan, method, problem, progress)
    if problem.size > MOST_LISTED:
        # Lattices too large to enumerate are not searched: classes are made of neighbors instead.
        return _large(plan, method, sweep, problem)
    prices_alone = _prices_suffice(problem, method)
    best = _guided(sweep, None if prices_alone else swept(sweep, method))
    if best is None and prices_alone:
        best = swept(sweep, method)
    node = better_node(problem, best.loss if best else None)
    if node is not None and (best is None or problem.offers(node)):
        best = better(best, _from_node(sweep, node))
        if best is None or best.loss > node.loss:
            return _at_node(problem, method, node)
    assert best is not None
    return _result(best, method)


def _at_node(problem: LatticeProblem, method: Local, node: NodeEvaluation) -> Result:
    """Return the recoding at a single node.

    Raises:
        UnattainableError: It has a single class, though a model refers to a sensitive column.
        EngineError: The node has such a single class, and the search timed out before it found another node.
    """
    late = problem.deadline.over
    solution = NodeSolution(node, False, 0, problem.size, notes=(_late(method),) if late else (), cut_short=late)
    return full_domain.result_of(problem, method.loss, releasable(problem, solution))


def _large(plan: Plan, method: Local, sweep: Sweep, problem: LatticeProblem) -> Result:
    """Return the best clusters of neighbors, or the node of a greedy search if that loses less."""
    best: Candidate | None = None
    try:
        for owners in neighborhoods(sweep, plan):
            answer = placed(sweep, owners)
            if answer is not None and (answer.levels <= np.array(problem.highest)).all():
                best = better(best, answer)
    except UnattainableError:
        best = None
    node = Walk(problem).down()
    if node is not None and problem.offers(node) and (best is None or node.loss < best.loss):
        return _at_node(problem, method, node)
    if best is None:
        raise unattainable(problem)
    return _result(best, method)


def _prices_suffice(problem: LatticeProblem, method: Local) -> bool:
    """Return whether the sweep is slow and would not improve classes made by prices.

    That is the case if nothing is suppressed, the loss is a sum over rows, no sweep is requested, and the time is
    long enough for both, should there be no such classes.
    """
    sums = isinstance(problem.loss, Marginal) and problem.loss.aggregate != "geometric"
    plain = method.rounds == 1 and not method.weight and method.time_limit >= UNHURRIED
    long = problem.size * len(problem.table.counts) > QUICK_SWEEP
    return sums and plain and long and not problem.limit


def _guided(sweep: Sweep, best: Candidate | None) -> Candidate | None:
    """Return the better of a solution and the one by prices, if there is one."""
    owners = None if sweep.problem.deadline.over else guided(sweep)
    if owners is None or sweep.violating(owners, int(owners.max()) + 1).any():
        return best
    return better(best, placed(sweep, owners))


def _from_node(sweep: Sweep, judgment: NodeEvaluation) -> Candidate | None:
    """Return what a node keeps, with the rows that it suppresses generalized again."""
    grouper = sweep.problem.grouper
    failing = sweep.problem.violating(grouper.rolled(grouper.base, judgment.node))
    numbers = np.where(failing, UNPLACED, np.cumsum(~failing) - 1)
    return placed(sweep, sweep.spread(numbers[grouper.owners(judgment.node)], np.array([np.inf])))


def better_node(problem: LatticeProblem, loss: float | None) -> NodeEvaluation | None:
    """Return the best node if it loses less than the given loss; without one, the best node.

    Raises:
        UnattainableError: There is no solution yet, and no node satisfies the models within the suppression limit.
    """
    if loss is None or not isinstance(problem.loss, Marginal):
        best = _optimal_or_none(problem, loss)
        return best if best is not None and (loss is None or best.loss < loss) else None
    floors = problem.loss.floors(problem.window())
    total = float(np.log1p(loss)) if problem.loss.aggregate == "geometric" else loss
    open_nodes = floors < total
    if not open_nodes.any():
        return None
    open_nodes &= screened(problem)
    return _judge_down(problem, open_nodes, floors, loss)


def _optimal_or_none(problem: LatticeProblem, loss: float | None) -> NodeEvaluation | None:
    try:
        return optimal.search(problem).best
    except SfumatoError:
        if loss is None:
            raise
        return None


def _judge_down(problem: LatticeProblem, open_nodes: BoolArray, floors: Floats, loss: float) -> NodeEvaluation | None:
    """Return the best of some nodes that loses less than `loss`; coarse ones first, because they exclude finer ones."""
    best: NodeEvaluation | None = None
    while open_nodes.any() and not problem.deadline.over:
        place = int(np.where(open_nodes, floors, -1.0).argmax())
        at = np.unravel_index(place, open_nodes.shape)
        node: Node = tuple(int(level) + low for level, low in zip(at, problem.lowest, strict=True))
        judgment = problem.evaluate(node)
        open_nodes[at] = False
        if judgment.certain_rows > problem.limit:
            open_nodes[tuple(slice(0, int(level) + 1) for level in at)] = False
        if problem.offers(judgment) and judgment.loss < (loss if best is None else best.loss):
            best = judgment
    return best


def _result(answer: Candidate, method: Local) -> Result:
    problem = answer.sweep.problem
    return Result(
        _recoding(answer),
        method.loss,
        answer.loss,
        answer.per_column,
        proved_optimal=False,
        checked=len(answer.sweep.nodes[0]) if problem.size <= MOST_LISTED else 0,
        total=problem.size,
        cut_short=problem.deadline.over,
        notes=(_late(method),) if problem.deadline.over else (),
    )


def _late(method: Local) -> Message:
    return Message("note.local_late", seconds=method.time_limit)


def _recoding(answer: Candidate) -> ClassRecoding:
    """Return the recoding; suppressed rows form a class of their own, the last one."""
    table = answer.sweep.table
    columns = [_labels(answer, column) for column in range(len(table.columns))]
    labels = [texts for texts, _ in columns]
    classes, places = distinct_classes(labels, np.column_stack([codes for _, codes in columns]))
    owners = np.where(answer.owners < 0, len(classes), places[np.maximum(answer.owners, 0)])
    return recode_classes(table, owners, labels, classes)


def _labels(answer: Candidate, column: int) -> tuple[Labels, npt.NDArray[np.int32]]:
    """Return the labels of a column, and each class's label."""
    table = answer.sweep.table
    ladder = table.ladders[column]
    level, codes = answer.levels[:, column], table.codes[answer.first, column]
    own = np.stack(ladder.codes)[level, codes].astype(np.int64)
    keys, inverse = np.unique(level.astype(np.int64) * ladder.size + own, return_inverse=True)
    texts = [ladder.labels[key // ladder.size][key % ladder.size] for key in keys.tolist()]
    return distinct_labels(texts, inverse)


# Afterwards rows are exchanged. The plain sweep serves cheap rows first and takes their neighbors away from rows that
# have few; by its price, a row with few neighbors comes first. Only for privacy models on class sizes, if all
# candidates can be enumerated in seconds.
def guided(sweep: Sweep) -> Ints | None:
    """Return the class of each combination, or UNPLACED; None if there are no such classes, or not in time."""
    problem, table = sweep.problem, sweep.table
    if not problem.sizes_alone or table.persons or table.sample is not None or sweep.spare:
        return None
    walk = CellWalk(sweep)
    if not walk.feasible:
        return None
    with problem.deadline.flag() as stop:
        least = walk.cheapest(stop)
        return None if least is None else annealed(walk, least, stop)


# Time limit of the bound.
MOST_SECONDS = 2.0
# Number of price improvements: each takes about as long, and adds less.
TIMES = 2


def bounded(plan: Plan, method: Local, table: FrequencyTable, result: Result) -> Result:
    """Return a result with the lower bound of local recoding, and the relative gap of its loss, if known.

    Whatever class a row is published in, all rows of the class have one label in each column, so they lie in one
    lattice class ("cell") of a node, and this cell has at least as many rows as a class needs. A row therefore loses at
    least the minimum of the loss of suppression and the loss at the cheapest node whose cell around it is large enough.
    Rows with few neighbors also make these neighbors lose more. Prices account for that, because the prices of each
    cell are limited together.
    """
    bound = bound_of(plan, method, table, Deadline(min(MOST_SECONDS, method.time_limit or MOST_SECONDS)))
    if bound is None:
        return result
    bound = min(bound, result.loss)
    gap = 0.0 if result.loss - bound <= SAME else 1 - bound / result.loss
    details = {**result.details, "bound": bound, "gap": gap}
    return replace(result, details=details, proved_optimal=result.proved_optimal or gap == 0.0)


def bound_of(plan: Plan, method: Local, table: FrequencyTable, deadline: Deadline) -> float | None:
    """Return a lower bound of the loss of every local recoding; None if unknown, or not found in time.

    Losses that are no sums over columns, models of persons and weights, and very large tables have no bound.
    """
    problem = problem_of(plan, method, table)
    loss = problem.loss
    if not isinstance(loss, Marginal) or loss.aggregate == "geometric" or table.persons or table.sample is not None:
        return None
    walk = CellWalk(Sweep(replace(problem, missing_matches=False), method.nodes, 0))
    prices = _prices(walk, deadline) if walk.feasible else None
    return None if prices is None else float((prices * table.counts).sum() / table.rows) * (1 - SAME)


def _prices(walk: CellWalk, deadline: Deadline) -> Floats | None:
    """Return the highest prices found in time; None if not even the first ones are."""
    with deadline.flag() as stop:
        prices = walk.cheapest(stop)
        for _ in range(TIMES):
            raised = None if prices is None else walk.dual(prices, stop)
            if raised is None:
                break
            prices = raised
    return prices
