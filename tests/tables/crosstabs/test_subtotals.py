"""Subtotals found by their numbers: beside their parts in tables of any size, scattered ones in those of some size."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.tables.crosstabs.subtotals import SEVERAL, AmbiguousSums, Sum, adds_up, find_sums
from sizes import size


def sums_of(rows, margins=(), **more):
    lines = np.array(rows, float).reshape(len(rows), -1)
    return find_sums(lines, np.isin(np.arange(len(lines)), margins), **more)


def regions(count, wards, columns, seed=1):
    """Wards with their region after them, region after region."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        part = rng.integers(11, 90, (wards, columns))
        rows += [*part, part.sum(axis=0)]
    return np.array(rows, float)


@pytest.mark.parametrize("order", [1, -1])
def test_blocks_of_blocks_are_found_before_and_after_their_parts(order):
    rows = [[3, 50], [40, 60], [43, 110], [70, 80], [20, 31], [90, 111], [133, 221]][::order]
    found = sums_of(rows)
    expected = [Sum(2, (0, 1)), Sum(5, (3, 4)), Sum(6, (2, 5))]
    if order < 0:
        expected = [Sum(6 - one.total, tuple(sorted(6 - part for part in one.parts))) for one in expected]
    assert set(expected) <= set(found.sums)
    assert found.doubt is None


def test_regions_before_their_wards_with_a_total_after_all():
    rows = [[43, 110], [3, 50], [40, 60], [90, 111], [70, 80], [20, 31], [133, 221]]
    assert {Sum(0, (1, 2)), Sum(3, (4, 5)), Sum(6, (0, 3))} <= set(sums_of(rows).sums)


def test_an_equal_line_does_not_hide_a_sum():
    assert {Sum(2, (0, 1)), Sum(4, (2, 3))} <= set(sums_of([5, 20, 25, 25, 50]).sums)


def test_an_accident_beside_it_does_not_hide_a_subtotal():
    assert {Sum(2, (0, 1)), Sum(4, (0, 1, 2, 3))} <= set(sums_of([5, 20, 25, 30, 80, 7]).sums)


def test_large_tables_keep_their_subtotals():
    found = sums_of(regions(4, 15, 3))
    assert {(one.total, len(one.parts)) for one in found.sums} >= {(15, 15), (31, 15), (47, 15), (63, 15)}
    assert found.doubt is None


def test_a_grand_total_of_all_others_leaves_no_room_for_accidents():
    assert sums_of([5, 20, 25, 50], margins=[3]).sums == (Sum(3, (0, 1, 2)),)
    assert Sum(2, (0, 1)) in sums_of([5, 20, 25, 50]).sums


def test_scattered_subtotals_are_found():
    rng = np.random.default_rng(4)
    lines = rng.integers(11, 90, (20, 3)).astype(float)
    lines[7] = lines[[1, 12, 15]].sum(axis=0)
    assert find_sums(lines, np.zeros(20, bool)).sums == (Sum(7, (1, 12, 15)),)
    assert find_sums(lines, np.zeros(20, bool), scattered=False).sums == ()


def test_doubt_is_told():
    rng = np.random.default_rng(5)
    assert sums_of(rng.integers(1, 40, 25)).doubt is AmbiguousSums.AMBIGUOUS
    assert sums_of(rng.integers(11, 900, (300, 2))).doubt is AmbiguousSums.UNSEARCHED
    assert sums_of(rng.integers(1, 40, 25), scattered=False).doubt is None


def test_a_line_may_add_up():
    lines = np.array([[5.0], [40.0], [80.0], [125.0]])
    assert adds_up(lines, 3)
    assert not adds_up(lines, 2)


@settings(max_examples=size(60, 200), deadline=None)
@given(st.lists(st.integers(0, 8), min_size=2, max_size=9))
def test_small_numbers_prove_nothing_so_every_sum_is_kept_or_refused(values):
    found = sums_of(values)
    used = [line for line, value in enumerate(values) if value]
    crowded = False
    for total in used if len(used) > 1 else ():
        ways = _ways(values, total, [line for line in used if line != total])
        crowded |= len(ways) > SEVERAL
        assert len(ways) > SEVERAL or ways <= {one.parts for one in found.sums if one.total == total}
    assert found.doubt is (AmbiguousSums.AMBIGUOUS if crowded else None)


def _ways(values, total, others):
    chosen = (parts for size in range(1, len(others) + 1) for parts in combinations(others, size))
    return {parts for parts in chosen if sum(values[part] for part in parts) == values[total]}
