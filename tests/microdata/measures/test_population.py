"""Population uniqueness: each estimator finds the truth of a population made by its own model."""

import numpy as np
import pytest

from sfumato.errors import PlanError
from sfumato.microdata.measures.population import pitman, snb, uniqueness, zayatz


def sampled(persons, fraction, seed=1):
    """The classes that a random sample of a population shows."""
    sizes = np.random.default_rng(seed).binomial(persons, fraction)
    return sizes[sizes > 0]


def pitman_population(rows, theta, alpha, seed=1):
    """Sizes of classes drawn one person at a time by Pitman's formula."""
    random = np.random.default_rng(seed)
    sizes, seats = [1], [0]
    for row in range(1, rows):
        if random.random() < (theta + alpha * len(sizes)) / (theta + row):
            seats.append(len(sizes))
            sizes.append(1)
            continue
        while True:
            place = seats[int(random.integers(row))]
            if random.random() < (sizes[place] - alpha) / sizes[place]:
                break
        seats.append(place)
        sizes[place] += 1
    return np.array(sizes)


@pytest.mark.parametrize("fraction", [0.05, 0.2])
def test_pitman_finds_the_uniques_of_its_own_population(fraction):
    persons = pitman_population(60_000, 40, 0.6)
    found = pitman(sampled(persons, fraction), int(persons.sum()))
    assert found.share == pytest.approx((persons == 1).sum() / persons.sum(), rel=0.15)


@pytest.mark.parametrize("fraction", [0.1, 0.3, 0.6])
def test_snb_finds_the_uniques_of_its_own_population(fraction):
    persons = 1 + np.random.default_rng(2).negative_binomial(0.5, 0.1, 80_000)
    found = snb(sampled(persons, fraction), int(persons.sum()))
    assert found.share == pytest.approx((persons == 1).sum() / persons.sum(), rel=0.1)


def test_zayatz_worked_by_hand():
    # Sample of 4 of 8, classes 1, 1, 2: shares of classes 2/3 and 1/3. One row of a class of F persons is drawn with
    # F C(8-F, 3) / C(8, 4): 35/70 for F = 1, 40/70 for F = 2. So 2/3 35 / (2/3 35 + 1/3 40) = 7/11 of the two unique
    # rows are unique among the persons, and in all 2 7/11 / (4/8).
    found = zayatz(np.array([1, 1, 2]), 8)
    assert found.uniques == pytest.approx(2 * (7 / 11) * 2)


def test_dankars_rule_chooses():
    persons = pitman_population(30_000, 40, 0.6)
    small, large = uniqueness(sampled(persons, 0.05), 30_000), uniqueness(sampled(persons, 0.4), 30_000)
    assert small.dankar.uniques == small.pitman.uniques and "pitman" in small.dankar.reason
    assert large.dankar.uniques == min(large.snb.uniques or np.inf, large.zayatz.uniques)


@pytest.mark.parametrize(
    ("sizes", "size", "expected"),
    [([1, 1, 3], 5, 2), ([2, 3, 4], 1000, 0)],
    ids=["the data are the population", "no unique row"],
)
def test_cases_that_need_no_estimate(sizes, size, expected):
    found = uniqueness(np.array(sizes), size)
    for estimate in (found.pitman, found.zayatz, found.snb, found.dankar):
        assert estimate.uniques == expected and estimate.reason


def test_undefined_cases_say_so():
    every = uniqueness(np.ones(50, np.int64), 5000)
    assert every.pitman.uniques is None and "every row is unique" in every.pitman.reason
    assert every.dankar.uniques is not None
    assert pitman(np.array([5]), 50).reason == "there is one class only: the likelihood has no maximum"
    assert "does not converge" in snb(np.array([1] * 50 + [400]), 100_000).reason


@pytest.mark.parametrize("population_size", [10**6, 10**9, 10**12])
def test_huge_populations_have_estimates(population_size):
    found = uniqueness(np.repeat([1, 2, 3], [200, 50, 20]), population_size)
    for estimate in (found.pitman, found.zayatz, found.snb, found.dankar):
        assert estimate.uniques is None or 0 <= estimate.uniques <= population_size
    assert found.zayatz.share == pytest.approx(0.3086, rel=0.01)  # what it tends to as the population grows


@pytest.mark.parametrize("population_size", [10**12 + 1, 10**40, 10**400])
def test_a_population_larger_than_any_is_refused(population_size):
    with pytest.raises(PlanError, match="population_size: must be at most 1000000000000"):
        uniqueness(np.array([1, 1, 2]), population_size)
