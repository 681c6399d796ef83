"""Microaggregation: known losses to the digit, optimal partitions of one column, blocks that lose little more."""

from itertools import combinations
from time import process_time

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.microdata.perturbation.kernels import nearest_groups
from sfumato.microdata.perturbation.microaggregation import (
    _sorted_places,
    blocks_of,
    groups_of,
    information_loss,
    means_of,
)
from sizes import size

KNOWN = {
    "census1080": {3: (5.6922, 5.25), 5: (9.0884, 8.21), 10: (14.1559, 12.35)},
    "tarragona834": {3: (16.9326, 14.90), 5: (22.4619, 20.76), 10: (33.1929, 30.81)},
}


def sizes_of(groups: np.ndarray) -> np.ndarray:
    return np.bincount(groups)


@pytest.mark.shared
@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("k", [3, 5, 10])
def test_files_of_the_literature(shared, name, k) -> None:
    values = pl.read_csv(shared / "casc" / f"{name}.csv").to_numpy().astype(float)
    plain = groups_of(values, k, refine=False)
    assert round(information_loss(values, plain), 4) == KNOWN[name][k][0]
    refined = groups_of(values, k)
    begin = process_time()
    assert (groups_of(values, k) == refined).all()
    assert process_time() - begin < size(6.0, 1.5)  # under 1 s on a machine that has nothing else to do
    assert information_loss(values, refined) <= KNOWN[name][k][1]
    assert sizes_of(refined).min() >= k and sizes_of(refined).max() < 2 * k


@pytest.mark.parametrize("decimals", [1, 15])
def test_the_order_of_records_does_not_matter(decimals) -> None:
    draw = np.random.default_rng(4)
    values = draw.lognormal(3, 1, (150, 4)).round(decimals)
    published = means_of(values, groups_of(values, 3))
    for _ in range(4):
        order = draw.permutation(len(values))
        assert (means_of(values[order], groups_of(values[order], 3)) == published[order]).all()


@given(st.lists(st.integers(0, 30), min_size=1, max_size=10), st.integers(2, 3))
def test_one_column_is_partitioned_optimally(values, k) -> None:
    column = np.array(values, float)[:, None]
    groups = groups_of(column, k)
    assert len(values) < 2 * k or sizes_of(groups).min() >= k
    ordered = sorted(values)

    def cost(part: list[int]) -> float:
        return float(((np.array(part) - np.mean(part)) ** 2).sum())

    best = (
        min(
            sum(cost(ordered[begin:end]) for begin, end in zip((0, *cuts), (*cuts, len(ordered)), strict=True))
            for number in range(len(ordered) // k)
            for cuts in combinations(range(1, len(ordered)), number)
            if all(end - begin >= k for begin, end in zip((0, *cuts), (*cuts, len(ordered)), strict=True))
        )
        if len(ordered) >= k
        else cost(ordered)
    )
    assert ((column - means_of(column, groups)) ** 2).sum() == pytest.approx(best, abs=1e-8)


@given(st.integers(1, 40), st.integers(1, 3), st.integers(2, 5), st.integers(0, 99))
def test_groups_are_large_enough_and_means_stay(rows, width, k, seed) -> None:
    values = np.random.default_rng(seed).integers(0, 4, (rows, width)).astype(float)
    groups = groups_of(values, k)
    assert sizes_of(groups).min() >= min(k, rows)
    published = means_of(values, groups)
    assert published.mean(axis=0) == pytest.approx(values.mean(axis=0))
    assert len(np.unique(published, axis=0)) <= groups.max() + 1


def correlated(rows: int, seed: int = 5) -> np.ndarray:
    random = np.random.default_rng(seed)
    common = random.normal(size=(rows, 2))
    values = common @ random.normal(size=(2, 6)) + random.normal(size=(rows, 6))
    return np.exp(values / 2)


def test_refining_only_gains() -> None:
    values = correlated(300)
    for k in (3, 7):
        plain, refined = (groups_of(values, k, refine=refine) for refine in (False, True))
        assert information_loss(values, refined) < information_loss(values, plain)


def test_blocks_hold_every_record_once_and_lose_little_more() -> None:
    values = correlated(20_000)
    blocks = list(blocks_of(values, 1_000))
    assert len(blocks) >= 10
    assert np.sort(np.concatenate(blocks)).tolist() == list(range(len(values)))
    plain = information_loss(values, groups_of(values, 5, refine=False, block=len(values)))
    assert information_loss(values, groups_of(values, 5, block=1_000)) <= 1.1 * plain


DRAW = np.random.default_rng(11)
CENTERS = DRAW.normal(size=(30, 5)) * 8
SHAPES = {
    "lognormal": DRAW.lognormal(0, 1.2, (6_000, 5)),
    "clustered": CENTERS[DRAW.integers(0, 30, 6_000)] + DRAW.normal(size=(6_000, 5)),
    "heavy tails": DRAW.pareto(2.5, (6_000, 5)),
    "normal": DRAW.normal(size=(6_000, 5)),
}


@pytest.mark.parametrize("values", SHAPES.values(), ids=SHAPES)
def test_blocks_lose_hardly_more_than_all_records_together_whatever_their_shape(values) -> None:
    together = information_loss(values, groups_of(values, 5, refine=False, block=len(values)))
    groups = groups_of(values, 5, block=500)
    assert np.bincount(groups).min() >= 5
    assert information_loss(values, groups) <= 1.03 * together


def test_blocks_of_equal_records_and_of_one_direction() -> None:
    equal = np.tile([[1.0, 2.0], [1.0, 2.0], [5.0, 9.0]], (400, 1))
    assert np.bincount(groups_of(equal, 4, block=50)).min() >= 4
    assert information_loss(equal, groups_of(equal, 4, block=50)) < 1


def test_records_are_sorted_by_all_columns() -> None:
    draw = np.random.default_rng(7)
    values = draw.integers(0, 3, (500, 3)).astype(float)
    assert (values[_sorted_places(values)] == values[np.lexsort(values.T[::-1])]).all()


def test_the_nearest_groups_are_those_of_the_least_distances() -> None:
    draw = np.random.default_rng(8)
    points, means = draw.integers(0, 4, (20, 3)).astype(float), draw.integers(0, 4, (3, 30)).astype(float)
    for one in range(len(points)):
        rivals = np.zeros(5, np.int64)
        nearest_groups(points, one, means, rivals, np.empty(30))
        distances = ((means.T - points[one]) ** 2).sum(axis=1)
        assert sorted(np.argsort(distances, kind="stable")[:5]) == rivals.tolist()
