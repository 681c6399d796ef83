"""Published ranges: narrow, true, and the same for so many values that none is told."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.pipelines.tables.protect import protect
from sfumato.tables.cells.system import make_constraints
from sfumato.tables.noise.interval_grid import ValueClasses, clusters, free_cells, rounded_up
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.tables.protection_levels.resolve_plan import terms_of
from sizes import size

pandas = pytest.importorskip("pandas")
PARTS = {
    "value": "n",
    "dimensions": {"area": {"column": "area"}},
    "primary": [{"rule": "frequency", "min": 5}],
    "method": "ranges",
}


@settings(max_examples=size(20, 100), deadline=None)
@given(
    st.sampled_from([1.0, 2.0, 3.0, 7.0, 20.0]),
    st.sampled_from([1.0, 0.5, 0.1]),
    st.sampled_from([0.0, 1.0, -np.inf]),
    st.sampled_from([np.inf, 40.0, 41.5, 3.0]),
)
def test_every_range_is_that_of_more_values_than_the_need(reach, step, floor, ceiling):
    grid, span = ValueClasses(reach, step), (floor, ceiling)
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
    for total in range(4, size(11, 15)):
        for a in range(1, total):
            frame = pandas.DataFrame({"area": ["Total", "a", "b", "c"], "n": [total + 20, a, total - a, 20]})
            texts = protect(frame, **PARTS).external.texts
            if texts["n_lower"][1]:
                seen.setdefault(sum(texts.values(), ()), set()).add(a)
    alone = sum(len(values) == 1 for values in seen.values())
    assert alone / sum(len(values) for values in seen.values()) < 0.15


SMALL = [{"rule": "frequency", "min": 5}]
PLANS = {
    "range": {"primary": [{"rule": "range", "min": 1, "max": 3}]},
    "counts": {"primary": SMALL},
    "percent of counts": {"primary": [{"rule": "frequency", "min": 10}], "protection": {"percent": 100}},
    "percent of a range": {"primary": [{"rule": "range", "min": 1, "max": 4}], "protection": {"percent": 50}},
    "absolute": {"primary": SMALL, "protection": {"lower": 1, "upper": 3}},
}
TWO, THREE = size((24, 9), (60, 15))
TABLES = {
    "two masked": [(a, TWO - a, 200) for a in range(1, TWO)],
    "three masked": [(a, b, THREE - a - b, 90) for a in range(1, THREE - 1) for b in range(1, THREE - a)],
}


def published(values, more):
    frame = pandas.DataFrame({"area": ["Total", *map(str, range(len(values)))], "n": [sum(values), *values]})
    done = protect(frame, **PARTS | more)
    return done.parts[0].part.table, done.parts[0].suppressed, sum(done.external.texts.values(), ())


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("tables", TABLES)
def test_no_output_is_that_of_fewer_values_than_promised(plan, tables):
    """Of all tables with the same masked, unsafe and published cells, those published alike differ as promised."""
    every: dict[tuple, list] = {}
    alike: dict[tuple, list] = {}
    for values in TABLES[tables]:
        table, mask, texts = published(values, PLANS[plan])
        known = (*mask, *table.sensitive, *np.where(mask, -1, table.values))
        every.setdefault(known, []).append(table)
        alike.setdefault((known, texts), []).append(table)
    checked = 0
    for (known, _), group in alike.items():
        told, anyway = (np.ptp([table.values for table in part], axis=0) for part in (group, every[known]))
        for table in group:
            width = np.minimum(table.protection_levels.lower + table.protection_levels.upper, anyway)[table.sensitive]
            checked += len(width)
            assert (told[table.sensitive] >= width - 1e-6).all()
    assert checked >= 6


def test_width_of_a_range_does_not_follow_a_hidden_sum():
    """The default reach is 10 % of the value: values that are published alike must be further apart than that."""
    alike: dict[tuple, list[int]] = {}
    for value in range(3, 790, size(24, 12)):
        frame = pandas.DataFrame(
            {"area": ["Total", *"abc"], "n": [5000, value, 1000 - value, 4000], "f": [40, 2, 9, 29]}
        )
        texts = protect(frame, frequency="f", **PARTS | {"primary": [{"rule": "frequency", "min": 3}]}).external.texts
        alike.setdefault(texts["n_published"], []).append(value)
    assert len(alike) > 2
    assert all(max(values) - min(values) >= 0.18 * max(values) for values in alike.values())


def test_reach_is_the_most_that_the_plan_can_ask():
    rules = [
        {"rule": "range", "min": 1, "max": 3},
        {"rule": "zero", "margin": 4},
        {"rule": "dominance", "n": 1, "k": 80},
        {"rule": "p-percent", "p": 20},
        {"rule": "holdings", "min": 3},
        {"rule": "status", "column": "s"},
        {"rule": "waiver", "column": "w"},
        {"rule": "frequency", "min": 5},
    ]

    def reaches(**more):
        plan = {"version": 1, "table": {}, "dimensions": PARTS["dimensions"], "primary": rules} | more
        made = read_table_plan(plan)
        return [margin.of(200) for margin in terms_of(made, made.table.counts).margins]

    assert reaches() == [2, 4, 50, 40, 20, 1, 0, 1]
    assert reaches(table={"frequency": "f"})[-3:] == [20, 0, 20]
    assert reaches(protection={"percent": 50}) == [1.5, 0, 100, 100, 100, 100, 0, 2.5]
    given = {"table": {"cells": "c.csv", "relations": "r.csv"}, "dimensions": {}}
    assert reaches(**given)[-1] == np.inf


def test_values_are_not_the_middle_of_their_ranges():
    middle = primaries = 0
    for seed in range(size(15, 25)):
        numbers = np.random.default_rng(seed).choice([1, 2, 3, 4, 9, 14, 20, 30], 8)
        frame = pandas.DataFrame(
            {"area": ["Total", *(f"a{place}" for place in range(8))], "n": [numbers.sum(), *numbers]}
        )
        done = protect(frame, **PARTS).data
        for row in done[done["n_case"] == "primary"].itertuples():
            primaries += 1
            middle += float(row.n_lower) + float(row.n_upper) == 2 * row.n
    assert primaries > size(30, 50)
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
    relations = make_constraints([(line, [-1, 1, 1]) for line in square])
    assert len(free_cells(relations, np.array([4, 5, 7, 8]))) == 1
    assert free_cells(relations, np.arange(9)) == [4, 5, 7, 8]


def test_clusters_and_round_numbers():
    relations = make_constraints([([0, 1, 2], [-1, 1, 1]), ([3, 4, 5], [-1, 1, 1])])
    assert clusters(relations, np.array([0, 1, 1, 1, 1, 0], bool)).tolist() == [-1, 0, 0, 1, 1, -1]
    assert [rounded_up(value, 1) for value in (1.0, 15.0, 0.3)] == [1.0, 20.0, 0.3]
