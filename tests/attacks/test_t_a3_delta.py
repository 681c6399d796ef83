"""The delta of differential privacy is an upper bound in the whole range of epsilon, and beyond it there is none."""

from fractions import Fraction
from math import ceil, comb, exp, expm1, floor, log, log1p

import numpy as np
import pytest

from sfumato.errors import PlanError
from sfumato.microdata.models.differential_privacy import (
    GREATEST_EPSILON,
    LEAST_EPSILON,
    DifferentialPrivacy,
    delta_of,
    least_k,
)
from sfumato.microdata.plan.read import read_plan

EPSILONS = (LEAST_EPSILON, 0.01, 0.1, 0.7, 1, 2, 3, 5, 8, 11, 11.5, 13, 16, GREATEST_EPSILON)


def exact(first: int, left: Fraction, rows: int) -> float:
    """The probability that so many of some rows are drawn, or more; a row is left out with the chance `left`."""
    ways = (comb(rows, drawn) * (1 - left) ** drawn * left ** (rows - drawn) for drawn in range(first, rows + 1))
    return float(sum(ways, Fraction(0)))


@pytest.mark.parametrize("left", [Fraction(3, 4), Fraction(1, 2), Fraction(1, 7), Fraction(1, 50)])
@pytest.mark.parametrize("k", [1, 2, 7, 15])
def test_delta_is_that_of_fractions(left: Fraction, k: int) -> None:
    """Where γn is whole, n·γ rows may be taken for too many: epsilon is rounded."""
    share, numbers = 1 - left**2, range(k, 2 * ceil(k / (1 - left**2)) + 20)
    least = max(exact(max(k, floor(rows * share) + 1), left, rows) for rows in numbers)
    most = max(exact(max(k, ceil(rows * share)), left, rows) for rows in numbers)
    assert least <= delta_of(k, -log(left)) <= most * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", [0.3, 1e-4, 1e-9])
def test_delta_is_no_less_than_the_largest_tail(epsilon: float, delta: float) -> None:
    """By another library's tails, for many numbers of rows on both sides of the worst one."""
    from scipy.special import betainc

    k = least_k(epsilon, delta)
    share = -expm1(-2 * epsilon)
    drawn = k + np.unique(np.concatenate([np.arange(200), np.geomspace(1, 3 * k, 200).astype(np.int64)]))
    rows = np.maximum(np.ceil(drawn / share * (1 - 1e-13)) - 1, drawn)
    tails = betainc(drawn, rows - drawn + 1, -expm1(-epsilon))
    assert float(tails.max()) * (1 - 1e-6) <= delta_of(k, epsilon) <= delta


def test_large_classes_promise_nothing_that_is_not_true() -> None:
    """All of a million rows are drawn with this probability, where so many stand in a class."""
    assert delta_of(1_000_000, 13.0) >= exp(1_000_000 * log1p(-exp(-13.0))) > 0.1


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("search", [0.05, 1.0, 5.0])
def test_draws_that_a_search_favors_weigh_more(epsilon: float, search: float) -> None:
    from scipy.stats import binom

    for k in (3, 12, 40):
        share, heaviest = -expm1(-2 * epsilon), 0.0
        for drawn in range(k, 4 * k + 40):
            rows = max(ceil(drawn / share - 1e-12) - 1, drawn)
            numbers = np.arange(drawn, rows + 1)
            weights = binom.pmf(numbers, rows, -expm1(-epsilon)) * np.exp(numbers * search / (2 * k))
            heaviest = max(heaviest, float(weights.sum()))
        assert min(heaviest, 1) * (1 - 1e-9) <= delta_of(k, epsilon, search)
        assert delta_of(k, epsilon, search) <= max(heaviest * 1.001, 1) if heaviest < 0.3 else 1


@pytest.mark.parametrize(
    ("epsilon", "search"), [(GREATEST_EPSILON + 0.1, 0), (LEAST_EPSILON / 2, 0), (1, 0.9999), (20, 1), (0, 0)]
)
def test_epsilon_beyond_the_range_is_a_fault_of_the_plan(epsilon: float, search: float) -> None:
    with pytest.raises(PlanError, match="privacy"):
        read_plan(
            {
                "version": 1,
                "columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
                "privacy": [{"model": "differential-privacy", "epsilon": epsilon, "delta": 1e-5, "search": search}],
                "method": {"name": "safepub"},
            }
        )


def test_the_ends_of_the_range_have_a_k() -> None:
    assert DifferentialPrivacy(GREATEST_EPSILON, 1e-6, search=0.0).k > 10**9
    assert DifferentialPrivacy(LEAST_EPSILON, 1e-6, search=0.0).k == 60
