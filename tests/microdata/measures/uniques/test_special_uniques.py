"""Special uniques: known answers, and the definition itself gone through on random tables."""

from itertools import combinations
from math import factorial
from time import perf_counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.engines.opening import open_engine
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures import uniques as special_uniques
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_stages.counting import frequency_table
from sfumato.pipelines.risk import risk
from sizes import size

FIRST = {
    "age": [*["20s"] * 7, "60s"],
    "gender": [*"mmmmfff", "m"],
    "income": [*["50k+"] * 2, *["50k-"] * 6],
    "education": ["hs"] * 4 + ["uni", "hs", "ms", "uni"],
}
SECOND = {
    "Residence": [*"UUUURUUUUU"],
    "Gender": [*"FFFMFMFMFF"],
    "Education": ["SI", "SI", "PI", "SC", "SC", "SC", "PC", "PS", "SI", "SI"],
    "Labor": [*"EENEUENUNN"],
}


def table_of(columns: dict) -> FrequencyTable:
    quasi = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    privacy = [{"model": "k-anonymity", "k": 1}]
    plan = read_plan(
        {"version": 1, "columns": dict.fromkeys(columns, quasi), "privacy": privacy, "output": {"order": "keep"}}
    )
    return frequency_table(plan, open_engine(pl.DataFrame(columns), plan))


def by_row(columns: dict, values: np.ndarray, table: FrequencyTable) -> list[float]:
    """What each row has, from what its combination has."""
    places = {tuple(codes): place for place, codes in enumerate(table.codes.tolist())}
    codes = [
        [coding.places[text] for text in columns[name]] for name, coding in zip(columns, table.codings, strict=True)
    ]
    return [float(values[places[row]]) for row in zip(*codes, strict=True)]


@pytest.mark.parametrize(
    ("columns", "scores", "dis", "rows"),
    [
        (FIRST, [0, 0, 0, 0, 4, 2, 6, 8], 0.01, {4: 0.010859, 5: 0.004756, 6: 0.017545, 7: 0.024601}),
        (SECOND, [0, 0, 6, 0, 12, 0, 6, 10, 0, 0], 0.00668896, {2: 0.004987, 4: 0.011383, 6: 0.004987, 7: 0.009167}),
    ],
)
def test_tables_of_the_literature(columns, scores, dis, rows) -> None:
    table = table_of(columns)
    found = special_uniques(table, 0.01)
    assert by_row(columns, found.scores, table) == scores
    assert found.dis == pytest.approx(dis, abs=5e-9)
    told = by_row(columns, found.row_dis, table)
    assert {row: round(value, 6) for row, value in enumerate(told) if value} == rows


def test_shares_of_columns_add_to_more_than_one() -> None:
    columns = {"a": ["2", "1", "1"], "b": ["0", "3", "0"], "c": ["0", "6", "0"]}
    found = special_uniques(table_of(columns))
    assert [round(100 * share, 1) for share in found.columns.values()] == [50, 37.5, 37.5]
    assert found.complete and found.certain and found.dis == 1


@given(st.lists(st.tuples(*[st.sampled_from("xyz")] * 4), min_size=1, max_size=9))
def test_the_definition_gives_the_same_scores(rows) -> None:
    columns = {name: [row[at] for row in rows] for at, name in enumerate("abcd")}
    table = table_of(columns)

    def unique(row, chosen) -> bool:
        return sum(all(other[at] == row[at] for at in chosen) for other in rows) == 1

    expected = [
        sum(
            factorial(4 - size)
            for size in range(1, 5)
            for chosen in combinations(range(4), size)
            if unique(row, chosen) and not any(unique(row, part) for part in combinations(chosen, size - 1) if part)
        )
        for row in rows
    ]
    assert by_row(columns, special_uniques(table).scores, table) == expected


def test_where_sets_are_too_many_small_ones_are_looked_at() -> None:
    random = np.random.default_rng(2)
    table = table_of({f"c{at}": random.integers(0, 2, 60).astype(str).tolist() for at in range(9)})
    whole, part = special_uniques(table), special_uniques(table, work=60 * 50)
    assert whole.complete and not part.complete and part.largest == 2
    assert part.sizes == whole.sizes[:2]


def test_no_row_is_in_the_report() -> None:
    report = risk(pl.DataFrame(FIRST), list(FIRST))
    assert set(report.to_dict()["special_uniques"]) >= {"rows", "sizes", "columns", "dis"}
    assert "scores" not in report.to_dict()["special_uniques"]


@pytest.mark.shared
@pytest.mark.parametrize(("name", "width"), [("adult.csv", 8), ("casc/households4580.csv", 12)])
def test_large_tables_take_seconds(shared, name, width) -> None:
    path = shared / name
    line = path.read_text(encoding="utf-8").splitlines()[0]
    separator = ";" if ";" in line else ","
    rows = pl.read_csv(path, infer_schema=False, separator=separator)
    table = table_of({column: rows[column].to_list() for column in rows.columns[:width]})
    begin = perf_counter()
    found = special_uniques(table)
    assert found.complete
    assert perf_counter() - begin < size(120, 30)
