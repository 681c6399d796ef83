"""Which counts a published one may have been, for a reader who has the perturbation table."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.tables.cells.system import Bounds
from sfumato.tables.noise.feasibility_intervals import hull_of, possible_counts, possible_counts_of, snapped
from sfumato.tables.noise.ptable import Ptable, PtableRow, make_ptable
from sfumato.tables.plan.sections import CellKey

TWO = Ptable(
    tuple(
        PtableRow(count, count + np.array(noise), np.array(chances))
        for count, noise, chances in [
            (1, [-1, 3], [0.75, 0.25]),
            (2, [-2, 0, 2], [0.25, 0.5, 0.25]),
            (3, [-3, 0, 3], [0.25, 0.5, 0.25]),
            (4, [-1, 0, 1], [0.25, 0.5, 0.25]),
        ]
    )
)


@pytest.mark.parametrize("table", [TWO, make_ptable(CellKey(deviation=3, variance=3.0, js=1))])
def test_possible_counts_are_those_that_are_published_so(table):
    chances = np.linspace(0, 1, 2001, endpoint=False)
    published = {count: set((count + table.noise(np.full(2001, count), chances)).tolist()) for count in range(30)}
    for number in range(20):
        expected = [count for count, numbers in published.items() if number in numbers]
        assert possible_counts_of(table, number, 0.0).counts.tolist() == expected


def test_a_share_of_empty_cells_may_be_published_as_the_least_number():
    assert 0 in possible_counts_of(TWO, TWO.js + 1, 0.2).counts
    assert 0 not in possible_counts_of(TWO, TWO.js + 1, 0.0).counts


def test_who_is_almost_always_right_knows():
    table = make_ptable(CellKey(deviation=5, variance=1e-4))
    (known,) = possible_counts(table, np.array([2.0]), 0.0, np.array([2.0]))
    assert known.tolist() == [2]
    (misled,) = possible_counts(table, np.array([3.0]), 0.0, np.array([2.0]))
    assert len(misled) > 1


def test_a_number_that_no_count_is_published_as_is_refused():
    with pytest.raises(DataError, check=coded("data.contradiction.impossible_number")):
        possible_counts(make_ptable(CellKey(deviation=3, variance=3.0, js=1)), np.array([1.0]), 0.0)


def test_ends_lie_on_possible_counts():
    possible = [np.array([0, 1, 5]), np.array([2])]
    assert hull_of(possible).high.tolist() == [5, 2]
    ranges = snapped(Bounds(np.array([0.0, 2.0]), np.array([4.0, 2.0])), possible)
    assert (ranges.low.tolist(), ranges.high.tolist()) == ([0, 2], [1, 2])
