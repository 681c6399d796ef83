"""Local suppression for risk models: merge classes, the riskiest first, until every model is satisfied."""

from bisect import bisect_left
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from sfumato.errors import UnattainableError
from sfumato.microdata.methods.local_suppression.heuristic import Codes, Patterns, SuppressibleCells
from sfumato.microdata.methods.search_result import Deadline
from sfumato.microdata.models.equivalence_classes import (
    MILLIONTHS,
    BoolArray,
    Counts,
    EquivalenceClasses,
    Floats,
    holding_weights,
)
from sfumato.microdata.models.model import EXACT
from sfumato.microdata.models.re_identification_risk import GlobalRisk, IndividualRisk, expected_risks, individual_risks
from sfumato.values import Value

Places = npt.NDArray[np.int64]


RiskModel = IndividualRisk | GlobalRisk


HIDDEN = -1


class RiskPromises(Value):
    """Requirements on classes: rows, and risks by the weights of rows if these are known.

    Two classes become one by suppressing the values in which they differ. Only whole classes are merged, so no class
    ever gets smaller, and the weights behind each are known because rows of one combination stay together. The partner
    is the one with the lowest cost. Merging only lowers risks (see models/individual_risk.py), so the loop ends when
    the models are satisfied or nothing more may be suppressed.
    """

    k: int
    models: Sequence[RiskModel]
    weights: Counts | None

    def usual_size(self, counts: Counts) -> int:
        """Return the number of rows of median weight that satisfies every model; all rows if no smaller number does."""
        rows = int(counts.sum())
        size = self.k
        for model in self.models:
            weight = 1 / (model.sampling_fraction or 1.0) if self.weights is None else _mean_weight(self.weights, rows)
            sizes = range(size, rows)
            limit = model.threshold * (1 + EXACT)
            # Risks decrease with the number of rows: the first safe number is found by bisection.
            size += bisect_left(sizes, True, key=partial(_is_safe, weight, limit))
        return size

    def bound(self, patterns: Patterns) -> float:
        """Return the minimum cost of all rows for k and for each model of row risk."""
        weights = [None] * len(patterns.sizes) if self.weights is None else patterns.sums(self.weights)
        pairs = zip(patterns.sizes, weights, strict=True)
        return patterns.least_cost(self._kept(sizes, sums) for sizes, sums in pairs)

    def _kept(self, sizes: Counts, weights: Counts | None) -> BoolArray:
        """Return which groups, taken as full classes, are large and safe enough."""
        classes = EquivalenceClasses(np.maximum(sizes, 1))
        classes = classes if weights is None else holding_weights(classes, weights)
        kept = sizes >= max(self.k, 1)
        for model in self.models:
            if not model.is_global:
                kept &= ~model.violating(classes, classes)
        return kept


class Merging:
    """Classes during merging.

    Attributes:
        owners: The initial class of each combination.
        codes: The published codes of each class, HIDDEN for suppressed values.
        sizes: The number of rows of each class; classes merged into others have none.
        weights: The sum of weights of each class.
        heirs: The class that each class was merged into, or itself.
        risks: The risk of a row of each class, by each model.
    """

    def __init__(self, cells: SuppressibleCells, codes: Codes, promises: RiskPromises) -> None:
        """Start from the published codes of each combination."""
        self.prices, self.promises = cells.prices, promises
        self.codes, owners = np.unique(codes, axis=0, return_inverse=True)
        self.owners = owners.reshape(-1).astype(np.int64)
        self.sizes = _sums(self.owners, cells.counts)
        self.weights = None if promises.weights is None else _sums(self.owners, promises.weights)
        self.heirs = np.arange(len(self.sizes))
        every = np.arange(len(self.sizes))
        self.risks = [individual_risks(self._classes(every), model.sampling_fraction) for model in promises.models]

    def merge(self, deadline: Deadline) -> Codes:
        """Return the published codes of each combination once every model is satisfied.

        Raises:
            UnattainableError: No allowed suppression satisfies them.
        """
        while (failing := self._failing()).any():
            if deadline.over:
                self._blank(failing)
                deadline = Deadline(np.inf)
                continue
            one = int(np.argmax(np.where(failing, self._worst(), -1.0)))
            self._join(one, self._partner(one))
        while (self.heirs[self.heirs] != self.heirs).any():
            self.heirs = self.heirs[self.heirs]
        published: Codes = self.codes[self.heirs[self.owners]]
        return published

    def _classes(self, places: Places) -> EquivalenceClasses:
        classes = EquivalenceClasses(self.sizes[places])
        return classes if self.weights is None else holding_weights(classes, self.weights[places])

    def _failing(self) -> BoolArray:
        alive = self.sizes > 0
        failing = self.sizes < self.promises.k
        for model, risks in zip(self.promises.models, self.risks, strict=True):
            limit = model.threshold * (1 + EXACT)
            if not model.is_global:
                failing |= risks > limit
            elif float(risks @ self.sizes) > limit * int(self.sizes.sum()):
                failing |= risks >= risks[alive].max()
        return failing & alive

    def _worst(self) -> Floats:
        """Return the highest risk of each class; small classes come first."""
        small = np.where(self.sizes < self.promises.k, 1.0, 0.0)
        worst: Floats = np.max([*self.risks, small], axis=0) + small
        return worst

    def _partner(self, one: int) -> int:
        """Return the class that costs least to be merged with."""
        differs = self.codes != self.codes[one]
        prices = np.where(np.isfinite(self.prices), self.prices, 0.0)
        own = (differs & (self.codes[one] != HIDDEN)) @ prices * self.sizes[one]
        costs = own + (differs & (self.codes != HIDDEN)) @ prices * self.sizes
        costs[(differs & ~np.isfinite(self.prices)).any(axis=1) | (self.sizes == 0)] = np.inf
        costs[one] = np.inf
        other = int(np.argmin(costs))
        if costs[other] == np.inf:
            raise UnattainableError("local-suppression.cells_risk")
        return other

    def _join(self, one: int, other: int) -> None:
        """Merge two classes, and those that are then identical to them."""
        together = np.where(self.codes[one] == self.codes[other], self.codes[one], HIDDEN)
        alike = (self.codes == together).all(axis=1) & (self.sizes > 0)
        alike[[one, other]] = True
        self._unite(np.flatnonzero(alike), together)

    def _blank(self, failing: BoolArray) -> None:
        """Suppress everything allowed in some classes, because there is no time to choose."""
        touched = np.isfinite(self.prices)
        self.codes[np.ix_(failing, touched)] = HIDDEN
        for one in np.flatnonzero(failing).tolist():
            alike = (self.codes == self.codes[one]).all(axis=1) & (self.sizes > 0)
            if self.sizes[one] and alike.sum() > 1:
                self._unite(np.flatnonzero(alike), self.codes[one].copy())

    def _unite(self, classes: Places, codes: Codes) -> None:
        """Merge some classes into the first of them."""
        first = classes[:1]
        self.heirs[classes], self.codes[first] = first, codes
        for sums in (self.sizes, *(() if self.weights is None else (self.weights,))):
            total = int(sums[classes].sum())
            sums[classes] = 0
            sums[first] = total
        for model, risks in zip(self.promises.models, self.risks, strict=True):
            risks[classes] = 0.0
            risks[first] = individual_risks(self._classes(first), model.sampling_fraction)


def _mean_weight(weights: Counts, rows: int) -> float:
    return max(float(weights.sum()) / MILLIONTHS / rows, 1.0)


def _is_safe(weight: float, limit: float, rows: int) -> bool:
    """Return whether the risk of a number of rows with the same weight is small enough."""
    return bool(expected_risks(np.array([rows]), np.array([rows * weight]))[0] <= limit)


def _sums(owners: Counts, values: Counts) -> Counts:
    sums = np.zeros(int(owners.max(initial=-1)) + 1, np.int64)
    np.add.at(sums, owners, values)
    return sums
