"""Record linkage of perturbed numbers: before, after, and for persons who are not in the file."""

import numpy as np
import pytest

from sfumato.microdata.keyed_random import uniforms
from sfumato.microdata.measures.perturbed import NEAR_DEVIATION, figures_of
from sfumato.microdata.perturbation.microaggregation import groups_of, means_of

NAMES = ("a", "b")


def figures(before, after):
    return figures_of(NAMES, before, after, "key:")


def brute_force(raw, published, left_out):
    """The share of values near those of the nearest published row, one row after the other."""
    spread, mean = raw.std(axis=0), raw.mean(axis=0)
    raw, published = (raw - mean) / spread, (published - mean) / spread
    near = 0
    for row, person in enumerate(raw):
        gaps = ((published - person) ** 2).sum(axis=1)
        if left_out:
            gaps[(published == published[row]).all(axis=1)] = np.inf
        if np.isfinite(gaps).any():
            near += int((np.abs(person - published[gaps.argmin()]) <= NEAR_DEVIATION).sum())
    return near / raw.size


@pytest.mark.parametrize("k", [1, 4, 60])
def test_what_is_learned_equals_brute_force(k):
    raw = np.random.default_rng(3).normal(size=(60, 2))
    after = raw.copy() if k == 1 else means_of(raw, groups_of(raw, k))
    shown = figures(raw, after)
    assert shown["learned_by_linkage"] == brute_force(raw, after, left_out=False)
    assert shown["learned_of_others"] == brute_force(raw, after, left_out=True)
    assert shown["linked_by_distance_before"] == 1.0


def test_raw_rows_tell_all_and_equal_rows_are_told_apart_by_nobody():
    raw = np.repeat(np.random.default_rng(4).normal(size=(20, 2)), 2, axis=0)
    shown = figures(raw, raw)
    assert (shown["linked_by_distance_before"], shown["learned_by_linkage"]) == (0.5, 1.0)
    assert shown["learned_of_others"] < 0.5


def brute_force_by_weight(raw, published, left_out):
    """The probability of taking the own row, and the share of values learned, by weights of agreement."""
    spread, mean = raw.std(axis=0), raw.mean(axis=0)
    raw, published = (raw - mean) / spread, (published - mean) / spread
    reach = np.maximum(np.abs(raw - published).mean(axis=0), 1e-12)
    others = (uniforms("key:others:", len(raw)) * len(raw)).astype(int)
    own = np.clip((np.abs(raw - published) <= reach).mean(axis=0), 1e-6, 1 - 1e-6)
    chance = np.clip((np.abs(raw - published[others]) <= reach).mean(axis=0), 1e-6, 1 - 1e-6)
    linked, near = 0.0, 0
    for row, person in enumerate(raw):
        agrees = np.abs(published - person) <= reach
        weights = np.where(agrees, np.log(own / chance), np.log((1 - own) / (1 - chance))).sum(axis=1)
        if left_out:
            weights[(published == published[row]).all(axis=1)] = -np.inf
        best = np.flatnonzero(weights >= weights.max() - 1e-12)
        if np.isfinite(weights.max()):
            linked += (row in best) / len(best)
            near += int((np.abs(person - published[best[0]]) <= NEAR_DEVIATION).sum())
    return linked / len(raw), near / raw.size


@pytest.mark.parametrize("k", [1, 4, 60])
def test_linkage_by_probability_equals_brute_force(k):
    raw = np.random.default_rng(5).normal(size=(60, 2))
    after = raw.copy() if k == 1 else means_of(raw, groups_of(raw, k))
    shown = figures(raw, after)
    linked, learned = brute_force_by_weight(raw, after, left_out=False)
    assert shown["linked_by_probability"] == pytest.approx(linked)
    assert shown["learned_by_probability"] == pytest.approx(learned)
    assert shown["learned_of_others_by_probability"] == pytest.approx(brute_force_by_weight(raw, after, True)[1])
    assert shown["linked_by_probability_before"] == 1.0


def test_figures_of_a_column_are_about_all_rows_that_have_its_number():
    raw = np.column_stack([np.arange(100.0), np.arange(100.0)])
    raw[:20, 0] = np.nan
    after = raw.copy()
    after[:, 1] = np.roll(raw[:, 1], 7)
    shown = figures(raw, after)
    assert (shown["rows"], shown["incomplete_rows"]) == (80, 20)
    assert all(before == now for before, now in shown["quantiles"]["b"].values())
    assert shown["quantiles"]["b"]["0.5"][0] == 49.5 and shown["quantiles"]["a"]["0.5"][0] == 59.5
    gaps = np.abs(raw[:, 1] - after[:, 1]) / raw[:, 1].std()
    assert shown["near_in_deviation"] == {"a": 1.0, "b": (gaps <= NEAR_DEVIATION).mean()}
    assert shown["il1s"] == pytest.approx(gaps.sum() / np.sqrt(2) / 180)


def test_columns_that_no_row_has_together_are_measured_one_by_one():
    raw = np.full((10, 2), np.nan)
    raw[:5, 0] = raw[5:, 1] = np.arange(5.0)
    shown = figures(raw, raw)
    assert shown["near_in_rank"] == {"a": 1.0, "b": 1.0} and "linked_by_distance" not in shown
    nothing = np.full((3, 2), np.nan)
    assert figures(nothing, nothing) == {"rows": 0, "incomplete_rows": 3}
