"""(ε, δ)-differential privacy: rows are sampled at random, and classes of fewer than k rows are suppressed.

Li, N., Qardaji, W., Su, D. (2012). On sampling, anonymization, and differential privacy,
https://doi.org/10.1145/2414456.2414474; Bild, R., Kuhn, K. A., Prasser, F. (2018). SafePub: a truthful data
anonymization algorithm with strong privacy guarantees, https://doi.org/10.1515/popets-2018-0004. Every row is drawn
with the probability β = 1 - exp(-ε), generalized by rules that do not depend on the data, and published if at least k
drawn rows are identical. That is (ε, δ)-differentially private, with δ at most the result of `delta_of`; the smallest k
that satisfies the requested δ is used.

It protects against an attacker who knows all other rows and any further information, and wants to know whether a
person's row is included. It protects rows: a person with several rows is protected less, and the ε and δ of several
releases add up. It does not cover reports about the original rows, which are internal.

Monotone under generalization and under suppression: a class only grows.
"""

from collections.abc import Mapping
from functools import lru_cache
from itertools import count
from math import ceil, exp, expm1, lgamma, log, log1p
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

from sfumato.localization.messages import Message
from sfumato.microdata.models.equivalence_classes import BoolArray, EquivalenceClasses
from sfumato.microdata.models.model import BaseModel, Judges, Needs
from sfumato.schema.dataclass_schema import KeyInfo

# The range of epsilon in which delta is bounded; the part of epsilon for the rows must lie in it, too.
LEAST_EPSILON, GREATEST_EPSILON = 0.001, 20
# Upper bounds of the relative errors of a quotient, and of the terms of a logarithm.
ROUNDING, CAUTION = 2.0**-50, 2.0**-44
# The number of tails that are computed before Chernoff's bound is used for all others; some hundred are needed.
MOST_TAILS = 5_000


class DifferentialPrivacy(BaseModel):
    """The presence of a person's row has almost no influence on what is published.

    Attributes:
        epsilon: Maximum log ratio by which one row may change the probability of any outcome.
        delta: The probability with which more than that may happen.
        search: The part of epsilon for choosing the levels; 0 if the plan names them.

    >>> promise = DifferentialPrivacy(1.0, 1e-6, search=0.0)
    >>> round(promise.sampling, 4), promise.k
    (0.6321, 74)
    """

    epsilon: Annotated[
        float,
        KeyInfo(
            "how much one row may change the likelihood of an outcome", minimum=LEAST_EPSILON, maximum=GREATEST_EPSILON
        ),
    ]
    delta: Annotated[float, KeyInfo("with which probability it may change more", minimum=0, maximum=1)]
    search: Annotated[
        float,
        KeyInfo("the share of epsilon with which levels are chosen; 0: the method names them", minimum=0, maximum=1),
    ] = 0.1
    name: ClassVar[str] = "differential-privacy"
    judges: ClassVar[Judges] = "sampling"
    needs: ClassVar[Needs] = "sampling"
    counts_persons: ClassVar[bool] = False
    start: ClassVar[Mapping[str, Any]] = MappingProxyType({"epsilon": 2.0, "delta": 1e-5})
    parameter: ClassVar[str] = "epsilon"
    column: ClassVar[None] = None
    monotone_suppression: ClassVar[bool] = True

    def check_part(self) -> None:
        if not 0 < self.delta < 1 or not LEAST_EPSILON <= self.rows_epsilon <= self.epsilon <= GREATEST_EPSILON:
            raise ValueError(Message("error.value.epsilon_must_lie", low=LEAST_EPSILON, high=GREATEST_EPSILON))

    @property
    def search_epsilon(self) -> float:
        """The epsilon for choosing the levels."""
        return self.epsilon * self.search

    @property
    def rows_epsilon(self) -> float:
        """The epsilon for publishing the rows."""
        return self.epsilon - self.search_epsilon

    @property
    def sampling(self) -> float:
        """The sampling probability of a row."""
        return sampling_of(self.rows_epsilon)

    @property
    def k(self) -> int:
        """The minimum class size."""
        return least_k(self.rows_epsilon, self.delta, self.search_epsilon)

    @property
    def min_class_size(self) -> int:
        return self.k

    def violating(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> BoolArray:  # noqa: ARG002
        return classes.sizes < self.k

    def achieved(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> float:
        """Return epsilon if every class has k rows, else infinity."""
        return float("inf") if bool(self.violating(classes, whole).any()) else self.epsilon

    def infeasibility(self, whole: EquivalenceClasses) -> Message | None:
        if self.k > whole.rows:
            return Message("reason.epsilon_rows", k=self.k, rows=whole.rows)
        return None


def sampling_of(epsilon: float) -> float:
    """Return the largest allowed sampling probability.

    >>> round(sampling_of(2.0), 4)
    0.8647
    """
    return -expm1(-epsilon)


@lru_cache(maxsize=256)
def least_k(epsilon: float, delta: float, search: float = 0.0) -> int:
    """Return the smallest minimum class size with at most this delta."""
    low, high = 0, 1
    while delta_of(high, epsilon, search) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if delta_of(middle, epsilon, search) > delta else (low, middle)
    return high


@lru_cache(maxsize=4096)
def delta_of(k: int, epsilon: float, search: float = 0.0) -> float:
    """Return an upper bound of the delta of classes of at least k drawn rows.

    Of n identical rows, one can change the probability of an outcome more than epsilon allows only if more than
    γn of them are drawn, γ = 1 - exp(-2ε). Without a search, delta is the largest probability of that over all n
    (theorem 5 of Li, Qardaji and Su); with one, a draw of j rows weighs exp(jθ) as much, θ = search / 2k, since a
    search may favor it (docs/methods/safepub.md has the proof). For each j it is enough to look at the largest n with
    γn < j; from some n on, Chernoff's bound exp(-n(KL(γ, β) - θγ)) is below what was found.

    Args:
        epsilon: The epsilon of the rows. Rounding only makes the bound larger.
        search: The epsilon of the choice of levels.

    >>> f"{delta_of(20, 1.0):.3g}", delta_of(20, 1.0) > delta_of(40, 1.0), delta_of(1_000_000, 13.0) > 0.1
    ('0.0118', True, True)
    """
    left, share, tilt = exp(-epsilon), -expm1(-2 * epsilon), search / (2 * k)
    decay = share * log1p(left) - left * left * epsilon - tilt * share
    if decay <= 0:
        return 1.0
    most = 0.0
    for drawn in range(k, k + MOST_TAILS):
        rows = ceil(drawn / share * (1 + ROUNDING)) - 1
        rest = exp(_slack(rows) - rows * decay)
        if rest <= most:
            return min(most, 1.0)
        most = max(most, _tail(drawn, rows, epsilon, tilt))
    return min(max(most, rest), 1.0)


def _tail(first: int, rows: int, epsilon: float, tilt: float) -> float:
    """Return an upper bound of the probability that at least `first` of some rows are drawn, with weights exp(jθ)."""
    ways = lgamma(rows + 1) - lgamma(first + 1) - lgamma(rows - first + 1)
    term = exp(ways + first * (log1p(-exp(-epsilon)) + tilt) - (rows - first) * epsilon + _slack(rows))
    total, odds = 0.0, expm1(epsilon) * exp(tilt)
    for number in count(first):
        total += term
        ratio = (rows - number) / (number + 1) * odds
        term *= ratio
        if term <= total * CAUTION:
            break
    return total + term / (1 - ratio)  # ratios decrease, so the rest is less than a geometric series


def _slack(rows: int) -> float:
    """Return an upper bound of the rounding error in the log-probability for this many rows."""
    return CAUTION * (rows * log(rows + 2) + 100)
