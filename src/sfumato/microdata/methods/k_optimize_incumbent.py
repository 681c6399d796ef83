"""The first incumbent of K-Optimize: local search, first in few columns, then in all, the same on every machine.

A set that has features of few columns only costs as much on the table of just these columns, which is small. So sets
are first improved column by column: the best of each single column, then of the best with one column more, and so on
as long as that helps. From the best of them, features of all columns are added, removed and exchanged as long as the
loss falls; then the set is shaken and improved again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.microdata.methods import k_optimize_local_kernels as kernels
from sfumato.microdata.methods.k_optimize_features import Codes, Space, State
from sfumato.microdata.methods.k_optimize_kernels import COLUMN, HEAD, Instance
from sfumato.microdata.methods.k_optimize_local_kernels import Desk, Flag
from sfumato.microdata.packing import packing_of

_SEED = 0x9E3779B97F4A7C15
_WORD = 2**64
Tell = Callable[[float], None]
SHAKES = 6
# In few columns a walk is shaken more often, up to so many times, and for so many rows together.
MOST_SHAKES = 40
ROWS_SHAKEN = 8000
STRENGTH = 6
# How many sets of columns are carried on from each size to the next, and how many columns they may have at most.
CARRIED = 6
MOST_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A set of features, as a state, and what it costs."""

    cost: float
    state: State


@dataclass(frozen=True, slots=True)
class Place:
    """A table, room for a local search on it, and the features that it may take."""

    instance: Instance
    desk: Desk
    choices: Codes


def place_of(space: Space, columns: Iterable[int] | None = None) -> Place:
    """The table of all columns, or of some of them: the others have one value there."""
    inst, codes = space.instance, space.codes
    if columns is None:
        return Place(inst, _desk(inst, codes), np.arange(len(inst.features)))
    some, chosen = np.zeros_like(codes), list(columns)
    some[:, chosen] = codes[:, chosen]
    first, owners = _grouped(some)
    counts = np.zeros(len(first), np.int64)
    np.add.at(counts, owners, inst.counts)
    held = np.zeros((len(first), inst.held.shape[1]), np.int64)
    np.add.at(held, owners, inst.held)
    part = inst._replace(counts=counts, held=held)
    return Place(part, _desk(part, some[first]), np.flatnonzero(np.isin(inst.features[:, COLUMN], chosen)))


def _grouped(codes: Codes) -> tuple[Codes, Codes]:
    """For each distinct combination one row that has it, and for each row its combination."""
    keys = packing_of((codes.max(axis=0) + 1).tolist()).pack(codes.astype(np.int32))
    distinct = keys[0] if len(keys) == 1 else np.ascontiguousarray(keys.T)
    _, first, owners = np.unique(distinct, axis=0, return_index=True, return_inverse=True)
    return first, owners.reshape(-1)


def _desk(inst: Instance, codes: Codes) -> Desk:
    rows, values, features = len(inst.counts), len(inst.values), len(inst.features)
    marks = np.random.default_rng(_SEED).integers(0, _WORD - 1, values, np.uint64)
    return Desk(
        codes,
        marks,
        np.zeros(values, np.int64),
        np.zeros(values),
        np.zeros((5, rows + 2), np.int64),
        np.zeros((values, inst.held.shape[1] + 1), np.int64),
        np.zeros(features),
        np.zeros(features, np.int64),
        np.zeros((2, 1 << (2 * rows).bit_length()), np.int64),
        np.zeros(1, np.int64),
    )


def columns_of(space: Space, state: State) -> frozenset[int]:
    """The columns that have features in a set."""
    return frozenset(space.instance.features[state == HEAD, COLUMN].tolist())


def settle(space: Space, start: State, columns: frozenset[int], stop: Flag, tell: Tell) -> Incumbent:
    """Improve a set by features of some columns; the smaller their table, the longer."""
    if stop[0]:
        return Incumbent(np.inf, start)
    place = place_of(space, sorted(columns))
    shakes = min(MOST_SHAKES, ROWS_SHAKEN // len(place.instance.counts))
    return wander(place, start, len(columns), shakes, stop, tell)


def wander(place: Place, start: State, number: int, shakes: int, stop: Flag, tell: Tell) -> Incumbent:
    """Improve a set, then shake the best and improve it again so many times; each number gives another walk.

    Args:
        stop: Ends the walk with the best set so far, once it is up.
        tell: Called with the cost of each set that is no worse than those before.
    """
    random = np.array([_SEED * (2 * number + 1) % _WORD], np.uint64)
    best = _climbed(place, start.copy(), random, stop)
    tell(best.cost)
    for _ in range(shakes if len(place.choices) else 0):
        if stop[0]:
            break
        trial = best.state.copy()
        kernels.shake(place.instance, trial, place.choices, random, STRENGTH)
        kernels.relieve(place.instance, place.desk, trial, random)
        found = _climbed(place, trial, random, stop)
        if found.cost <= best.cost:
            best = found
            tell(best.cost)
    return best


def _climbed(place: Place, state: State, random: npt.NDArray[np.uint64], stop: Flag) -> Incumbent:
    """Improve a set as long as single changes help."""
    return Incumbent(float(kernels.climb(place.instance, place.desk, state, place.choices, random, stop)), state)
