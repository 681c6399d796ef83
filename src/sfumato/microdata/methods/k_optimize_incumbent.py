"""The first incumbent of K-Optimize: iterated local search from several starts, the same on every machine.

From a start, features are added, removed and exchanged as long as the loss falls; then the best is shaken and improved
again. The starts are the empty head and random ones, each with a generator of its own.
"""

from dataclasses import dataclass

import numpy as np

from sfumato.microdata.methods import k_optimize_local_kernels as kernels
from sfumato.microdata.methods.k_optimize_features import Space, State
from sfumato.microdata.methods.k_optimize_kernels import HEAD
from sfumato.microdata.methods.k_optimize_local_kernels import Desk, Flag

_SEED = 0x9E3779B97F4A7C15
_WORD = 2**64
MOST_DRAWN = 10
SHAKES = 6
STRENGTH = 6


@dataclass(frozen=True, slots=True)
class Incumbent:
    """A head and what it costs."""

    cost: float
    state: State


def new_desk(space: Space) -> Desk:
    """Room for a local search."""
    inst = space.instance
    rows, values, features = len(inst.counts), len(inst.values), len(inst.features)
    marks = np.random.default_rng(_SEED).integers(0, _WORD - 1, values, np.uint64)
    return Desk(
        space.codes,
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


def local_optimum(space: Space, desk: Desk, number: int, stop: Flag) -> Incumbent:
    """The best head found from one start; the first start is the empty head."""
    state = space.empty()
    random = np.array([_SEED * (2 * number + 1) % _WORD], np.uint64)
    if number and len(state):
        generator = np.random.default_rng(number)
        drawn = generator.permutation(len(state))[: generator.integers(1, MOST_DRAWN + 1)]
        state[drawn] = HEAD
        kernels.relieve(space.instance, desk, state, random)
    cost = kernels.wander(space.instance, desk, state, random, SHAKES, STRENGTH, stop)
    return Incumbent(float(cost), state)


def cost_of(space: Space, desk: Desk, state: State) -> float:
    """What a head costs."""
    return float(kernels.cost_of(space.instance, desk, state)[0])
