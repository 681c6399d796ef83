"""What is drawn: noise, rank swapping, PRAM and swapped households do what they say, within stated error rates."""

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.microdata.keyed_random import normals, uniforms
from sfumato.microdata.perturbation.random_changes import (
    given_transition,
    invariant_transition,
    partners_of,
    randomized,
    rank_partners,
    risky_rows,
    with_noise,
)


def test_draws_are_uniform_and_normal_and_belong_to_their_key() -> None:
    drawn = uniforms("a", 100_000)
    assert drawn.min() >= 0 and drawn.max() < 1
    counts = np.bincount((drawn * 20).astype(int), minlength=20)
    # Chi-squared with 19 degrees of freedom exceeds 43.8 once in a thousand keys; this key is fixed.
    assert ((counts - 5_000) ** 2 / 5_000).sum() < 43.8
    assert (uniforms("a", 10) == drawn[:10]).all() and (uniforms("b", 10) != drawn[:10]).all()
    normal = normals("a", 100_001)
    # Four standard errors: fails once in 16,000 keys.
    assert abs(normal.mean()) < 4 / np.sqrt(1e5) and abs(normal.std() - 1) < 4 / np.sqrt(2e5)


def values_of(rows: int = 20_000) -> np.ndarray:
    random = np.random.default_rng(1)
    common = random.normal(size=rows)
    return np.column_stack(
        [3 * common + random.normal(size=rows), random.normal(size=rows) - common, random.gamma(2, size=rows)]
    )


def drawn(values: np.ndarray) -> np.ndarray:
    return np.column_stack([normals(f"{column}", len(values)) for column in range(values.shape[1])])


def test_numbers_of_persons_are_normal_and_belong_to_the_person_wherever_the_row_is() -> None:
    names = [f"person {place}" for place in range(100_000)]
    numbers = normals("a", len(names), names)
    assert abs(numbers.mean()) < 4 / np.sqrt(1e5) and abs(numbers.std() - 1) < 4 / np.sqrt(2e5)
    assert normals("a", 2, names[500:502]).tolist() == numbers[500:502].tolist()


def test_noise_has_the_spread_that_is_asked_for() -> None:
    values = values_of()
    noise = with_noise(values, drawn(values), 0.3, None, correlated=False) - values
    # A standard deviation of 20,000 numbers is off by more than 2 % once in 10,000 columns.
    assert noise.std(axis=0) == pytest.approx(0.3 * values.std(axis=0), rel=0.02)
    assert np.abs(np.corrcoef(noise, rowvar=False)[np.triu_indices(3, 1)]).max() < 4 / np.sqrt(len(values))


def test_correlated_noise_keeps_correlations_and_independent_noise_does_not() -> None:
    values = values_of()
    before = np.corrcoef(values, rowvar=False)[np.triu_indices(3, 1)]
    draws = drawn(values)
    kept = np.corrcoef(with_noise(values, draws, 0.5, None, correlated=True), rowvar=False)[np.triu_indices(3, 1)]
    lost = np.corrcoef(with_noise(values, draws, 0.5, None, correlated=False), rowvar=False)[np.triu_indices(3, 1)]
    # The standard error of a correlation of 20,000 rows is at most 0.0071: four of them.
    assert np.abs(kept - before).max() < 0.028
    assert np.abs(lost - before).max() > 0.1
    variances = with_noise(values, draws, 0.5, None, correlated=True).var(axis=0) / values.var(axis=0)
    assert variances == pytest.approx([1.25] * 3, rel=0.05)


def test_columns_that_depend_on_each_other_have_noise_that_does_too() -> None:
    values = values_of(500)[:, [0, 0]]
    noisy = with_noise(values, drawn(values), 0.5, None, correlated=True)
    assert noisy[:, 0] == pytest.approx(noisy[:, 1])


@pytest.mark.parametrize("share", [0.02, 0.2, 1.0])
def test_rank_swapping_keeps_the_distribution_exactly_and_the_distance(share) -> None:
    values = np.random.default_rng(3).permutation(1_000).astype(float)
    swapped = values[rank_partners(values, share, "key")]
    assert (np.sort(swapped) == np.sort(values)).all()
    assert np.abs(swapped - values).max() <= share * 1_000
    assert (swapped != values).mean() > 0.95


def test_rank_swapping_of_ties_and_of_one_row() -> None:
    assert rank_partners(np.array([7.0]), 0.5, "key").tolist() == [0]
    assert sorted(rank_partners(np.array([1.0, 1.0, 2.0]), 0.5, "key").tolist()) == [0, 1, 2]


def test_pram_keeps_expected_numbers_over_many_keys() -> None:
    counts = np.array([500, 300, 150, 50])
    codes = np.repeat(np.arange(4), counts)
    transition = invariant_transition("abcd", counts, 0.7)
    assert (counts @ transition.matrix) == pytest.approx(counts)
    assert transition.matrix.sum(axis=1) == pytest.approx([1] * 4)
    assert np.diag(transition.matrix).min() >= 0.7
    keys = 400
    numbers = np.array(
        [np.bincount(randomized(codes, transition, uniforms(f"{key}", 1000)), minlength=4) for key in range(keys)]
    )
    # The mean over keys of each number is normal with a known variance; chi-squared with 3 degrees of freedom (the
    # numbers add up) exceeds 16.3 once in a thousand runs; these keys are fixed.
    covariance = (
        sum(n * (np.diag(row) - np.outer(row, row)) for n, row in zip(counts, transition.matrix, strict=True)) / keys
    )
    off = (numbers.mean(axis=0) - counts)[:3]
    assert off @ np.linalg.inv(covariance[:3, :3]) @ off < 16.3


def test_a_given_matrix_is_followed_and_unknown_categories_are_refused() -> None:
    transition = given_transition(["a", "b"], {"a": {"a": 0.0, "b": 1.0}, "b": {"b": 1.0}}, "column")
    assert randomized(np.array([0, 1, 0]), transition, uniforms("key", 3)).tolist() == [1, 1, 1]
    with pytest.raises(DataError, match="not in the matrix"):
        given_transition(["a", "c"], {"a": {"a": 1.0}}, "column")


def test_households_change_regions_with_others_like_them() -> None:
    random = np.random.default_rng(4)
    sizes = random.integers(1, 4, 300)
    households = np.repeat(np.arange(300), sizes)
    regions = random.integers(0, 5, 300)[households]
    kind = random.integers(0, 2, len(households))[:, None]
    risky = random.random(len(households)) < 0.05
    partners = partners_of(households, regions, kind, risky, 0.2, "key")
    moved = np.unique(households[partners != np.arange(len(partners))])
    assert 0.15 <= len(moved) / 300 <= 0.45
    for household in moved:
        own, other = households == household, households == households[partners[households == household][0]]
        assert own.sum() == other.sum()
        assert regions[own][0] != regions[other][0]
        assert sorted(kind[own, 0].tolist()) == sorted(kind[other, 0].tolist())
        assert (regions[partners[own]] == regions[other][0]).all() and (
            regions[partners[other]] == regions[own][0]
        ).all()
    for size in (1, 2, 3):
        first = np.searchsorted(households, np.arange(300))
        of_size = sizes == size
        before = np.bincount(regions[first][of_size], minlength=5)
        after = np.bincount(regions[partners[first]][of_size], minlength=5)
        assert before.tolist() == after.tolist()


def test_risky_rows_are_those_with_few_like_them_in_their_region() -> None:
    regions, keys = np.array([0, 0, 0, 1]), np.array([[1], [1], [2], [1]])
    assert risky_rows(regions, keys, 2).tolist() == [False, False, True, True]
