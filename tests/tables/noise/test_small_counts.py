"""Small count rounding: no small published cell is left, totals follow, and stay as close as can be."""

from itertools import product

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.tables.deadline import within
from sfumato.tables.noise.rounding import inner_sums, round_small_counts


@pytest.mark.parametrize("inner_shown", [True, False])
def test_no_small_count_is_left_and_totals_are_close(make_table, inner_shown):
    for seed in range(8):
        values, relations = make_table(("tree", "flat"), seed, 6)
        sums = inner_sums(relations, len(values))
        shown = np.ones(len(values), bool)
        if not inner_shown:
            shown[sums.inner] = False
        rounded = round_small_counts(values, 3.0, relations, shown, within(10))
        left = rounded.published[shown]
        assert not ((left > 0) & (left < 3)).any()
        assert np.abs(relations.residuals(rounded.published)).max() == 0
        inner = values[sums.inner]
        assert rounded.change == pytest.approx(_least(values, inner, sums, shown))


def _least(values, inner, sums, shown):
    small_cells = shown & (values > 0) & (values < 3)
    small = (np.asarray(sums.matrix[small_cells].sum(axis=0)).ravel() > 0) & (inner > 0)
    best = np.inf
    for chosen in product((0.0, 3.0), repeat=int(small.sum())):
        tried = inner.copy()
        tried[small] = chosen
        best = min(best, np.abs(sums.matrix @ tried - values)[shown].sum())
    return best


def test_larger_inner_cells_stay(make_table):
    values, relations = make_table(("tree", "three"), 1, 9)
    sums = inner_sums(relations, len(values))
    rounded = round_small_counts(values, 5.0, relations, np.ones(len(values), bool), within(10))
    large = values[sums.inner] >= 5
    assert (rounded.published[sums.inner][large] == values[sums.inner][large]).all()


def test_negative_values_are_refused(make_table):
    values, relations = make_table(("flat", "flat"), 1)
    with pytest.raises(DataError):
        round_small_counts(-values, 5.0, relations, np.ones(len(values), bool), within(10))
