"""The workers of K-Optimize: each has its own room to search in, and searches below a node for so many nodes."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from sfumato.microdata.methods import k_optimize_search_kernels as kernels
from sfumato.microdata.methods.k_optimize_bounds_kernels import Verdicts
from sfumato.microdata.methods.k_optimize_features import Space, State
from sfumato.microdata.methods.k_optimize_incumbent import Incumbent, local_optimum, new_desk
from sfumato.microdata.methods.k_optimize_kernels import TAIL
from sfumato.microdata.methods.k_optimize_search_kernels import Stack

T = TypeVar("T")
# How many levels of a dive with all rows the stack holds; a deeper dive is cut there and taken up again later.
ROOM = 12
PATIENCE_SECONDS = 0.05
WORKERS = 2


@dataclass(frozen=True, slots=True)
class Open:
    """A node that is still to be searched, and what nothing below it can cost less than."""

    bound: float
    state: State


@dataclass(frozen=True, slots=True)
class Dived:
    """What a dive below a node found: nodes left open, a better head if there is one, and how many nodes it saw."""

    left: tuple[Open, ...]
    better: Incumbent | None
    nodes: int


class Worker:
    """Room for one search at a time."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.desk = new_desk(space)
        self._stack = _stack(space)
        self._verdicts = _verdicts(space)
        features = len(space.instance.features)
        self._states = np.zeros((features + 2, features), np.int8)
        self._bounds = np.zeros(features + 2)

    def dive(self, node: Open, best: float, nodes: int, stop: Any) -> Dived:
        """Search below a node for heads that cost less than `best`."""
        cost, state = np.array([best]), self.space.empty()
        left, seen = kernels.dive(
            self.space.instance, self._stack, self._verdicts, node.state, cost, state, nodes, stop, self._states, self._bounds
        )  # fmt: skip
        opened = tuple(
            Open(max(node.bound, float(self._bounds[place])), self._states[place].copy()) for place in range(left)
        )
        return Dived(opened, Incumbent(float(cost[0]), state) if cost[0] < best else None, int(seen))

    def climb(self, start: int, stop: Any) -> Incumbent:
        """The best head that a local search finds from one start."""
        return local_optimum(self.space, self.desk, start, stop)


def _stack(space: Space) -> Stack:
    inst = space.instance
    rows, features = len(inst.counts), len(inst.features)
    room, deep = ROOM * rows + 1, features + 3
    return Stack(
        np.zeros((room, inst.keys.shape[1]), np.int64),
        np.zeros(room, np.int64),
        np.zeros((room, inst.held.shape[1]), np.int64),
        np.zeros(room),
        np.zeros(room + 1, np.int64),
        np.zeros((deep, features), np.int8),
        np.zeros((6, deep), np.int64),
        np.zeros((2, deep)),
        np.zeros((2, 1 << (2 * rows).bit_length()), np.int64),
        np.zeros(1, np.int64),
    )


def _verdicts(space: Space) -> Verdicts:
    features, values = len(space.instance.features), len(space.instance.values)
    return Verdicts(
        np.zeros((3, features)),
        np.zeros((2, features), np.int64),
        np.zeros(values, np.int64),
        np.zeros(values, np.int64),
        np.zeros(values),
        np.zeros(values),
    )


class Crew:
    """Workers on threads; what they are given comes back in the order given, whoever was first.

    Attributes:
        stop: The flag that ends all searches; it is set when the time is over or the user interrupts.
        interrupted: Whether the user did.
    """

    def __init__(self, space: Space, seconds: float) -> None:
        self.stop = np.zeros(1, np.int64)
        self.interrupted = False
        self._free: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(WORKERS):
            self._free.put(Worker(space))
        self._threads = ThreadPoolExecutor(WORKERS, "k-optimize")
        self._compile(space)
        self._deadline = perf_counter() + seconds

    def _compile(self, space: Space) -> None:
        """Compile the loops before the clock starts."""
        worker = self._free.get()
        stopped = np.ones(1, np.int64)
        worker.climb(1, stopped)
        worker.dive(Open(0.0, np.full(len(space.instance.features), TAIL, np.int8)), np.inf, 1, stopped)
        self._free.put(worker)

    @property
    def stopped(self) -> bool:
        if perf_counter() > self._deadline:
            self.stop[0] = 1
        return bool(self.stop[0])

    def run(self, jobs: Sequence[Callable[[Worker], T]]) -> list[T]:
        """Do all jobs; when time or patience ends, they end early with what they have."""
        futures = [self._threads.submit(self._do, job) for job in jobs]
        while not self._done(futures):
            pass
        return [future.result() for future in futures]

    def _done(self, futures: Sequence[Future[T]]) -> bool:
        try:
            waiting = wait(futures, None if self.stopped else PATIENCE_SECONDS).not_done
        except KeyboardInterrupt:
            if self.interrupted:
                raise
            self.interrupted = True
            self.stop[0] = 1
            return False
        return not waiting

    def _do(self, job: Callable[[Worker], T]) -> T:
        worker = self._free.get()
        try:
            return job(worker)
        finally:
            self._free.put(worker)

    def close(self) -> None:
        self.stop[0] = 1
        self._threads.shutdown()
