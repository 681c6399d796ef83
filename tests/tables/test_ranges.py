"""Published ranges: narrow, true, and the same for so many values that none is told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.tables.cells import make_relations
from sfumato.tables.protect import protect
from sfumato.tables.ranges import Grid, clusters, free_cells, rounded_up

pandas = pytest.importorskip("pandas")
PARTS = {
    "value": "n",
    "dimensions": {"area": {"column": "area"}},
    "primary": [{"rule": "frequency", "min": 5}],
    "method": "ranges",
}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([1.0, 2.0, 3.0, 7.0, 20.0]),
    st.sampled_from([1.0, 0.5, 0.1]),
    st.sampled_from([0.0, 1.0, -np.inf]),
    st.sampled_from([np.inf, 40.0, 41.5, 3.0]),
)
def test_every_range_is_that_of_more_values_than_the_need(reach, step, floor, ceiling):
    grid, span = Grid(reach, step), (floor, ceiling)
    every = np.round(np.arange(max(floor, -80), min(ceiling, 120) + step / 2, step), 6).tolist()
    alike: dict[tuple[float, float], list[float]] = {}
    for value in every:
        low, high = grid.published(grid.origin(value, span), span)
        assert low <= max(value - reach, floor)
        assert high >= min(value + reach, ceiling)
        alike.setdefault((low, high), []).append(value)
    cut_by_the_test = {every[0], every[-1]} if not np.isfinite(floor + ceiling) else set()
    for values in alike.values():
        whole = len(values) == len(every)
        assert len(values) > 2 * reach / step or whole or cut_by_the_test & set(values)


def test_most_published_tables_are_those_of_several_values():
    """All tables of three cells, by their totals; the few that stand alone are told by the choice of masked cells."""
    seen: dict[tuple[str, ...], set[int]] = {}
    for total in range(4, 15):
        for a in range(1, total):
            frame = pandas.DataFrame({"area": ["Total", "a", "b", "c"], "n": [total + 20, a, total - a, 20]})
            texts = protect(frame, **PARTS).external.texts
            if texts["n_lower"][1]:
                seen.setdefault(sum(texts.values(), ()), set()).add(a)
    alone = sum(len(values) == 1 for values in seen.values())
    assert alone / sum(len(values) for values in seen.values()) < 0.15


def test_values_are_not_the_middle_of_their_ranges():
    middle = primaries = 0
    for seed in range(25):
        numbers = np.random.default_rng(seed).choice([1, 2, 3, 4, 9, 14, 20, 30], 8)
        frame = pandas.DataFrame(
            {"area": ["Total", *(f"a{place}" for place in range(8))], "n": [numbers.sum(), *numbers]}
        )
        done = protect(frame, **PARTS).data
        for row in done[done["n_case"] == "primary"].itertuples():
            primaries += 1
            middle += float(row.n_lower) + float(row.n_upper) == 2 * row.n
    assert primaries > 50
    assert middle < primaries / 2


def test_ranges_are_narrower_than_blanks():
    frame = pandas.DataFrame({"area": ["Total", *"abcd"], "n": [2150, 2, 900, 1000, 248]})
    done = protect(frame, **PARTS).data.set_index("area")
    for name, value in {"a": 2, "d": 248}.items():
        low, high = (float(done.loc[name, end]) for end in ("n_lower", "n_upper"))
        assert low <= value <= high
        assert high - low <= 4
        assert done.loc[name, "n_published"] == f"{low:.0f}-{high:.0f}"


def test_only_cells_that_do_not_follow_from_one_another_are_drawn():
    square = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8]]
    relations = make_relations([(line, [-1, 1, 1]) for line in square])
    assert len(free_cells(relations, np.array([4, 5, 7, 8]))) == 1
    assert free_cells(relations, np.arange(9)) == [4, 5, 7, 8]


def test_clusters_and_round_numbers():
    relations = make_relations([([0, 1, 2], [-1, 1, 1]), ([3, 4, 5], [-1, 1, 1])])
    assert clusters(relations, np.array([0, 1, 1, 1, 1, 0], bool)).tolist() == [-1, 0, 0, 1, 1, -1]
    assert [rounded_up(value, 1) for value in (1.0, 15.0, 0.3)] == [1.0, 20.0, 0.3]
