"""Differential privacy: its parameters are those of the literature, and they keep what they promise."""

from math import ceil, exp, floor, log

import numpy as np
import pytest

from sfumato.errors import PlanError
from sfumato.microdata.models.differential_privacy import DifferentialPrivacy, delta_of, least_k, sampling_of


def formula(k: int, epsilon: float) -> float:
    """The delta of theorem 5 of Li, Qardaji and Su, by another library's tails and over a long range of rows."""
    from scipy.stats import binom  # a second to load: here, so that not every worker does

    chance = 1 - exp(-epsilon)
    share = (exp(epsilon) - 1 + chance) / exp(epsilon)
    rows = np.arange(max(ceil(k / share - 1), 1), 40 * k + 200)
    return float(binom.sf(np.floor(rows * share - 1e-9), rows, chance).max())


@pytest.mark.parametrize("epsilon", [0.1, 0.5, log(2), 1.0, log(3), 2.0])
@pytest.mark.parametrize("k", [2, 5, 20, 75])
def test_delta_is_that_of_the_formula(k: int, epsilon: float) -> None:
    assert delta_of(k, epsilon) == pytest.approx(formula(k, epsilon), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-4), (1.0, 1e-5), (2.0, 1e-6), (5.0, 1e-6)])
def test_the_least_k_is_taken(epsilon: float, delta: float) -> None:
    k = least_k(epsilon, delta)
    assert delta_of(k, epsilon) <= delta < delta_of(k - 1, epsilon)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("k", [1, 3, 10, 30])
def test_no_pair_of_tables_differs_by_more(epsilon: float, k: int) -> None:
    """The mechanism itself, for every class of up to 150 rows with and without one of them."""
    chance = sampling_of(epsilon)
    for rows in range(1, 150):
        with_row = published(rows, chance, k)
        without = published(rows - 1, chance, k)
        for one, other in ((with_row, without), (without, with_row)):
            assert np.maximum(one - exp(epsilon) * other, 0).sum() <= delta_of(k, epsilon) * (1 + 1e-6) + 1e-12


def published(rows: int, chance: float, k: int) -> np.ndarray:
    """How likely each outcome is: so many rows published, or none."""
    from scipy.stats import binom

    likely = np.zeros(151)
    likely[: rows + 1] = binom.pmf(np.arange(rows + 1), rows, chance)
    likely[0] += likely[1:k].sum()
    likely[1:k] = 0
    return likely


def test_epsilon_is_shared_by_search_and_rows() -> None:
    promise = DifferentialPrivacy(2.0, 1e-5)
    assert promise.search_epsilon == pytest.approx(0.2)
    assert promise.sampling == pytest.approx(1 - exp(-1.8))
    assert promise.k == least_k(1.8, 1e-5, 0.2) == floor(promise.k)


@pytest.mark.parametrize("wrong", [(0.0, 1e-5, 0.1), (1.0, 0.0, 0.1), (1.0, 1.0, 0.1), (1.0, 1e-5, 1.0)])
def test_what_promises_nothing_is_refused(wrong: tuple[float, float, float]) -> None:
    with pytest.raises(PlanError, match="epsilon"):
        DifferentialPrivacy(*wrong)
