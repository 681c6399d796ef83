"""The two bucket rules and the assignment of values to buckets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.attributes.operations.scales import assign, number_of_buckets, unique99

FORMULA = [((20, 1), 3), ((16, 1), 2), ((10, 2), 1), ((1000, 3), 4), ((1000, 1), 87), ((1, 1), 1), ((0, 1), 1)]
numbers = st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=60)


@pytest.mark.parametrize(("sizes", "expected"), FORMULA)
def test_formula(sizes, expected):
    assert unique99(*sizes) == expected


@pytest.mark.parametrize("records", [1, 5, 50, 500, 5000])
@pytest.mark.parametrize("attributes", [1, 2, 5])
def test_formula_as_it_is_written(records, attributes):
    plain = 1 / (1 - (1 - 0.99 ** (1 / records)) ** (1 / records)) ** (1 / attributes)
    assert unique99(records, attributes) == max(1, int(plain))


@pytest.mark.parametrize(("rule", "expected"), [("sqrt", 4), ("unique99", 3), (7, 7), (50, 20)])
def test_rules(rule, expected):
    assert number_of_buckets(rule, 20, 1) == expected


def test_equally_full_and_midpoints():
    codes, low, high = assign(np.array([100.0, 1.0, 3.0, 2.0, 10.0, 50.0, 4.0]), 3)
    assert codes.tolist() == [2, 0, 0, 0, 1, 2, 1]  # position i of 7 goes to 3·i div 7
    assert low.tolist() == [1.0, 3.5, 30.0]
    assert high.tolist() == [3.5, 30.0, 100.0]


def test_value_on_a_border_is_kept_together():
    """By position alone, the third 5 of six values would go to another bucket than the other two."""
    codes, low, high = assign(np.array([1.0, 5.0, 5.0, 5.0, 8.0, 9.0]), 2)
    assert codes.tolist() == [0, 0, 0, 0, 1, 1]
    assert (low.tolist(), high.tolist()) == ([1.0, 6.5], [6.5, 9.0])


def test_what_ties_leave_alone_is_merged():
    codes, low, high = assign(np.array([1.0] * 7 + [2.0]), 2)
    assert codes.tolist() == [0] * 8
    assert (low.tolist(), high.tolist()) == ([1.0], [2.0])


def test_bounds_of_huge_values_are_finite():
    _, _, high = assign(np.array([1.5e308, 1.6e308, 1.7e308, 1.75e308]), 2)
    assert np.isfinite(high).all()


@settings(max_examples=200, deadline=None)
@given(numbers, st.integers(1, 80))
def test_equal_values_share_a_bucket_that_covers_them(values, wanted):
    array = np.array(values)
    buckets = min(wanted, len(values))
    codes, low, high = assign(array, buckets)
    assert len(low) <= buckets
    assert ((low[codes] <= array) & (array <= high[codes])).all()
    for value in set(values):
        assert len(set(codes[array == value].tolist())) == 1
    order = np.argsort(array, kind="stable")
    assert (np.diff(codes[order]) >= 0).all()
    sizes = np.bincount(codes)
    if len(values) // buckets >= 2:
        assert sizes.min() >= 2


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(-5000, 5000), min_size=1, max_size=60), st.integers(1, 60))
def test_distinct_values_go_where_their_position_says(values, wanted):
    ordered = sorted(values)
    buckets = min(wanted, len(ordered))
    codes, _, _ = assign(np.array(ordered, float), buckets)
    assert codes.tolist() == [buckets * place // len(ordered) for place in range(len(ordered))]
