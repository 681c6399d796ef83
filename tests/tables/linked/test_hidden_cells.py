"""Cells that no table shows: values that they may have, from what ties them to those that are shown."""

import numpy as np
import pytest

from sfumato.errors import UnattainableError
from sfumato.tables.cells.system import make_constraints
from sfumato.tables.linked.ties import possible_values

# A total of three parts, of which two make a part of another table.
TIES = make_constraints([([0, 1, 2, 3], [-1, 1, 1, 1]), ([4, 1, 2], [-1, 1, 1])])


def test_values_that_are_all_shown_are_handed_back():
    values = np.array([6.0, 1, 2, 3, 3])
    assert possible_values(values, np.ones(5, bool), TIES, 1.0, 0.0) is values


@pytest.mark.parametrize("step", [1.0, 0.01])
def test_unshown_cells_get_whole_steps_that_add_up(step):
    values = np.array([600, np.nan, 200, 300, np.nan]) * step
    filled = possible_values(values, ~np.isnan(values), TIES, step, 0.0)
    assert filled == pytest.approx(np.array([600, 100, 200, 300, 300]) * step)
    assert np.isnan(values).sum() == 2, "what was handed over is left as it was"


def test_below_nothing_is_possible_only_where_something_shown_is():
    free = np.array([5.0, np.nan, 0, 9, np.nan])
    with pytest.raises(UnattainableError, match="no table shows") as caught:
        possible_values(free, ~np.isnan(free), TIES, 1.0, 0.0)
    assert caught.value.code.endswith("joint-size")
    below = np.array([5.0, np.nan, -1, 9, np.nan])
    assert possible_values(below, ~np.isnan(below), TIES, 1.0, 0.0)[[1, 4]].tolist() == [-3, -4]


def test_totals_may_be_rounded_as_far_as_is_said():
    rounded = np.array([11.0, np.nan, 6, 6, np.nan])
    with pytest.raises(UnattainableError):
        possible_values(rounded, ~np.isnan(rounded), TIES, 1.0, 0.5)
    assert possible_values(rounded, ~np.isnan(rounded), TIES, 1.0, 1.0)[1] == 0
