"""Grouping by keys of several words: the loop's source against counting with a dictionary."""

from collections import Counter

import numpy as np
import pytest

from sfumato.microdata.counts import grouping_kernels


@pytest.mark.parametrize(("words", "capacity"), [(1, 8), (2, 8), (3, 64)])
def test_rows_of_the_same_words_are_one_class_in_the_order_they_come(words, capacity):
    rng = np.random.default_rng(words)
    # Few distinct keys, which differ in one word alone now and then, in a table so small that they collide.
    choices = rng.integers(0, 2, (words, 40)).astype(np.uint64) << np.uint64(40)
    counts = rng.integers(1, 9, 40)
    table, owner = np.zeros(capacity, np.int64), np.full(40, -1)
    out_keys, out_counts = np.zeros((words, 40), np.uint64), np.zeros(40, np.int64)
    loop = grouping_kernels._group_wide
    group = getattr(loop, "py_func", loop)
    with np.errstate(over="ignore"):
        classes = group(choices, counts, table, 1, out_keys, out_counts, owner)
    expected: Counter[tuple[int, ...]] = Counter()
    for row, key in enumerate(map(tuple, choices.T.tolist())):
        expected[key] += int(counts[row])
    assert list(map(tuple, out_keys[:, :classes].T.tolist())) == list(expected)
    assert out_counts[:classes].tolist() == list(expected.values())
    assert [list(expected).index(tuple(key)) for key in choices.T.tolist()] == owner.tolist()
