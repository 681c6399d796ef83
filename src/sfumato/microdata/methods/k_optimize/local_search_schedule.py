"""Schedule of the local search of K-Optimize: which sets are improved next, a few at a time next to the exact search.

First from the empty set, in all columns. Then the best sets of each single column, of these with one column more, and
so on as long as that helps; from the best of them in all columns; and finally, from the best set known, one local
search after the other: each for a while, and less often when they no longer find improvements.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence

import numpy as np

from sfumato.microdata.methods.k_optimize.cut_features import SearchSpace, State
from sfumato.microdata.methods.k_optimize.local_search import Incumbent, columns_of, settle, stray, wander
from sfumato.microdata.methods.k_optimize.workers import Crew, SearchThread

Job = Callable[[SearchThread], Incumbent]
Batches = Generator[list[Job], list[Incumbent], None]
# Number of sets of columns that are extended from each size to the next, and their maximum number of columns.
CARRIED = 6
MOST_COLUMNS = 5
# Number of sets from which searches in all columns begin, how often each is perturbed, and how many follow at a time.
FIRST_WALKS = 4
SHAKES = 6
WALKS = 2
# After this many searches without improvement, they are dealt only once in so many times.
PATIENCE = 60
REST = 4


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
