"""Local search of K-Optimize: improve a set of features by single changes, perturb it and improve it again.

A set with features of few columns costs the same on the table of just these columns, which is small; so sets can be
improved there first. The same random numbers give the same search on every machine.
"""

from collections.abc import Iterable
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sfumato.dataclass import dataclass
from sfumato.microdata.counts.combinations import packing_of
from sfumato.microdata.methods.k_optimize import local_search_kernels as kernels
from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize.cut_features import Codes, SearchSpace, State
from sfumato.microdata.methods.k_optimize.local_search_kernels import Buffers, Flag
from sfumato.microdata.methods.k_optimize.problem_arrays import Instance

_SEED = 0x9E3779B97F4A7C15
_WORD = 2**64
Random = npt.NDArray[np.uint64]
# Limits on the perturbations of a search in few columns: their number, and the rows of all together.
MOST_SHAKES = 40
ROWS_SHAKEN = 8000
STRENGTH = 6


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A set of features, as a state, and its cost."""

    cost: float
    state: State


class SearchMonitor(Protocol):
    """Observer that ends a search by its flag, and receives the cost of each set found."""

    @property
    def stop(self) -> Flag: ...

    def tell(self, cost: float) -> None: ...


@dataclass(frozen=True, slots=True)
class Place:
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
    kernels.shake(place.instance, trial, place.choices, words, STRENGTH)
    kernels.relieve(place.instance, place.scratch, trial, words)
    found = climb(place, trial, words, watch)
    return found if found.cost <= start.cost else start


def climb(place: Place, start: State, random: Random, watch: SearchMonitor) -> Incumbent:
    """Improve a set as long as single changes help."""
    state = start.copy()
    cost = float(kernels.climb(place.instance, place.scratch, state, place.choices, random, watch.stop))
    watch.tell(cost)
    return Incumbent(cost, state)


def _random(number: int) -> Random:
    """Return a separate generator for each number, the same on every machine."""
    return np.array([_SEED * (2 * number + 1) % _WORD], np.uint64)
