"""Models that look at rows as a sample: unique rows that may stay, and the k that rows stand for by estimate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses
from sfumato.microdata.models.population_lists import KMap
from sfumato.microdata.models.uniqueness import SampleUniqueness


def classes(*sizes):
    return EquivalenceClasses(np.array(sizes, np.int64))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]))
def test_as_many_unique_rows_are_lost_as_have_to_be(sizes, threshold):
    model = SampleUniqueness(threshold)
    lost = model.global_suppression_lower_bound(classes(*sizes))
    unique, others = sizes.count(1), sum(size for size in sizes if size > 1)
    kept = unique - lost
    assert kept <= threshold * (others + kept) + 1e-6
    if lost:
        assert kept + 1 > threshold * (others + kept + 1) + 1e-9


def test_a_threshold_of_all_rows_asks_for_nothing():
    model, some = SampleUniqueness(1.0), classes(1, 1, 3)
    assert not model.violating(some, some).any()
    assert not model.classes_to_suppress(some).any()
    assert (model.is_satisfied(some), model.global_suppression_lower_bound(some), model.infeasibility(classes(1))) == (
        True,
        0,
        None,
    )


def test_a_single_row_is_unique_whatever_is_done():
    reason = SampleUniqueness(0.5).infeasibility(classes(1))
    assert reason is not None and reason.code == "reason.one_row"
    assert SampleUniqueness(0.5).infeasibility(classes(2)) is None


@given(st.integers(2, 9), st.integers(1, 40), st.sampled_from([0.1, 0.3, 0.8]))
def test_the_k_reached_by_estimate_is_the_greatest_that_the_rows_are_enough_for(k, rows, fraction):
    some = classes(rows, rows + 3)
    reached = KMap(k, sampling_fraction=fraction).achieved(some, some)
    enough = [one for one in range(1, reached + 60) if KMap(one, sampling_fraction=fraction).min_class_size <= rows]
    assert reached == max(enough)


def test_nothing_published_reaches_nothing():
    assert KMap(3, sampling_fraction=0.1).achieved(classes(), classes(4)) == 0


@pytest.mark.parametrize("parts", [{}, {"sampling_fraction": 0.0}, {"sampling_fraction": 0.1, "significance": 1.0}])
def test_samples_that_are_none_are_refused(parts):
    with pytest.raises(PlanError, match="sampling_fraction"):
        KMap(3, **parts)
