"""Method `safepub`: sample rows, generalize them to named or randomly drawn levels, and suppress small classes.

Bild, R., Kuhn, K. A., Prasser, F. (2018), https://doi.org/10.1515/popets-2018-0004. One draw of the exponential
mechanism takes the full epsilon of the search: among all nodes if the lattice is small, else among some that are chosen
without looking at the data. The proof that the search and the rows may share one sample is in docs/methods/safepub.md.
"""

from itertools import product
from math import exp, prod
from typing import cast

import numpy as np

from sfumato.errors import PlanError, UnattainableError
from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouper, Node
from sfumato.microdata.methods.class_labels import recode_classes
from sfumato.microdata.methods.full_domain.problem import check_levels
from sfumato.microdata.methods.search_result import ProgressCallback, Result
from sfumato.microdata.models.differential_privacy import DifferentialPrivacy
from sfumato.microdata.models.equivalence_classes import Counts, Floats
from sfumato.microdata.plan.methods import SafePub
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import STAR, ClassRecoding, Labels, division_of
from sfumato.values import replace

# Maximum size of lattices whose nodes are all candidates.
MOST_NODES = 20_000


def search(plan: Plan, method: SafePub, table: FrequencyTable, progress: ProgressCallback | None = None) -> Result:
    """Return the recoding of a sample at the named or drawn levels."""
    check_levels(plan, table)
    promise = cast("DifferentialPrivacy", next(model for model in plan.privacy if model.judges == "sampling"))
    draw = np.random.default_rng(plan.drawing_seed)
    sample = table.counts - draw.binomial(table.counts, exp(-promise.rows_epsilon)).astype(np.int64)
    choice = _Choice(plan, _sampled(table, sample), promise)
    node = _named_node(method, table) if method.levels else choice.node(draw, method.steps, progress)
    recoding = _recoding(plan, table, node, sample, promise.k)
    score = choice.score(node)
    kept = int(recoding.sizes[~recoding.suppressed].sum())
    if not kept:
        raise UnattainableError("rows.no_class_large_enough", count=promise.k)
    figures = {
        "epsilon": promise.epsilon,
        "delta": promise.delta,
        "epsilon_of_search": promise.search_epsilon,
        "epsilon_of_rows": promise.rows_epsilon,
        "sampling_probability": promise.sampling,
        "k": promise.k,
        "sampled_rows": int(sample.sum()),
        "published_rows": kept,
    }
    return Result(
        recoding,
        "precision",
        -score / max(choice.rows * choice.columns, 1),
        {},
        False,
        choice.checked,
        choice.nodes,
        dict(zip(table.columns, node, strict=True)),
        notes=_remarks(plan, promise),
        details={"differential_privacy": figures},
    )


class _Choice:
    """The scores of nodes, and the random draw among them.

    The score of a node is minus the loss of its rows: for a published row the share of all levels by which each column
    is generalized, for a suppressed one 1. A draw among nodes depends on differences only: the rows that a node
    publishes, each times what its columns keep. One row more adds to that, and at most k times the number of
    columns, where it makes a class large enough: levels and their number do not depend on the data.
    """

    def __init__(self, plan: Plan, table: FrequencyTable, promise: DifferentialPrivacy) -> None:
        self.promise = promise
        self.rows = table.rows
        self.columns = len(table.columns)
        self.grouper = Grouper(table)
        heights = [ladder.height - 1 for ladder in table.ladders]
        plans = [plan.columns[name] for name in table.columns]
        self.low = tuple(column.min_level for column in plans)
        self.high = tuple(
            top if column.max_level is None else column.max_level for column, top in zip(plans, heights, strict=True)
        )
        self.heights = np.maximum(np.array(heights), 1)
        self.sensitivity = promise.k * self.columns
        self.nodes = prod(high - low + 1 for low, high in zip(self.low, self.high, strict=True))
        self.checked = 0
        self.bare: set[Node] = set()  # nodes at which no class is large enough; nor is one at any finer node

    def node(self, draw: np.random.Generator, steps: int, progress: ProgressCallback | None) -> Node:
        """Draw a node by the exponential mechanism with the epsilon of the search."""
        nodes = self.candidates(draw, steps)
        scores = np.empty(len(nodes))
        for place, node in enumerate(nodes):
            scores[place] = self.score(node)
            if progress is not None:
                progress(place + 1, len(nodes))
        return nodes[int(np.argmax(self.exponents(scores) + draw.gumbel(size=len(nodes))))]

    def candidates(self, draw: np.random.Generator, steps: int) -> list[Node]:
        """Return all nodes of a small lattice, else nodes on random paths from the top, independent of the data."""
        if self.nodes <= MOST_NODES:
            ends = zip(self.low, self.high, strict=True)
            return list(product(*(range(high, low - 1, -1) for low, high in ends)))
        nodes = {self.high: True}
        for _ in range(steps):
            node = self.high
            while len(nodes) < steps and (below := _neighbors(node, -1, self.low)):
                node = below[int(draw.integers(len(below)))]
                nodes[node] = True
        return [*nodes]

    def exponents(self, scores: Floats) -> Floats:
        """Return the log-probabilities of nodes, up to a constant."""
        return scores * (self.promise.search_epsilon / (2 * self.sensitivity))

    def score(self, node: Node) -> float:
        """Return minus the loss of the sampled rows at a node."""
        self.checked += 1
        sizes = np.zeros(0) if self.bare.intersection(_neighbors(node, 1, self.high)) else self.grouper.at(node).sizes
        kept = float(sizes[sizes >= self.promise.k].sum())
        if not kept:
            self.bare.add(node)
        lifted = float((np.array(node) / self.heights).sum())
        return -(kept * lifted + (self.rows - kept) * self.columns)


def _neighbors(node: Node, step: int, ends: Node) -> list[Node]:
    """Return the nodes with one level changed by a step, within its range."""
    return [
        (*node[:place], level + step, *node[place + 1 :])
        for place, (level, end) in enumerate(zip(node, ends, strict=True))
        if level != end
    ]


def _sampled(table: FrequencyTable, sample: Counts) -> FrequencyTable:
    present = np.flatnonzero(sample)
    return replace(table, codes=table.codes[present], counts=sample[present], sensitive={}, sensitive_values={})


def _named_node(method: SafePub, table: FrequencyTable) -> Node:
    node = tuple(method.levels[name] for name in table.columns)
    for name, level, ladder in zip(table.columns, node, table.ladders, strict=True):
        if level >= ladder.height:
            top = ladder.height - 1
            raise PlanError("level.method_levels_hierarchy_highest", name=name, top=top)
    return node


def _recoding(plan: Plan, table: FrequencyTable, node: Node, sample: Counts, k: int) -> ClassRecoding:
    """Return sampled rows in classes of at least k, and all others suppressed together."""
    grouper = Grouper(table)
    grouped, owners = grouper.rolled_with_owners(node)
    classes = grouper.labels(grouped)
    sizes = np.bincount(owners, weights=sample, minlength=len(classes)).astype(np.int64)
    kept = sizes >= k
    withheld = int(kept.sum())
    places = np.where(kept, np.cumsum(kept) - 1, withheld)[owners]
    labels: list[Labels] = [
        (*ladder.labels[level], *(() if STAR in ladder.labels[level] else (STAR,)))
        for ladder, level in zip(table.ladders, node, strict=True)
    ]
    drawn = np.where(places == withheld, 0, sample)
    combinations, owners_of_shares, rows = _shares(places, drawn, table.counts, withheld)
    division = division_of(plan.secret, table, combinations, owners_of_shares, rows)
    first = np.where(drawn > 0, places, withheld)
    recoding = recode_classes(table, first, labels, np.ascontiguousarray(classes[kept]), division)
    missing = int(owners_of_shares.max(initial=0)) >= len(recoding.sizes)
    if missing:
        recoding = _with_withheld_class(recoding)
    together = np.bincount(owners_of_shares, weights=rows, minlength=len(recoding.sizes)).astype(np.int64)
    return replace(recoding, sizes=together)


def _shares(places: Counts, drawn: Counts, counts: Counts, withheld: int) -> tuple[Counts, Counts, Counts]:
    """Return parallel sorted arrays of combination, class and rows, published and suppressed."""
    every = np.arange(len(counts))
    combinations = np.repeat(every, 2)
    owners = np.column_stack([places, np.full(len(every), withheld)]).reshape(-1)
    rows = np.column_stack([drawn, counts - drawn]).reshape(-1)
    some = rows > 0
    return combinations[some], owners[some], rows[some]


def _with_withheld_class(recoding: ClassRecoding) -> ClassRecoding:
    """Return the recoding with a class of suppressed rows, if no combination has it as its first class."""
    stars = np.array([labels.index(STAR) for labels in recoding.labels], np.int32)
    return replace(
        recoding,
        classes=np.vstack([recoding.classes, stars]),
        suppressed=np.append(recoding.suppressed, True),
        sizes=np.append(recoding.sizes, 0),
    )


def _remarks(plan: Plan, promise: DifferentialPrivacy) -> tuple[Message, ...]:
    remarks = (Message("note.differential", epsilon=promise.epsilon, delta=promise.delta),)
    if plan.seed is None:
        return remarks
    return (
        *remarks,
        Message("note.differential_seed"),
    )
