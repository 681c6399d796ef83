"""Local recoding: what one node of the lattice would suppress is generalized again, with the next best node, and so on.

One outlier no longer makes a column vanish for everybody: each row is published at the least generalized node at which
it has company among the rows still left. The loss is never larger than that of `optimal` with the same plan: where the
sweep over the nodes is not better than the best single node, it starts over from that node.

Prasser, F., Bild, R., Kuhn, K. (2016). A generic method for assessing the quality of de-identified health data,
https://doi.org/10.3233/978-1-61499-678-1-312; the greedy order by cost is ours. It is a heuristic: not the least loss
of all local recodings. Published labels of one column may lie at different levels and contain each other.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.errors import SfumatoError, UnattainableError
from sfumato.microdata.counts.frequencies import FrequencyTable
from sfumato.microdata.counts.grouping import Grouped, Node
from sfumato.microdata.losses.coverage import aggregated
from sfumato.microdata.losses.marginal import Marginal
from sfumato.microdata.methods.class_labels import distinct_classes, distinct_labels, recode_classes
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain import search as full_domain
from sfumato.microdata.methods.full_domain.greedy import Walk
from sfumato.microdata.methods.full_domain.last_resort import releasable
from sfumato.microdata.methods.full_domain.lattice.problem import Judgment, Problem, Solution
from sfumato.microdata.methods.full_domain.lattice.rare_pairs import screened
from sfumato.microdata.methods.full_domain.unattainable import unattainable
from sfumato.microdata.methods.local.classes import costs_of, firsts_of, levels_of, with_company
from sfumato.microdata.methods.local.guided import guided
from sfumato.microdata.methods.local.sweep import MOST_LISTED, UNPLACED, Ints, Sweep
from sfumato.microdata.methods.result import Progress, Result
from sfumato.microdata.models.classes import Floats, Mask
from sfumato.microdata.models.readers_view import without_skew
from sfumato.microdata.plan.methods import Local
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.recoding import ClassRecoding, Labels

# The share of classes that are passed over where minimality is to be hidden.
SPARED = 0.2


def search(plan: Plan, method: Local, table: FrequencyTable, progress: Progress | None = None) -> Result:
    """The recoding that the sweep finds, never worse than the best node.

    Raises:
        UnattainableError: No recoding of this kind keeps the promises within the budget.
    """
    problem = full_domain.problem_of(plan, method, table)
    sweep = _sweep_of(plan, method, problem, progress)
    if problem.size > MOST_LISTED:
        # Nodes that are not listed are not gone through: classes are made of neighbors there.
        return _large(plan, method, sweep, problem)
    best = _guided(sweep, _swept(sweep, method))
    node = better_node(problem, best.loss if best else None)
    if node is not None and (best is None or problem.offers(node)):
        best = _best(best, _from_node(sweep, node))
        if best is None or best.loss > node.loss:
            return _at_node(problem, method, node)
    assert best is not None
    return _result(best, method)


def rough_losses(plan: Plan, method: Local, table: FrequencyTable) -> Mapping[str, float] | None:
    """What each column loses by one sweep over nodes at even distances; None where some rows find no place.

    The best single node is not looked for, which takes the longest: who compares columns needs no more.
    """
    best = _swept(_sweep_of(plan, method, full_domain.problem_of(plan, method, table)), method)
    return None if best is None else best.per_column


def _sweep_of(plan: Plan, method: Local, problem: Problem, progress: Progress | None = None) -> Sweep:
    # Classes are made of equal rows. Where missing values match anything, or persons of a population count, that is
    # more than is asked for; a class that holds only by rows it matches would lose them when these are generalized
    # again, and one that mixes levels stands for no combination that the population could be counted by.
    rows_alone = replace(problem.table, population=None)
    equal_rows = replace(problem, missing_matches=False, table=rows_alone, time_limit=problem.deadline.left)
    spare = SPARED if method.hide_minimality else 0.0
    return Sweep(equal_rows, method.nodes, plan.drawing_seed, spare, **({"tell": progress} if progress else {}))


def _at_node(problem: Problem, method: Local, node: Judgment) -> Result:
    """The recoding at a single node.

    Raises:
        UnattainableError: It tells nothing, though a promise is about a sensitive column.
        EngineError: The same, and the time was over before another was found.
    """
    late = problem.deadline.over
    solution = Solution(node, False, 0, problem.size, remarks=(_late(method),) if late else (), cut_short=late)
    return full_domain.result_of(problem, method.loss, releasable(problem, solution))


def _large(plan: Plan, method: Local, sweep: Sweep, problem: Problem) -> Result:
    """The best classes of neighbors, or the node that a greedy walk finds where that loses less."""
    from sfumato.microdata.methods.local.neighborhoods import neighborhoods

    best: Answer | None = None
    try:
        for owners in neighborhoods(sweep, plan):
            answer = _placed(sweep, owners)
            if answer is not None and (answer.levels <= np.array(problem.highest)).all():
                best = _best(best, answer)
    except UnattainableError:
        best = None
    node = Walk(problem).down()
    if node is not None and problem.offers(node) and (best is None or node.loss < best.loss):
        return _at_node(problem, method, node)
    if best is None:
        raise unattainable(problem)
    return _result(best, method)


@dataclass(frozen=True)
class Answer:
    """A recoding as the class of each combination; UNPLACED ones are suppressed."""

    sweep: Sweep
    owners: Ints

    @cached_property
    def number(self) -> int:
        return int(self.owners.max(initial=-1)) + 1

    @cached_property
    def levels(self) -> npt.NDArray[np.int32]:
        return levels_of(self.sweep, self.owners, self.number)

    @property
    def tells(self) -> bool:
        """Whether some label below the top is published."""
        tops = np.array([ladder.height - 1 for ladder in self.sweep.table.ladders])
        return bool((self.levels < tops).any())

    @cached_property
    def first(self) -> Ints:
        return firsts_of(self.owners, self.number)

    @cached_property
    def per_column(self) -> Mapping[str, float]:
        """The loss of each column, where the loss is made of columns."""
        sweep, table = self.sweep, self.sweep.table
        if not isinstance(sweep.problem.loss, Marginal):
            return {}
        kept = self.owners >= 0
        losses = {}
        for column, name in enumerate(table.columns):
            ladder, codes = table.ladders[column], table.codes[:, column]
            of_class = np.stack([sweep.column_loss.kept(column, at)[ladder.codes[at]] for at in range(ladder.height)])
            lost = sweep.suppressed(column)[codes]
            lost[kept] = of_class[self.levels[self.owners[kept], column], codes[kept]]
            losses[name] = float((lost * table.counts).sum() / table.rows)
        return losses

    @cached_property
    def loss(self) -> float:
        loss = self.sweep.problem.loss
        if isinstance(loss, Marginal):
            return aggregated(list(self.per_column.values()), loss.weights, loss.aggregate)
        owners = np.where(self.owners < 0, self.number, self.owners)
        suppresses = bool((self.owners < 0).any())
        classes = self.sweep.classes(owners, self.number + suppresses)
        failing: Mask = np.arange(len(classes.sizes)) >= self.number
        grouped = Grouped(self.sweep.problem.highest, np.zeros((1, len(failing)), np.uint64), classes)
        return loss.value(loss.terms(grouped, failing, int(classes.sizes[failing].sum())).total)

    def row_costs(self) -> Floats:
        """What each row of the table loses, ascending, all columns together."""
        kept = self.owners >= 0
        costs = costs_of(self.sweep, self.levels, self.first)[self.owners[kept]]
        return np.sort(np.repeat(costs, self.sweep.table.counts[kept]))


def _swept(sweep: Sweep, method: Local) -> Answer | None:
    """The best answer of all rounds; None where some rows find no place.

    Where going through all nodes takes long, a few of them come first: then there is a fair answer whatever the time.
    """
    start = _start(sweep, method.weight)
    nobody = np.full(len(sweep.table.counts), UNPLACED, np.int64)
    best: Answer | None = None
    for most in sweep.passes():
        if best is None or not sweep.problem.deadline.over:
            best = _best(best, _placed(sweep, sweep.spread(nobody, np.array([np.inf]), start, most)))
    if method.rounds > 1 and best is not None and not sweep.problem.deadline.over:
        costs = best.row_costs()
        steps = (np.arange(1, method.rounds) * len(costs)) // method.rounds
        limits = np.append(np.unique(costs[steps]), np.inf)
        best = _best(best, _placed(sweep, sweep.spread(nobody, limits, start)))
    return best


def _guided(sweep: Sweep, best: Answer | None) -> Answer | None:
    """The better of an answer and of the one by prices, where there is one."""
    owners = None if sweep.problem.deadline.over else guided(sweep)
    if owners is None or sweep.failing(owners, int(owners.max()) + 1).any():
        return best
    return _best(best, _placed(sweep, owners))


def _start(sweep: Sweep, weight: float) -> int:
    """The node to begin with: the first, or one as far on the way to the best single node as the weight says."""
    if not weight:
        return 0
    node = optimal.search(sweep.problem).best.node
    nodes, averages = sweep.nodes
    prices, table = sweep.prices, sweep.table
    cost = sum(
        float((prices.costs[column, level, : len(rows)] * rows).sum()) / table.rows
        for column, level in enumerate(node)
        for rows in [table.marginal(column)]
    )
    return min(int(np.searchsorted(averages, weight * cost * (1 - 1e-12))), len(nodes) - 1)


def _placed(sweep: Sweep, owners: Ints) -> Answer | None:
    """An answer in which every row has a place or is suppressed within the budget."""
    placed = with_company(sweep, owners, sweep.problem.limit)
    if placed is not None:
        placed = _for_readers(sweep, placed)
    if placed is None or placed.max(initial=-1) < 0:
        return None
    answer = Answer(sweep, placed)
    return answer if answer.tells or not sweep.problem.must_tell else None


def _for_readers(sweep: Sweep, owners: Ints) -> Ints | None:
    """The classes that keep their promises against the rows left, too; None where that takes more than the budget."""
    number = int(owners.max(initial=-1)) + 1
    if number == 0:
        return owners
    kept = owners >= 0
    # Suppressed rows are an own class, the last.
    classes = sweep.classes(np.where(kept, owners, number), number + 1)
    nobody = np.arange(number + 1) == number
    suppressed = without_skew(classes, sweep.table.whole, sweep.problem.models, nobody)
    if int(classes.sizes[suppressed].sum()) > sweep.problem.limit:
        return None
    numbers = np.where(suppressed, UNPLACED, np.cumsum(~suppressed) - 1)
    return numbers[np.where(kept, owners, number)]


def _best(one: Answer | None, other: Answer | None) -> Answer | None:
    if one is None or other is None:
        return one or other
    return other if other.loss < one.loss else one


def _from_node(sweep: Sweep, judgment: Judgment) -> Answer | None:
    """What a node keeps, with the rows that it suppresses generalized again."""
    grouper = sweep.problem.grouper
    failing = sweep.problem.failing(grouper.rolled(grouper.base, judgment.node))
    numbers = np.where(failing, UNPLACED, np.cumsum(~failing) - 1)
    return _placed(sweep, sweep.spread(numbers[grouper.owners(judgment.node)], np.array([np.inf])))


def better_node(problem: Problem, loss: float | None) -> Judgment | None:
    """The best node, if it loses less than what is at hand; with nothing at hand, the best node.

    Raises:
        UnattainableError: Nothing is at hand, and no node keeps the promises within the budget.
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


def _optimal_or_none(problem: Problem, loss: float | None) -> Judgment | None:
    try:
        return optimal.search(problem).best
    except SfumatoError:
        if loss is None:
            raise
        return None


def _judge_down(problem: Problem, open_nodes: Mask, floors: Floats, loss: float) -> Judgment | None:
    """The best of some nodes that loses less than `loss`; coarse nodes first, for they rule out the finer ones."""
    best: Judgment | None = None
    while open_nodes.any() and not problem.deadline.over:
        place = int(np.where(open_nodes, floors, -1.0).argmax())
        at = np.unravel_index(place, open_nodes.shape)
        node: Node = tuple(int(level) + low for level, low in zip(at, problem.lowest, strict=True))
        judgment = problem.judge(node)
        open_nodes[at] = False
        if judgment.certain_rows > problem.limit:
            open_nodes[tuple(slice(0, int(level) + 1) for level in at)] = False
        if problem.offers(judgment) and judgment.loss < (loss if best is None else best.loss):
            best = judgment
    return best


def _result(answer: Answer, method: Local) -> Result:
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
        remarks=(_late(method),) if problem.deadline.over else (),
    )


def _late(method: Local) -> str:
    return f"{method.time_limit:g} s were over before every class was looked for: some are coarser than they need be."


def _recoding(answer: Answer) -> ClassRecoding:
    """The recoding; suppressed rows are a class of their own, the last."""
    table = answer.sweep.table
    columns = [_labels(answer, column) for column in range(len(table.columns))]
    labels = [texts for texts, _ in columns]
    classes, places = distinct_classes(labels, np.column_stack([codes for _, codes in columns]))
    owners = np.where(answer.owners < 0, len(classes), places[np.maximum(answer.owners, 0)])
    return recode_classes(table, owners, labels, classes)


def _labels(answer: Answer, column: int) -> tuple[Labels, npt.NDArray[np.int32]]:
    """The labels of a column, and each class's label."""
    table = answer.sweep.table
    ladder = table.ladders[column]
    level, codes = answer.levels[:, column], table.codes[answer.first, column]
    own = np.stack(ladder.codes)[level, codes].astype(np.int64)
    keys, inverse = np.unique(level.astype(np.int64) * ladder.size + own, return_inverse=True)
    texts = [ladder.labels[key // ladder.size][key % ladder.size] for key in keys.tolist()]
    return distinct_labels(texts, inverse)
