"""What a reader computes: the same as trying every table that agrees with what is published."""

import time
from itertools import product

import numpy as np

from sfumato.tables.cells.system import Bounds, make_constraints
from sfumato.tables.deadline import within
from sfumato.tables.noise.feasibility_intervals import feasibility_intervals

# A two-way table with its margins: cells 0 to 3 inner, 4 and 5 rows, 6 and 7 columns, 8 all.
TWO_WAY = make_constraints(
    [
        ([4, 0, 1], [-1, 1, 1]),
        ([5, 2, 3], [-1, 1, 1]),
        ([6, 0, 2], [-1, 1, 1]),
        ([7, 1, 3], [-1, 1, 1]),
        ([8, 4, 5], [-1, 1, 1]),
        ([8, 6, 7], [-1, 1, 1]),
    ]
)


def whole_table(inner):
    a, b, c, d = inner
    return np.array([a, b, c, d, a + b, c + d, a + c, b + d, a + b + c + d], float)


def test_ranges_are_those_of_all_tables_that_agree():
    rng = np.random.default_rng(5)
    tables = [whole_table(inner) for inner in product(range(13), repeat=4)]
    for _ in range(3):
        values = whole_table(rng.integers(0, 9, 4))
        published = np.round(values / 5) * 5
        start = Bounds(np.maximum(published - 2, 0), published + 2)
        agreeing = np.array([one for one in tables if ((one >= start.low) & (one <= start.high)).all()])
        reader = feasibility_intervals(start, TWO_WAY, np.zeros(9, bool), 1.0, within(10), values)
        assert reader.attained.all()
        assert np.array_equal(reader.ranges.low, agreeing.min(axis=0))
        assert np.array_equal(reader.ranges.high, agreeing.max(axis=0))


def test_without_time_ranges_are_wider_but_true():
    values = whole_table([1, 7, 3, 2])
    published = np.round(values / 5) * 5
    start = Bounds(np.maximum(published - 2, 0), published + 2)
    exact = feasibility_intervals(start, TWO_WAY, np.zeros(9, bool), 1.0, within(10), values).ranges
    quick = feasibility_intervals(start, TWO_WAY, np.zeros(9, bool), 1.0, within(0), values).ranges
    assert (quick.low <= exact.low).all() and (quick.high >= exact.high).all()
    assert (quick.low <= values).all() and (quick.high >= values).all()


def test_time_is_kept_and_what_was_not_computed_is_said():
    size = 9
    places = np.arange((size + 1) ** 3).reshape((size + 1,) * 3)
    lines = [line for axis in range(3) for line in np.moveaxis(places, axis, 2).reshape(-1, size + 1).tolist()]
    relations = make_constraints([(line, [-1.0] + [1.0] * size) for line in lines])
    inner = np.random.default_rng(1).integers(0, 30, (size,) * 3).astype(float)
    for axis in range(3):
        inner = np.concatenate([inner.sum(axis=axis, keepdims=True), inner], axis=axis)
    values = inner.ravel()
    published = np.floor(values / 5) * 5
    start = Bounds(np.maximum(published - 4, 0), published + 4)
    unsafe = values < 3
    before = time.monotonic()
    some = feasibility_intervals(start, relations, unsafe, 1.0, within(0.3), values)
    assert time.monotonic() - before < 20
    assert (some.ranges.low <= values).all() and (some.ranges.high >= values).all()
    assert not feasibility_intervals(start, relations, unsafe, 1.0, within(0), values).attained.all()
