"""Sets of columns, against counting by hand."""

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from sfumato.engines.opening import open_engine
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures import uniques as module
from sfumato.microdata.measures.column_risk import subsets
from sfumato.microdata.measures.uniques import column_sets, outliers, special_uniques
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_stages.counting import frequency_table


def table_of(rows: int, sizes: tuple[int, ...], seed: int) -> FrequencyTable:
    random = np.random.default_rng(seed)
    columns = {
        f"c{place}": [f"v{value}" for value in random.integers(0, size, rows)] for place, size in enumerate(sizes)
    }
    part = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    plan = read_plan(
        {"version": 1, "columns": dict.fromkeys(columns, part), "privacy": [{"model": "k-anonymity", "k": 2}]}
    )
    return frequency_table(plan, open_engine(pl.DataFrame(columns), plan))


@pytest.mark.parametrize("kept", [0, 30, 10**6])
@pytest.mark.parametrize("seed", range(3))
def test_every_set_by_hand(seed: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", kept)
    table = table_of(90, (2, 3, 5, 9), seed)
    sets = [one for level in column_sets(table, 4) for one in level]
    assert [one.columns for one in sets] == [c for size in (4, 3, 2, 1) for c in combinations(range(4), size)]
    for one in sets:
        keys = [tuple(codes) for codes in table.codes[:, one.columns].tolist()]
        sizes: Counter[tuple[int, ...]] = Counter()
        for key, count in zip(keys, table.counts.tolist(), strict=True):
            sizes[key] += count
        alone = [sizes[key] == 1 for key in keys]
        assert (one.classes, one.uniques) == (len(sizes), sum(alone))
        assert one.pairs == sum(size * (size - 1) for size in sizes.values())
        bits = [bool(int(one.singled[row >> 6]) >> (row & 63) & 1) for row in range(len(keys))]
        assert bits == alone


@pytest.mark.parametrize("sizes", [(2, 3, 5, 9), (60, 2, 2), (2,), (300, 200, 150)])
def test_outliers_are_told_by_special_uniques(sizes: tuple[int, ...]) -> None:
    table = table_of(80, sizes, 5)
    assert outliers(table, special=special_uniques(table)) == outliers(table)


def test_known_sets_tell_the_same() -> None:
    table = table_of(80, (2, 3, 5, 9), 7)
    known = list(column_sets(table, 4))
    assert subsets(table, known=known) == subsets(table)
    assert special_uniques(table, sets=known).to_dict() == special_uniques(table).to_dict()
