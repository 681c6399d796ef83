"""Method `k-optimize`: the set of published values, or of cuts between values, of least loss, with a proof.

An anonymization is a set of features (see cut_features.py); rows that agree in all of them form a class, and the rows
of classes smaller than k are suppressed. The search explores the tree of sets: a node is a head, which all sets of its
subtree contain, and a tail, from which the subtree adds more. Bayardo, R., Agrawal, R. (2005). Data privacy through
optimal k-anonymization, https://doi.org/10.1109/ICDE.2005.42; the bounds are in bounds_kernels.py.

Nodes are taken from a queue, the smallest bound first, a few at a time, and each is searched in depth for a limited
number of nodes; what remains open returns to the queue. The smallest bound in the queue only increases and bounds the
optimum at any time. In parallel a local search (local_search.py) looks for good sets; with the smallest bound first,
few nodes are searched in vain before it has found them. Both proceed in rounds of the same jobs on every machine, so
the result depends neither on the number of threads nor on their speed, unless the time runs out.

It provides k-anonymity and no further protection.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from heapq import heappop, heappush
from typing import Any, TypeVar

import numpy as np

from sfumato.localization.messages import Message
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.methods.class_assessment import beyond_limits
from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize.cut_features import SearchSpace, State, published, recoding_of, space_of
from sfumato.microdata.methods.k_optimize.kernels import penalties
from sfumato.microdata.methods.k_optimize.workers import (
    Crew,
    DiveOutcome,
    Incumbent,
    OpenNode,
    SearchThread,
    columns_of,
    settle,
    stray,
    wander,
)
from sfumato.microdata.methods.search_result import Result
from sfumato.microdata.plan.methods import KOptimize
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.recoding.mapping import ClassRecoding
from sfumato.values import Value

Job = Callable[[SearchThread], Incumbent]
Batches = Generator[list[Job], list[Incumbent], None]
# Number of sets of columns that are extended from each size to the next, and their maximum number of columns.
CARRIED = 6
MOST_COLUMNS = 5
# Number of sets from which searches in all columns begin, how often each is perturbed, and how many follow at a time.
FIRST_WALKS = 4
SHAKES = 6
WALKS = 2
# After PATIENCE searches without improvement, only every REST-th request for jobs returns some.
PATIENCE = 60
REST = 4
ProgressCallback = Callable[[int, int], None]
T = TypeVar("T")
# The first depth-first search is longer, so that a small problem is solved at once. Then rounds follow, each with jobs
# of the local search and of depth-first searches below the nodes of smallest bound. The fewer nodes such a search
# visits, the sooner the smallest bound increases; with far fewer, most of the time would be spent on creating the start
# nodes.
FIRST_NODES = 1000
DIVE_NODES = 60
# The more jobs of the local search a round has, the fewer depth-first ones: at first a good set is worth more than a
# bound.
FEWEST_DIVES = 6
MOST_DIVES = 32
LOCAL_JOBS = 16


class Optimum(Value):
    """The result of the search.

    Attributes:
        best: The best head, and its cost.
        bound: A lower bound of the cost of every head; the cost itself if it is proven.
        nodes: Number of nodes searched.
        left: Number of nodes still open.
    """

    best: Incumbent
    bound: float
    nodes: int
    left: int
    interrupted: bool = False

    @property
    def proved(self) -> bool:
        return self.left == 0

    @property
    def gap(self) -> float:
        """How far the optimum may be below the cost, as a share of the cost."""
        return 0.0 if self.best.cost <= 0 else max(0.0, 1.0 - self.bound / self.best.cost)


def search(plan: Plan, method: KOptimize, table: FrequencyTable, progress: ProgressCallback | None = None) -> Result:
    """Return the best recoding that can be found in time.

    Raises:
        UnattainableError: There are fewer rows than a class needs.
    """
    error = beyond_limits(plan.privacy, table.whole)
    if error is not None:
        raise error
    space = space_of(plan, method, table)
    optimum = optimize(space, method.time_limit, progress)
    recoding = recoding_of(space, optimum.best.state, table)
    scale = table.rows if method.loss == "loss-metric" else 1
    return Result(
        recoding,
        method.loss,
        optimum.best.cost / scale,
        _per_column(space, optimum, recoding),
        optimum.proved,
        optimum.nodes,
        optimum.nodes + optimum.left,
        notes=(_remark(optimum, method, scale),),
        cut_short=not optimum.proved,
        details=_details(space, optimum, method, scale),
    )


def optimize(space: SearchSpace, seconds: float, progress: ProgressCallback | None = None) -> Optimum:
    """Return the head of least cost, or the best one found in the given time."""
    with closing(Crew(space, seconds)) as crew, crew.interruptible():
        return _Queue(space, crew, progress or (lambda _done, _all: None)).optimum()


class _Queue:
    """The nodes still to be searched, the smallest bound first."""

    def __init__(self, space: SearchSpace, crew: Crew, progress: ProgressCallback) -> None:
        self.space = space
        self.crew = crew
        self.progress = progress
        self.walks = Walks(space, crew)
        self.bound = crew.root.bound
        self.nodes = 0
        self._serial = 0
        self._open: list[tuple[float, int, OpenNode]] = []
        self._push(crew.root)

    def optimum(self) -> Optimum:
        """Search until no node is open or the time limit is reached."""
        self.walks.take(self._run(self.walks.deal(1)))
        self._round(FIRST_NODES, local_jobs=0)
        while self._open and not self.crew.stopped:
            self._round(DIVE_NODES, LOCAL_JOBS)
        return Optimum(self.best, self.bound, self.nodes, len(self._open), self.crew.interrupted)

    @property
    def best(self) -> Incumbent:
        return self.walks.best

    def _run(self, jobs: Sequence[Callable[[SearchThread], T]]) -> list[T]:
        return self.crew.run(jobs, self._tell)

    def _tell(self) -> None:
        """Report the proven bound and the best solution so far, also during a local search."""
        best = min(self.best.cost, self.crew.watch.least)
        if best < np.inf:
            self.progress(int(min(self.bound, best)), int(best))

    def _push(self, node: OpenNode) -> None:
        self._serial += 1
        heappush(self._open, (node.bound, self._serial, node))

    def _round(self, nodes: int, local_jobs: int) -> None:
        """Search below the nodes of smallest bound, and continue the local search in parallel."""
        walks = self.walks.deal(local_jobs)
        dives = min(max(FEWEST_DIVES, MOST_DIVES - 2 * len(walks)), len(self._open))
        taken = [heappop(self._open)[2] for _ in range(dives)]
        dive = partial(SearchThread.dive, best=self.best.cost, nodes=nodes, stop=self.crew.watch.stop)
        jobs: list[Callable[[SearchThread], Any]] = [*walks, *(partial(dive, node=node) for node in taken)]
        found = self._run(jobs)
        self.walks.take(found[: len(walks)])
        for outcome in found[len(walks) :]:
            self._take(outcome)
        self._forget()
        self.bound = min(self._open[0][0], self.best.cost) if self._open else self.best.cost
        self._tell()

    def _take(self, outcome: DiveOutcome) -> None:
        self.nodes += outcome.nodes
        self.walks.improve(*([outcome.better] if outcome.better else []))
        for node in outcome.left:
            self._push(node)

    def _forget(self) -> None:
        """Drop nodes that cannot contain a better solution."""
        if self._open and max(entry[0] for entry in self._open) >= self.best.cost:
            self._open = sorted(entry for entry in self._open if entry[0] < self.best.cost)


def _per_column(space: SearchSpace, optimum: Optimum, recoding: ClassRecoding) -> dict[str, float]:
    """Return the loss metric of each column, if that is the loss."""
    inst = space.instance
    if inst.params[at.KIND] != at.LOSS_METRIC:
        return {}
    penalty = np.zeros(len(inst.values))
    penalties(inst._replace(weights=np.ones(len(inst.weights))), optimum.best.state, int(at.HEAD), penalty)
    owners = np.zeros(len(space.codes), np.int64)
    owners[space.owners] = recoding.owners
    hidden = recoding.suppressed[owners]
    losses = {}
    for column, alphabet in enumerate(space.alphabets):
        kept = penalty[inst.columns[column, at.BASE] + space.codes[:, column]]
        losses[alphabet.name] = float((np.where(hidden, 1.0, kept) * inst.counts).sum() / inst.params[at.ROWS])
    return losses


def _remark(optimum: Optimum, method: KOptimize, scale: int) -> Message:
    if optimum.proved:
        return Message("note.k_optimize", features=method.features)
    found = {"bound": optimum.bound / scale, "gap": optimum.gap}
    if optimum.interrupted:
        return Message("note.k_optimize_interrupted", **found)
    return Message("note.k_optimize_time", seconds=method.time_limit, **found)


def _details(space: SearchSpace, optimum: Optimum, method: KOptimize, scale: int) -> dict[str, Any]:
    """Return further details for the report: the proof, and the labels of each column."""
    labels = published(space, optimum.best.state)
    return {
        "bound": optimum.bound / scale,
        "gap": optimum.gap,
        "interrupted": optimum.interrupted,
        "features": {"kind": method.features, "count": space.features},
        "published": {alphabet.name: list(names) for alphabet, names in zip(space.alphabets, labels, strict=True)},
    }


# First from the empty set, in all columns. Then the best sets of each single column, of these with one column more, and
# so on as long as that helps; from the best of them in all columns; and finally, from the best set known, one local
# search after the other: each for a while, and less often when they no longer find improvements.
class Walks:
    """Deals the jobs of the local search; the next batch is planned when all jobs of the last one have returned.

    Attributes:
        best: The best set known, and its cost.
    """

    def __init__(self, space: SearchSpace, crew: Crew) -> None:
        self.space = space
        self.crew = crew
        self.best = Incumbent(np.inf, space.empty())
        self._number = 0
        self._dealt = 0
        self._fruitless = -np.inf
        self._plan = self._batches()
        self._waiting = deque(next(self._plan))
        self._expected = len(self._waiting)
        self._results: list[Incumbent] = []

    def deal(self, most: int) -> list[Job]:
        """Return the next jobs, at most `most`; their results must be passed to `take` before more are dealt."""
        self._dealt += 1
        if self._fruitless >= PATIENCE and self._dealt % REST:
            return []
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    def take(self, incumbents: Sequence[Incumbent]) -> None:
        """Receive the results of the jobs dealt last, in their order."""
        better = min((one.cost for one in incumbents), default=np.inf) < self.best.cost
        self._fruitless = min(self._fruitless, 0) if better else self._fruitless + len(incumbents)
        self.improve(*incumbents)
        self._results += incumbents
        if len(self._results) == self._expected:
            done, self._results = self._results, []
            self._waiting.extend(self._plan.send(done))
            self._expected = len(self._waiting)

    def improve(self, *incumbents: Incumbent) -> None:
        """Keep the best of these sets and the best known one; of equal ones the one known first."""
        self.best = min((self.best, *incumbents), key=lambda one: one.cost)

    def _batches(self) -> Batches:
        first = yield [self._wander(self.space.empty())]
        grown = yield from self._grown()
        walks = yield [self._wander(one.state) for one in (*first, *grown)[:FIRST_WALKS]]
        for _ in range(SHAKES):
            walks = yield [self._stray(one) for one in walks]
        self._fruitless = 0
        while True:
            yield [self._stray(self.best) for _ in range(WALKS)]

    def _grown(self) -> Generator[list[Job], list[Incumbent], list[Incumbent]]:
        """Plan the best sets with features of few columns, in more and more columns as long as that helps."""
        carried = grown = [Incumbent(np.inf, self.space.empty())]
        for _ in range(min(MOST_COLUMNS, len(self.space.alphabets))):
            wider = yield list(self._wider(carried))
            carried = sorted(wider, key=lambda one: one.cost)[:CARRIED]
            if carried[0].cost >= grown[0].cost:
                break
            grown = carried
        return grown

    def _wider(self, carried: Sequence[Incumbent]) -> Iterator[Job]:
        """Yield jobs that improve each set by features of one more column; each set of columns once."""
        seen: set[frozenset[int]] = set()
        for one in carried:
            used = columns_of(self.space, one.state)
            for column in sorted(set(range(len(self.space.alphabets))) - used):
                columns = used | {column}
                if columns not in seen:
                    seen.add(columns)
                    yield self._settle(one.state, columns)

    def _settle(self, start: State, columns: frozenset[int]) -> Job:
        return lambda worker: settle(worker.space, start, columns, self.crew.watch)

    def _wander(self, start: State) -> Job:
        number = self._next()
        return lambda worker: wander(worker.place, start, number, self.crew.watch)

    def _stray(self, start: Incumbent) -> Job:
        number = self._next()
        return lambda worker: stray(worker.place, start, number, self.crew.watch)

    def _next(self) -> int:
        self._number += 1
        return self._number
