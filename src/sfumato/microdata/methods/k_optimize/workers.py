"""Worker threads of K-Optimize, each with its own buffers, and the local search that gives them a first solution."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from queue import SimpleQueue
from time import perf_counter
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.microdata.counts.combinations import packing_of
from sfumato.microdata.methods.k_optimize import branch_kernels, local_search_kernels
from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize.bounds_kernels import Verdicts
from sfumato.microdata.methods.k_optimize.branch_kernels import Stack
from sfumato.microdata.methods.k_optimize.cut_features import Codes, SearchSpace, State
from sfumato.microdata.methods.k_optimize.local_search_kernels import Buffers, Flag
from sfumato.microdata.methods.k_optimize.problem_arrays import Instance
from sfumato.values import Value

_SEED = 0x9E3779B97F4A7C15
_WORD = 2**64
Random = npt.NDArray[np.uint64]
# Limits on the perturbations of a search in few columns: their number, and the rows of all together.
MOST_SHAKES = 40
ROWS_SHAKEN = 8000
STRENGTH = 6


class Incumbent(Value):
    """A set of features, as a state, and its cost.

    A set with features of few columns costs the same on the table of just these columns, which is small; so sets can be
    improved there first. The same random numbers give the same search on every machine.
    """

    cost: float
    state: State


class SearchMonitor(Protocol):
    """Observer that ends a search by its flag, and receives the cost of each set found."""

    @property
    def stop(self) -> Flag: ...

    def tell(self, cost: float) -> None: ...


class Place(Value):
    """A table, buffers for a local search on it, and the features that may be used."""

    instance: Instance
    scratch: Buffers
    choices: Codes


def place_of(space: SearchSpace, columns: Iterable[int] | None = None) -> Place:
    """Return the table of all columns, or of some of them; the others have a single value there."""
    inst, codes = space.instance, space.codes
    if columns is None:
        return Place(inst, _scratch(inst, codes), np.arange(len(inst.features)))
    some, chosen = np.zeros_like(codes), list(columns)
    some[:, chosen] = codes[:, chosen]
    first, owners = _grouped(some)
    counts = np.zeros(len(first), np.int64)
    np.add.at(counts, owners, inst.counts)
    label_rows = np.zeros((len(first), inst.label_rows.shape[1]), np.int64)
    np.add.at(label_rows, owners, inst.label_rows)
    part = inst._replace(counts=counts, label_rows=label_rows)
    return Place(part, _scratch(part, some[first]), np.flatnonzero(np.isin(inst.features[:, at.COLUMN], chosen)))


def _grouped(codes: Codes) -> tuple[Codes, Codes]:
    """Return for each distinct combination one of its rows, and for each row its combination."""
    keys = packing_of((codes.max(axis=0) + 1).tolist()).pack(codes.astype(np.int32))
    distinct = keys[0] if len(keys) == 1 else np.ascontiguousarray(keys.T)
    _, first, owners = np.unique(distinct, axis=0, return_index=True, return_inverse=True)
    return first, owners.reshape(-1)


def _scratch(inst: Instance, codes: Codes) -> Buffers:
    rows, values, features = len(inst.counts), len(inst.values), len(inst.features)
    marks = np.random.default_rng(_SEED).integers(0, _WORD - 1, values, np.uint64)
    return Buffers(
        codes,
        marks,
        np.zeros(values, np.int64),
        np.zeros(values),
        np.zeros((5, rows + 2), np.int64),
        np.zeros((values, inst.label_rows.shape[1] + 1), np.int64),
        np.zeros(features),
        np.zeros(features, np.int64),
        np.zeros((2, 1 << (2 * rows).bit_length()), np.int64),
        np.zeros(1, np.int64),
    )


def columns_of(space: SearchSpace, state: State) -> frozenset[int]:
    """Return the columns with features in a set."""
    return frozenset(space.instance.features[state == at.HEAD, at.COLUMN].tolist())


def settle(space: SearchSpace, start: State, columns: frozenset[int], watch: SearchMonitor) -> Incumbent:
    """Improve a set by features of some columns; the smaller their table, the longer."""
    if watch.stop[0]:
        return Incumbent(np.inf, start)
    place, random = place_of(space, sorted(columns)), _random(len(columns))
    best = climb(place, start, random, watch)
    for _ in range(min(MOST_SHAKES, ROWS_SHAKEN // len(place.instance.counts))):
        best = stray(place, best, random, watch)
    return best


def wander(place: Place, start: State, number: int, watch: SearchMonitor) -> Incumbent:
    """Improve a set; each number tries its features in another order."""
    return climb(place, start, _random(number), watch)


def stray(place: Place, start: Incumbent, random: Random | int, watch: SearchMonitor) -> Incumbent:
    """Perturb a set and improve it again; return the original set if the result is worse."""
    if watch.stop[0] or not len(place.choices):
        return start
    words, trial = _random(random) if isinstance(random, int) else random, start.state.copy()
    local_search_kernels.shake(place.instance, trial, place.choices, words, STRENGTH)
    local_search_kernels.relieve(place.instance, place.scratch, trial, words)
    found = climb(place, trial, words, watch)
    return found if found.cost <= start.cost else start


def climb(place: Place, start: State, random: Random, watch: SearchMonitor) -> Incumbent:
    """Improve a set as long as single changes help."""
    state = start.copy()
    cost = float(local_search_kernels.climb(place.instance, place.scratch, state, place.choices, random, watch.stop))
    watch.tell(cost)
    return Incumbent(cost, state)


def _random(number: int) -> Random:
    """Return a separate generator for each number, the same on every machine."""
    return np.array([_SEED * (2 * number + 1) % _WORD], np.uint64)


T = TypeVar("T")
# Number of levels of a depth-first search with all rows that the stack holds; deeper searches are cut and resumed
# later.
ROOM = 12
PATIENCE_SECONDS = 0.05
MOST_WORKERS = 8


class OpenNode(Value):
    """A node that is still to be searched, and its lower bound."""

    bound: float
    state: State


class DiveOutcome(Value):
    """The result of a depth-first search: nodes left open, a better head if there is one, and the nodes visited."""

    left: tuple[OpenNode, ...]
    better: Incumbent | None
    nodes: int


class SearchThread:
    """Buffers for one search at a time."""

    def __init__(self, space: SearchSpace) -> None:
        self.space = space
        self.place = place_of(space)
        self._stack = _stack(space)
        self._verdicts = _verdicts(space)
        features = len(space.instance.features)
        self._states = np.zeros((features + 2, features), np.int8)
        self._bounds = np.zeros(features + 2)

    def dive(self, node: OpenNode, best: float, nodes: int, stop: Flag) -> DiveOutcome:
        """Search below a node for heads that cost less than `best`."""
        return DiveOutcome((node,), None, 0) if stop[0] else self._dive_below(node, best, nodes, stop)

    def look(self, node: OpenNode) -> DiveOutcome:
        """Compute the bound of a node without searching below it."""
        return self._dive_below(node, np.inf, 1, np.ones(1, np.int64))

    def _dive_below(self, node: OpenNode, best: float, nodes: int, stop: Flag) -> DiveOutcome:
        cost, state = np.array([best]), self.space.empty()
        inst, room, left_open = self.space.instance, (self._stack, self._verdicts), (self._states, self._bounds)
        left, seen = branch_kernels.dive(inst, *room, node.state, cost, state, nodes, stop, *left_open)
        opened = tuple(
            OpenNode(max(node.bound, float(self._bounds[place])), self._states[place].copy()) for place in range(left)
        )
        return DiveOutcome(opened, Incumbent(float(cost[0]), state) if cost[0] < best else None, int(seen))


class Watcher:
    """Ends searches by its flag, and keeps the lowest cost reported by any of them."""

    def __init__(self) -> None:
        self.stop = np.zeros(1, np.int64)
        self.least = np.inf
        self._lock = threading.Lock()

    def tell(self, cost: float) -> None:
        with self._lock:
            self.least = min(self.least, cost)


def _stack(space: SearchSpace) -> Stack:
    inst = space.instance
    rows, features = len(inst.counts), len(inst.features)
    room, deep = ROOM * rows + 1, features + 3
    return Stack(
        np.zeros((room, inst.keys.shape[1]), np.int64),
        np.zeros(room, np.int64),
        np.zeros((room, inst.label_rows.shape[1]), np.int64),
        np.zeros(room),
        np.zeros(room + 1, np.int64),
        np.zeros((deep, features), np.int8),
        np.zeros((6, deep), np.int64),
        np.zeros((2, deep)),
        np.zeros((2, 1 << (2 * rows).bit_length()), np.int64),
        np.zeros(1, np.int64),
    )


def _verdicts(space: SearchSpace) -> Verdicts:
    features, values = len(space.instance.features), len(space.instance.values)
    return Verdicts(
        np.zeros((4, features)),
        np.zeros((2, features), np.int64),
        np.zeros(values, np.int64),
        np.zeros(values, np.int64),
        np.zeros(values),
        np.zeros(values),
    )


class Crew:
    """A pool of worker threads; results are returned in the order of the jobs.

    Attributes:
        watch: Its flag ends all searches; it is set when the time is over or the user interrupts.
        interrupted: Whether the user interrupted the search.
        root: The root of the search tree.
    """

    def __init__(self, space: SearchSpace, seconds: float) -> None:
        self.watch = Watcher()
        self.interrupted = False
        self._free: SimpleQueue[SearchThread] = SimpleQueue()
        workers = min(os.cpu_count() or 1, MOST_WORKERS)
        for _ in range(workers):
            self._free.put(SearchThread(space))
        self._threads = ThreadPoolExecutor(workers, "k-optimize")
        self.root = self._first(space)
        self._deadline = perf_counter() + seconds

    def _first(self, space: SearchSpace) -> OpenNode:
        """Return the root with its bound; this compiles the loops before the clock starts."""
        worker, stopped = self._free.get(), Watcher()
        stopped.stop[0] = 1
        wander(worker.place, space.empty(), 0, stopped)
        root = OpenNode(0.0, np.full(len(space.instance.features), at.TAIL, np.int8))
        outcome = worker.look(root)
        self._free.put(worker)
        return outcome.left[0] if outcome.left else root

    @property
    def stopped(self) -> bool:
        if perf_counter() > self._deadline:
            self.watch.stop[0] = 1
        return bool(self.watch.stop[0])

    def run(self, jobs: Sequence[Callable[[SearchThread], T]], meanwhile: Callable[[], None]) -> list[T]:
        """Run all jobs; at a timeout or an interrupt they end early with what they have.

        Args:
            meanwhile: Called repeatedly until they are done.
        """
        futures = [self._threads.submit(self._do, job) for job in jobs]
        while wait(futures, None if self.stopped else PATIENCE_SECONDS).not_done:
            meanwhile()
        return [future.result() for future in futures]

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Within this context, the first Ctrl-C ends the search with its current result, a second one the program."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _interrupt(self, _number: int, _frame: object) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True
        self.watch.stop[0] = 1

    def _do(self, job: Callable[[SearchThread], T]) -> T:
        worker = self._free.get()
        try:
            return job(worker)
        finally:
            self._free.put(worker)

    def close(self) -> None:
        self.watch.stop[0] = 1
        self._threads.shutdown()
