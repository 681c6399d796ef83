"""The problem of a full-domain search (table, models, loss, suppression limit), and the evaluation of a node."""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.microdata.counts import kernels
from sfumato.microdata.counts.combinations import failing_classes
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.counts.grouping import Grouped, Grouper, Node
from sfumato.microdata.losses.additive_losses import Marginal
from sfumato.microdata.losses.loss import LossTerms, Prepared
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.class_assessment import ALL, ClassAssessment, assess
from sfumato.microdata.methods.search_result import ClassSizeSummary, Deadline, NodeEvaluation, ProgressCallback
from sfumato.microdata.models.equivalence_classes import BoolArray, Counts, EquivalenceClasses
from sfumato.microdata.models.model import PrivacyModel
from sfumato.microdata.models.persons import enough_persons
from sfumato.microdata.models.protection import Protection, holding_groups
from sfumato.microdata.plan.methods import FullDomain, Greedy
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.reference import with_persons
from sfumato.values import Value, replace

# If all violating rows are suppressed, the number per class is not needed.
NONE_APART: Counts = np.zeros(0, np.int64)


class LatticeProblem(Value, dict=True):
    """A table, the requested models, a loss, and a suppression limit.

    Attributes:
        lowest: The lowest permitted level of each column.
        highest: The highest permitted level of each column.
        missing_matches: Whether a missing value matches anything; if not, it counts as a separate value.
        time_limit: Seconds after which an unfinished search returns the best solution found.
        upwards: Whether a greedy search starts from the lowest levels.
    """

    table: FrequencyTable
    models: tuple[PrivacyModel, ...]
    loss: Prepared
    limit: int
    lowest: Node
    highest: Node
    missing_matches: bool = False
    progress: Callable[[int, int], None] = lambda _done, _all: None
    time_limit: float = 60.0
    upwards: bool = False

    @cached_property
    def grouper(self) -> Grouper:
        return Grouper(self.table, enough_persons(self.models))

    def with_limit(self, limit: int) -> "LatticeProblem":
        """Return the same problem with another suppression limit, sharing the groupings."""
        other = replace(self, limit=limit)
        other.__dict__["grouper"] = self.grouper
        return other

    @cached_property
    def deadline(self) -> Deadline:
        """The deadline, counted from the first access."""
        return Deadline(self.time_limit)

    @cached_property
    def k(self) -> int:
        """The minimum size of a class that is kept."""
        return max((model.min_class_size for model in self.models), default=1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of allowed levels of each column."""
        return tuple(high - low + 1 for low, high in zip(self.lowest, self.highest, strict=True))

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(self.shape)

    def window(self) -> tuple[slice, ...]:
        """Return the allowed part of the full lattice."""
        return tuple(slice(low, high + 1) for low, high in zip(self.lowest, self.highest, strict=True))

    def nodes(self) -> Iterator[Node]:
        """Return all nodes, the last column's level changing fastest."""
        return product(*(range(low, high + 1) for low, high in zip(self.lowest, self.highest, strict=True)))

    def neighbors(self, node: Node, step: int) -> list[Node]:
        """Return the nodes that are one level coarser (1) or finer (-1) in one column."""
        bounds = zip(node, self.lowest, self.highest, strict=True)
        return [
            (*node[:column], level + step, *node[column + 1 :])
            for column, (level, low, high) in enumerate(bounds)
            if low <= level + step <= high
        ]

    @cached_property
    def prunes_suppression(self) -> bool:
        """Whether the rows in violating classes only decrease towards coarser nodes."""
        return all(model.monotone_suppression for model in self.models)

    @cached_property
    def must_distinguish_rows(self) -> bool:
        """Whether a release must distinguish rows: with a single class, a model of a sensitive column is empty."""
        return any(model.column for model in self.models) and len(self.table.counts) > 1

    def offers(self, judgment: NodeEvaluation) -> bool:
        """Return whether a node may be released, and distinguishes rows if required."""
        return judgment.satisfied and (judgment.tells or not self.must_distinguish_rows)

    def better(self, new: NodeEvaluation, old: NodeEvaluation | None) -> bool:
        """Return whether a releasable node is preferred to another; one with a single class is the last resort.

        It is kept if no other node is releasable, so that the search can report it.
        """
        if old is None or not new.satisfied:
            return new.satisfied
        return (not self.offers(new), new.rank) < (not self.offers(old), old.rank)

    def best(self, nodes: Iterable[NodeEvaluation]) -> NodeEvaluation | None:
        """Return the node to be released; None if no node is releasable."""
        best: NodeEvaluation | None = None
        for node in nodes:
            best = node if self.better(node, best) else best
        return best

    def violating(self, grouped: Grouped) -> BoolArray:
        """Return which classes violate some model."""
        return self._assess(grouped).violating

    def _assess(self, grouped: Grouped, enough: int = ALL, bounded: bool = True) -> ClassAssessment:
        """Evaluate a node's classes by all models; may stop once more rows than `enough` must be suppressed."""
        if self.sizes_alone:
            return ClassAssessment(grouped.sizes < self.k, NONE_APART)
        if self.missing_matches:
            failing = self._failing_with_matches(grouped)
            return ClassAssessment(failing, np.where(failing, grouped.sizes, 0))
        return assess(self.classes(grouped), self.table.whole, self.models, enough, bounded)

    @cached_property
    def sizes_alone(self) -> bool:
        """Whether the models depend on class sizes alone: k-anonymity, the usual case, evaluated in one step."""
        return not self.missing_matches and all(model.judges == "sizes" for model in self.models)

    def classes(self, grouped: Grouped) -> EquivalenceClasses:
        """Return the classes of a node as models evaluate them: with their population, if known."""
        known = grouped.classes
        if self._population is not None:
            known = with_persons(grouped, self._population.at(grouped.node))
        if not self._protects:
            return known
        labels = [ladder.labels[level] for ladder, level in zip(self.table.ladders, grouped.node, strict=True)]
        return holding_groups(known, self.models, self.table.columns, self.grouper.labels(grouped), labels)

    @cached_property
    def _protects(self) -> bool:
        return any(isinstance(model, Protection) for model in self.models)

    @cached_property
    def _population(self) -> Grouper | None:
        return None if self.table.population is None else Grouper(self.table.population)

    def _failing_with_matches(self, grouped: Grouped) -> BoolArray:
        """Return which classes have too few matching rows; only k-anonymity supports this reading of missing values."""
        labels = self.grouper.labels(grouped)
        unknown = np.column_stack(
            [
                np.array([label is None for label in ladder.labels[level]], bool)[labels[:, column]]
                for column, (ladder, level) in enumerate(zip(self.table.ladders, grouped.node, strict=True))
            ]
        )
        return failing_classes(labels, unknown, grouped.sizes, self.k)

    def evaluate(self, node: Node, priced: bool = True, bounded: bool = True) -> NodeEvaluation:
        """Evaluate one node."""
        return self.judge_classes(self.grouper.at(node), priced, bounded)

    def judge_classes(self, grouped: Grouped, priced: bool = True, bounded: bool = True) -> NodeEvaluation:
        """Evaluate one node that is already grouped.

        Args:
            priced: Whether suppression is computed even if it exceeds the limit (not needed by a search).
            bounded: Whether lower bounds for finer nodes are needed.
        """
        assessment = self._assess(grouped, ALL if priced else self.limit, bounded)
        failing = assessment.violating
        suppressed, kept, smallest, largest, least, most = map(int, kernels.tally(grouped.sizes, failing))
        certain = suppressed if self.sizes_alone else assessment.certain_rows
        holds = suppressed <= self.limit and kept > 0
        terms = self.loss.terms(grouped, failing, suppressed if holds or priced else 0)
        loss = self.loss.value(terms.total)
        added = self._added_at_least(grouped, assessment, terms)
        before = ClassSizeSummary(len(grouped.sizes), least, most)
        return NodeEvaluation(
            grouped.node, terms, loss, suppressed, certain, kept, smallest, largest, holds, added, before
        )

    def _added_at_least(self, grouped: Grouped, assessment: ClassAssessment, terms: LossTerms) -> float:
        """Return a lower bound of the loss by suppression at finer nodes.

        If models are monotone under suppression, this is the loss here. Else the rows that finer nodes must
        suppress, each at its cost here: a finer label costs a row less, so suppressing the row costs more. That is
        known for losses that are sums over columns.
        """
        if not self.loss.suppression_falls:
            return 0.0
        if self.prunes_suppression:
            return terms.suppression
        if not isinstance(self.loss, Marginal) or not 0 < assessment.certain_rows <= self.limit:
            return 0.0
        lost = Grouped(grouped.node, grouped.keys, EquivalenceClasses(assessment.suppression_lower_bound))
        return self.loss.terms(lost, assessment.suppression_lower_bound > 0, assessment.certain_rows).suppression


class Judgments(dict[Node, NodeEvaluation]):
    """The evaluations of a problem's nodes, computed on first access."""

    def __init__(self, problem: LatticeProblem) -> None:
        self.problem = problem

    def __missing__(self, node: Node) -> NodeEvaluation:
        self[node] = self.problem.evaluate(node)
        return self[node]


class NodeSolution(Value):
    """The node that a search chose, and what it proved.

    Attributes:
        proved_optimal: No node that may be released has a smaller loss.
        checked: Number of grouped nodes.
        total: Number of all nodes.
        nodes: All evaluated nodes, if the method's result includes them.
        better: A node of less loss that the method does not choose but another one would.
        notes: Notes for the reader, in sentences.
        bound: A proven lower bound of the loss, if the optimum is not proven.
        cut_short: Whether the search timed out.
    """

    best: NodeEvaluation
    proved_optimal: bool
    checked: int
    total: int
    nodes: tuple[NodeEvaluation, ...] = ()
    better: NodeEvaluation | None = None
    notes: tuple[Message, ...] = ()
    bound: float | None = None
    cut_short: bool = False


def levels_allowed(plan: Plan, table: FrequencyTable) -> dict[str, Any]:
    """Return the finest and the coarsest level of each restricted column, and the number of remaining combinations."""
    ends = {name: _ends(plan, table, place) for place, name in enumerate(table.columns)}
    tops = {name: ladder.height - 1 for name, ladder in zip(table.columns, table.ladders, strict=True)}
    limited = {name: [low, high] for name, (low, high) in ends.items() if (low, high) != (0, tops[name])}
    combinations = prod(high - low + 1 for low, high in ends.values())
    return {"columns": limited, "combinations": combinations} if limited else {}


def check_levels(plan: Plan, table: FrequencyTable) -> None:
    """Refuse levels that a hierarchy does not have."""
    for name, ladder in zip(table.columns, table.ladders, strict=True):
        column, top = plan.columns[name], ladder.height - 1
        for key, level in (("min_level", column.min_level), ("max_level", column.max_level or 0)):
            if level > top:
                raise PlanError("level.columns_hierarchy_highest_level", name=name, key=key, top=top)


def _ends(plan: Plan, table: FrequencyTable, place: int) -> tuple[int, int]:
    column, top = plan.columns[table.columns[place]], table.ladders[place].height - 1
    return min(column.min_level, top), top if column.max_level is None else min(column.max_level, top)


def problem_of(
    plan: Plan, method: FullDomain, table: FrequencyTable, progress: ProgressCallback | None = None
) -> LatticeProblem:
    """Return the problem of a method, with the columns, limits and models of a plan."""
    columns = [plan.columns[name] for name in table.columns]
    tops = [ladder.height - 1 for ladder in table.ladders]
    check_levels(plan, table)
    k = max((model.min_class_size for model in plan.privacy), default=1)
    weights = tuple(column.weight for column in columns)
    return LatticeProblem(
        table,
        plan.guarantees,
        prepare(method.loss, table, weights, method.aggregate, k, method.class_column),
        method.suppression.limit(table.rows),
        tuple(column.min_level for column in columns),
        tuple(top if column.max_level is None else column.max_level for column, top in zip(columns, tops, strict=True)),
        missing_matches=plan.data.on_missing == "any",
        time_limit=method.time_limit,
        upwards=isinstance(method, Greedy) and method.direction == "bottom-up",
        **({"progress": progress} if progress else {}),
    )
