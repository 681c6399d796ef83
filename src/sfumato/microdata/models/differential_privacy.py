"""(ε, δ)-differential privacy: rows are sampled by chance, and classes of fewer than k rows withheld.

Li, N., Qardaji, W., Su, D. (2012). On sampling, anonymization, and differential privacy,
https://doi.org/10.1145/2414456.2414474; Bild, R., Kuhn, K. A., Prasser, F. (2018). SafePub: a truthful data
anonymization algorithm with strong privacy guarantees, https://doi.org/10.1515/popets-2018-0004. Every row is drawn
with the probability β = 1 - exp(-ε), generalized by rules that do not look at the data, and published where at least k
drawn rows are alike. That is (ε, δ)-differentially private, with δ as `delta_of` computes it; the least k that keeps
the δ asked for is taken.

It protects against an attacker who knows all other rows and wants to know whether a person's row is among them,
whatever else he has. It protects a row: who stands in several rows is protected less, and the ε and δ of several
releases add up. It says nothing of what the reports tell about the raw rows: they stay in the house.

Monotone under generalization and under suppression: a class only grows.
"""

from functools import lru_cache
from math import ceil, exp, expm1, floor, fsum, lgamma, log, log1p
from typing import Annotated, ClassVar

from sfumato.dataclass import dataclass
from sfumato.microdata.models.classes import Classes, Mask
from sfumato.microdata.models.model import ClassModel
from sfumato.shapes.parts import plan_part
from sfumato.shapes.records import Note

# A computed probability is taken a little larger than it is, and a floor a little lower: both cost utility alone.
CAUTION = 1e-9
# So many terms are added in a tail: each later one is less than half of the one before where it matters.
MOST_ROWS = 1_000_000


@plan_part
@dataclass(frozen=True, slots=True)
class DifferentialPrivacy(ClassModel):
    """Whether a person's row is there changes what is published hardly at all.

    Attributes:
        epsilon: How much more likely any outcome may become by one row, as a logarithm.
        delta: With which probability more than that may happen.
        search: The part of epsilon with which the levels are chosen; 0 where the plan names them.

    >>> promise = DifferentialPrivacy(1.0, 1e-6, search=0.0)
    >>> round(promise.sampling, 4), promise.k
    (0.6321, 74)
    """

    epsilon: Annotated[float, Note("how much one row may change the likelihood of an outcome", minimum=0, maximum=20)]
    delta: Annotated[float, Note("with which probability it may change more", minimum=0, maximum=1)]
    search: Annotated[
        float, Note("the share of epsilon with which levels are chosen; 0: the method names them", minimum=0, maximum=1)
    ] = 0.1
    name: ClassVar[str] = "differential-privacy"
    asks: ClassVar[str] = "epsilon"
    column: ClassVar[None] = None
    monotone_suppression: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.epsilon <= 0 or not 0 < self.delta < 1 or self.search >= 1:
            raise ValueError("epsilon must be greater than 0, delta between 0 and 1, search less than 1.")

    @property
    def search_epsilon(self) -> float:
        """What the choice of levels may cost."""
        return self.epsilon * self.search

    @property
    def rows_epsilon(self) -> float:
        """What publishing the rows may cost."""
        return self.epsilon - self.search_epsilon

    @property
    def sampling(self) -> float:
        """The probability with which a row is drawn."""
        return sampling_of(self.rows_epsilon)

    @property
    def k(self) -> int:
        """Rows that a class must have."""
        return least_k(self.rows_epsilon, self.delta)

    @property
    def least_rows(self) -> int:
        return self.k

    def failing(self, classes: Classes, whole: Classes) -> Mask:  # noqa: ARG002
        return classes.sizes < self.k

    def reached(self, classes: Classes, whole: Classes) -> float:
        """Epsilon where every class has k rows; else nothing is promised."""
        return float("inf") if bool(self.failing(classes, whole).any()) else self.epsilon

    def limits(self, whole: Classes) -> str | None:
        if self.k > whole.rows:
            return f"epsilon and delta need classes of {self.k} rows, the data have {whole.rows}."
        return None


def sampling_of(epsilon: float) -> float:
    """The largest probability with which rows may be drawn.

    >>> round(sampling_of(2.0), 4)
    0.8647
    """
    return -expm1(-epsilon)


@lru_cache(maxsize=256)
def least_k(epsilon: float, delta: float) -> int:
    """The least number of rows a class must have, so that at most this delta is reached."""
    low, high = 0, 1
    while delta_of(high, epsilon) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if delta_of(middle, epsilon) > delta else (low, middle)
    return high


@lru_cache(maxsize=4096)
def delta_of(k: int, epsilon: float) -> float:
    """The delta that classes of at least k drawn rows keep (theorem 5 of Li, Qardaji and Su).

    The largest, over all numbers n of rows alike, of the probability that more than γn of them are drawn, where
    γ = (exp(ε) - 1 + β) / exp(ε); from some n on Chernoff's bound, exp(-n·KL(γ, β)), says that no
    later one is larger.

    >>> f"{delta_of(20, 1.0):.3g}", delta_of(20, 1.0) > delta_of(40, 1.0)
    ('0.0118', True)
    """
    chance = sampling_of(epsilon)
    share = 1 - (1 - chance) * exp(-epsilon)
    decay = share * log(share / chance) + (1 - share) * log((1 - share) / (1 - chance))
    most = 0.0
    for rows in range(max(ceil(k / share - 1 - CAUTION), 1), MOST_ROWS):
        most = max(most, _tail(floor(rows * share - CAUTION) + 1, rows, chance))
        if exp(-rows * decay) < most:
            break
    return min(most * (1 + CAUTION), 1.0)


def _tail(first: int, rows: int, chance: float) -> float:
    """The probability that at least `first` of some rows are drawn."""
    if first > rows:
        return 0.0
    ways = lgamma(rows + 1)
    drawn, left = log(chance), log1p(-chance)
    return fsum(
        exp(ways - lgamma(number + 1) - lgamma(rows - number + 1) + number * drawn + (rows - number) * left)
        for number in range(first, rows + 1)
    )
