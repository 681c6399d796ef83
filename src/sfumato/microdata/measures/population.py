"""Population uniqueness: estimates of the number of population uniques from the class sizes of a sample.

The estimators use the sizes of the classes of a sample and the size of the population:

- pitman: the classes follow Pitman's sampling formula with parameters (θ, α), estimated by maximum likelihood; then N
  (θ+α)_(N-1) / (θ+1)_(N-1) persons are unique. Hoshino, N. (2001). Applying Pitman's sampling formula to microdata
  disclosure risk assessment. Journal of Official Statistics 17(4). Good for small sampling fractions.
- zayatz: the share of the sample's unique rows that are unique in the population, if class sizes are distributed in the
  population as in the sample. Zayatz, L. (1991). Estimation of the percent of unique population elements on a microdata
  file using the sample. US Census Bureau, Statistical Research Division Report.
- snb: sizes of the population's classes are 1 + a negative binomial ("slide negative binomial"), with parameters that
  reproduce the population's size, the sample's classes and its unique rows. Chen, G., Keller-McNulty, S. (1998).
  Estimation of identification disclosure risk in microdata. Journal of Official Statistics 14(1).
- dankar: chooses among them: pitman up to a sampling fraction of 0.1; above it the smaller of zayatz and snb, or zayatz
  if snb has no solution. Dankar, F., El Emam, K., Neisa, A., Roffey, T. (2012). Estimating the re-identification risk
  of clinical data sets, https://doi.org/10.1186/1472-6947-12-66.

If an estimator is undefined or does not converge, its value is None and the reason is given.
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from sfumato.errors import PlanError, issue
from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import Counts
from sfumato.values import Value

SMALL_FRACTION = 0.1
# Upper bound of any human population; above it, logarithms of factorials lose all digits.
LARGEST_POPULATION = 10**12
_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = 60


class Estimate(Value):
    """An estimate of the number of population uniques.

    Attributes:
        uniques: The estimated number of population uniques, or None.
        share: The same number as a proportion of the population.
        reason: Why there is no estimate, or which estimator was chosen.
    """

    uniques: float | None
    share: float | None
    reason: Message | None = None


class PopulationUniquenessEstimate(Value):
    """Population uniqueness by all estimators, for a population of this size."""

    population_size: int
    sampling_fraction: float
    pitman: Estimate
    zayatz: Estimate
    snb: Estimate
    dankar: Estimate


def uniqueness(sizes: Counts, population_size: int) -> PopulationUniquenessEstimate:
    """Return all estimates for classes of these sizes, sampled from a population of this size (at least as large).

    Raises:
        PlanError: The population is larger than any.
    """
    if population_size > LARGEST_POPULATION:
        what = Message("error.part.most", largest_population=LARGEST_POPULATION)
        raise PlanError.listing([issue("population_size", message=what)], "population")
    rows = int(sizes.sum())
    fraction = rows / population_size
    unique = int((sizes == 1).sum())
    if fraction >= 1:
        all_of_them = _estimate(unique, population_size, Message("note.population_whole"))
        return PopulationUniquenessEstimate(population_size, 1.0, all_of_them, all_of_them, all_of_them, all_of_them)
    if not unique:
        none = _estimate(0, population_size, Message("note.population_none"))
        return PopulationUniquenessEstimate(population_size, fraction, none, none, none, none)
    pitman_, zayatz_, snb_ = pitman(sizes, population_size), zayatz(sizes, population_size), snb(sizes, population_size)
    chosen = _dankar(fraction, pitman_, zayatz_, snb_)
    return PopulationUniquenessEstimate(population_size, fraction, pitman_, zayatz_, snb_, chosen)


def _estimate(uniques: float, population_size: int, reason: Message | None = None) -> Estimate:
    bounded = min(max(float(uniques), 0.0), float(population_size))
    return Estimate(bounded, bounded / population_size, reason)


def _dankar(fraction: float, pitman_: Estimate, zayatz_: Estimate, snb_: Estimate) -> Estimate:
    if fraction <= SMALL_FRACTION and pitman_.uniques is not None:
        return Estimate(pitman_.uniques, pitman_.share, Message("note.population_pitman"))
    if snb_.uniques is not None and zayatz_.uniques is not None and snb_.uniques < zayatz_.uniques:
        return Estimate(snb_.uniques, snb_.share, Message("note.population_snb"))
    why = (
        Message("note.population_zayatz_smaller")
        if snb_.uniques is not None
        else Message("note.population_zayatz_alone")
    )
    return Estimate(zayatz_.uniques, zayatz_.share, Message("note.population_zayatz", why=why))


def zayatz(sizes: Counts, population_size: int) -> Estimate:
    """Estimate unique persons from the sample's unique rows, with one common probability of population uniqueness.

    The probability that a class of F persons has one row in the sample is hypergeometric: F C(N-F, n-1) / C(N, n).
    """
    rows = int(sizes.sum())
    distinct, classes = np.unique(sizes, return_counts=True)
    logs = np.array([_log_one_drawn(int(size), rows, population_size) for size in distinct])
    weights = classes * np.exp(logs - logs.max())
    unique = int(classes[distinct == 1].sum())
    share = float(weights[distinct == 1].sum() / weights.sum())
    return _estimate(unique * share * population_size / rows, population_size)


def _log_one_drawn(persons: int, rows: int, population_size: int) -> float:
    if population_size - persons < rows - 1:
        return -math.inf
    return math.log(persons) + _log_choose(population_size - persons, rows - 1) - _log_choose(population_size, rows)


def _log_choose(all_of_them: int, chosen: int) -> float:
    return math.lgamma(all_of_them + 1) - math.lgamma(chosen + 1) - math.lgamma(all_of_them - chosen + 1)


def pitman(sizes: Counts, population_size: int) -> Estimate:
    """Estimate unique persons by Pitman's sampling formula with maximum-likelihood parameters."""
    rows, classes = int(sizes.sum()), len(sizes)
    if classes == rows:
        return Estimate(None, None, Message("note.population_endless"))
    if classes == 1:
        return Estimate(None, None, Message("note.population_one"))
    likelihood = _PitmanLikelihood(sizes)
    alpha = _highest(lambda value: likelihood.best_theta(value)[1], 1e-4, 1 - 1e-4)
    log_shift, _ = likelihood.best_theta(alpha)
    if alpha > 1 - 2e-4 or abs(log_shift) > _PitmanLikelihood.REACH - 0.1:
        return Estimate(None, None, Message("note.population_edge"))
    theta = math.exp(log_shift) - alpha
    log_uniques = (
        math.log(population_size)
        + math.lgamma(theta + alpha + population_size - 1)
        + math.lgamma(theta + 1)
        - math.lgamma(theta + alpha)
        - math.lgamma(theta + population_size)
    )
    edge = Message("note.population_ewens") if alpha < 2e-4 else None
    return _estimate(math.exp(log_uniques), population_size, edge)


class _PitmanLikelihood:
    """The log-likelihood of class sizes under Pitman's sampling formula, up to a constant."""

    REACH = 40.0

    def __init__(self, sizes: Counts) -> None:
        self.rows, self.classes = int(sizes.sum()), len(sizes)
        distinct, counts = np.unique(sizes, return_counts=True)
        self.sizes = list(zip(distinct.tolist(), counts.tolist(), strict=True))

    def best_theta(self, alpha: float) -> tuple[float, float]:
        """Return the maximum-likelihood log(θ + α) for an α, and its likelihood."""
        within = self._within(alpha)
        best = _highest(lambda log_shift: self._between(alpha, log_shift), -self.REACH, self.REACH)
        return best, within + self._between(alpha, best)

    def _within(self, alpha: float) -> float:
        first = math.lgamma(1 - alpha)
        return math.fsum(count * (math.lgamma(size - alpha) - first) for size, count in self.sizes)

    def _between(self, alpha: float, log_shift: float) -> float:
        """Return the part with θ: sum of log(θ + iα) for i < classes, less that of log(θ + i) for i < rows."""
        theta = math.exp(log_shift) - alpha
        steps = _log_rising(theta / alpha + 1, self.classes - 1) + (self.classes - 1) * math.log(alpha)
        return steps - _log_rising(theta + 1, self.rows - 1)


def _log_rising(start: float, factors: int) -> float:
    """Return log of start (start + 1) … with `factors` factors; by Stirling's series if lgamma would lose digits."""
    if start < 1e9:
        return math.lgamma(start + factors) - math.lgamma(start)
    end = start + factors
    return (end - 0.5) * math.log1p(factors / start) + factors * math.log(start) - factors


def _highest(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the maximum of a function with one peak, by golden-section search."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
    return (low + high) / 2


def snb(sizes: Counts, population_size: int) -> Estimate:
    """Estimate unique persons if population classes have 1 + NB(a, p) members each and rows are independent draws."""
    rows, classes = int(sizes.sum()), len(sizes)
    unique = int((sizes == 1).sum())
    model = _Slide(population_size, rows / population_size, classes)
    grid = classes * (population_size / classes) ** np.linspace(1e-6, 1 - 1e-6, 200)
    gaps = [(count, model.unique_rows(count)) for count in grid.tolist()]
    gaps_known = [(count, expected - unique) for count, expected in gaps if expected is not None]
    for (low, at_low), (high, at_high) in pairwise(gaps_known):
        if at_low == 0 or at_low * at_high < 0:
            return _estimate(model.unique_persons(model.solved(low, high, at_low, unique)), population_size)
    return Estimate(None, None, Message("note.population_snb_none"))


class _Slide(Value):
    """Population classes of size 1 + NB(a, p), of which a fraction of the members is sampled.

    For a number of population classes the mean a(1-p)/p follows from the population's size, and p from the number of
    classes that show in the sample; left to choose is the number of classes, to meet the unique rows.
    """

    population_size: int
    fraction: float
    classes: int

    def p_of(self, count: float) -> float | None:
        """Return the p with which a number of population classes shows as many classes in the sample, or None."""
        mean = self.population_size / count - 1
        wanted = (1 - self.classes / count) / (1 - self.fraction)
        low, high = 1e-12, 1 - 1e-9
        if not self._unseen(mean, high) <= wanted <= self._unseen(mean, low):
            return None
        for _ in range(_STEPS):
            middle = math.sqrt(low * high)
            if self._unseen(mean, middle) > wanted:
                low = middle
            else:
                high = middle
        return math.sqrt(low * high)

    def _unseen(self, mean: float, p: float) -> float:
        """Return (p / (1 - (1-p)(1-f)))^a with a = mean p / (1-p): the probability that no other member is sampled."""
        a = mean * p / (1 - p)
        # Equivalent to 1 / (1 + f (1-p) / p)^a, in a form that stays accurate for small f.
        return math.exp(-a * math.log1p(self.fraction * (1 - p) / p))

    def unique_rows(self, count: float) -> float | None:
        """Return the expected number of unique rows in the sample."""
        p = self.p_of(count)
        if p is None:
            return None
        mean, q, stay = self.population_size / count - 1, 1 - p, 1 - self.fraction
        more = stay * mean * p / (1 - q * stay)
        return count * self.fraction * self._unseen(mean, p) * (1 + more)

    def solved(self, low: float, high: float, at_low: float, unique: int) -> float:
        """Return the number of classes between two that reproduces the unique rows."""
        for _ in range(_STEPS):
            middle = (low + high) / 2
            expected = self.unique_rows(middle)
            if expected is None:
                break
            if (expected - unique) * at_low > 0:
                low = middle
            else:
                high = middle
        return (low + high) / 2

    def unique_persons(self, count: float) -> float:
        """Return the number of population classes of one member: count p^a."""
        p = self.p_of(count)
        if p is None:
            return math.nan
        mean = self.population_size / count - 1
        return count * math.exp(mean * p / (1 - p) * math.log(p))
