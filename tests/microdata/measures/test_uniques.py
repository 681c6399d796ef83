"""Rows that few columns make unique: sets of columns, special uniques, persons, and what forces generalization."""

from collections import Counter, defaultdict
from itertools import combinations
from math import factorial
from time import perf_counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.engines.opening import open_engine
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.measures import uniques as module
from sfumato.microdata.measures.column_risk import subsets
from sfumato.microdata.measures.overview import forcing
from sfumato.microdata.measures.uniques import column_sets, outliers, special_uniques
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.release_stages import disclosure as pipeline
from sfumato.pipelines.release_stages.counting import frequency_table
from sfumato.pipelines.risk import risk
from sizes import size

# Unique rows where a column names persons: what nobody else has is unique, however many rows of one person have it.

PLAN = {
    "version": 1,
    "columns": {
        "who": {"role": "person"},
        "q": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "s": {"role": "sensitive"},
        "t": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"order": "keep"},
    "seed": 1,
}
ROWS = [
    ("1", "a", "x", "u"),
    ("1", "a", "x", "u"),
    ("2", "b", "y", "v"),
    ("3", "b", "z", "v"),
    ("3", "c", "z", "w"),
    ("4", "c", "x", ""),
]


def frame(rows):
    return pl.DataFrame(rows, schema=["who", "q", "s", "t"], orient="row")


def of_one_person(rows, places):
    """Rows that nobody else's row equals in some columns, counted by hand."""
    persons = defaultdict(set)
    for row in rows:
        persons[tuple(row[place] for place in places)].add(row[0])
    return sum(len(persons[tuple(row[place] for place in places)]) == 1 for row in rows)


def test_a_value_that_two_rows_of_one_person_have_is_nobody_elses() -> None:
    report = anonymize(frame(ROWS), PLAN).report
    assert report.risk["outliers"]["singled_out_alone_by"] == {"q": 2}


def test_rows_of_one_person_that_look_alike_are_unique_by_other_columns() -> None:
    disclosed = anonymize(frame(ROWS), PLAN).report.disclosure
    # All are published with q as *: x is of two persons, y and z of one each; a missing t is known of nobody.
    assert {entry.columns: entry.rows for entry in disclosed.unique_rows} == {("s",): 3, ("t",): 3, ("s", "t"): 5}
    assert disclosed.unique_in_classes == {"s": 3, "t": 3}
    assert not disclosed.unmeasured


def test_of_too_many_rows_it_is_said_that_they_were_counted_one_by_one(monkeypatch) -> None:
    monkeypatch.setattr(pipeline, "MOST_AT_ONCE", 5)
    disclosed = anonymize(frame(ROWS), PLAN).report.disclosure
    assert disclosed.unique_in_classes == {"s": 1, "t": 1}
    assert "Too many rows: those of one person that look alike were not taken for unique ones." in disclosed.unmeasured


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from("1234")] * 2, *[st.sampled_from("uvw")] * 2), min_size=4, max_size=14))
def test_figures_are_those_of_the_persons(rows) -> None:
    if len({row[0] for row in rows}) < 2:
        return
    report = anonymize(frame(rows), PLAN | {"method": {"name": "optimal", "suppression": 0}}).report
    assert report.risk["outliers"]["singled_out_alone_by"] == {"q": of_one_person(rows, (1,))}
    counted = {entry.columns: entry.rows for entry in report.disclosure.unique_rows}
    for places in [(2,), (3,), *combinations((2, 3), 2)]:
        assert counted[tuple("qst"[place - 1] for place in places)] == of_one_person(rows, places)


@pytest.mark.parametrize("engine", ["duckdb", "frames"])
def test_engines_count_the_same_persons(engine, tmp_path) -> None:
    source = pd.DataFrame(ROWS, columns=["who", "q", "s", "t"])
    if engine == "duckdb":
        source.to_csv(tmp_path / "rows.csv", index=False)
        source = tmp_path / "rows.csv"
    report = anonymize(source, PLAN, engine=engine).report
    assert report.disclosure.unique_in_classes == {"s": 3, "t": 3}
    assert report.risk["outliers"]["singled_out_alone_by"] == {"q": 2}


# Special uniques: known answers, and the definition itself gone through on random tables.

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


# Sets of columns, against counting by hand.


def table_of_sets(rows: int, sizes: tuple[int, ...], seed: int) -> FrequencyTable:
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
    table = table_of_sets(90, (2, 3, 5, 9), seed)
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
def test_outliers_by_hand(sizes: tuple[int, ...]) -> None:
    table = table_of_sets(80, sizes, 5)
    unique = {
        chosen: {row for row, one in enumerate(keys) if keys.count(one) == 1 and table.counts[row] == 1}
        for width in (1, 2, 3)
        for chosen in combinations(range(len(sizes)), width)
        if (keys := [tuple(codes) for codes in table.codes[:, chosen].tolist()])
    }
    by = [{row for chosen, rows in unique.items() if len(chosen) <= width for row in rows} for width in range(4)]
    found = outliers(table, special_uniques(table))
    counts = [len(by[width] - by[width - 1]) for width in (1, 2, 3)]
    assert (*found.by_columns, 0, 0, 0)[:3] == tuple(counts)
    assert found.more == int((table.counts == 1).sum()) - len(by[3])
    assert [rows for _, rows in found.columns] == [len(unique[place,]) for place in range(len(sizes))]
    assert set(found.combinations) == by[2]


def test_known_sets_tell_the_same() -> None:
    table = table_of_sets(80, (2, 3, 5, 9), 7)
    known = list(column_sets(table, 4))
    assert subsets(table, known=known) == subsets(table)
    assert special_uniques(table, sets=known).to_dict() == special_uniques(table).to_dict()


# Forcing: a column is said to be forced up only where rows would fail one level below that the plan allows.

FRAME = pl.DataFrame({"age": ["20", "21", "22", "23"] * 4, "sex": ["m", "m", "f", "f"] * 4})


def plan(k=1, min_level=0):
    hierarchy = {"type": "intervals", "start": 20, "end": 23, "widths": [2]}
    age = {"role": "quasi-identifier", "type": "integer", "hierarchy": hierarchy, "min_level": min_level}
    return {
        "version": 1,
        "columns": {"age": age, "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}},
        "privacy": [{"model": "k-anonymity", "k": k}],
        "output": {"order": "keep"},
    }


def test_nothing_forces_a_level_that_the_plan_asks_for():
    """At its min_level a column is by the plan; above it, by rows that would fail below."""
    assert anonymize(FRAME, plan(min_level=1)).report.risk["forcing"] == {}
    assert anonymize(FRAME, plan(k=8, min_level=1)).report.risk["forcing"] == {}
    starred = anonymize(FRAME, plan(k=16, min_level=1)).report
    assert starred.levels == {"age": 2, "sex": 1}
    # With ages in two intervals of eight rows, or sexes of eight, all sixteen rows would fail.
    assert starred.risk["forcing"] == {"age": {"level": 1, "rows": 16}, "sex": {"level": 0, "rows": 16}}


def test_a_column_is_not_forced_by_no_row():
    coarse = anonymize(FRAME, plan(min_level=1))
    # The very same release under a plan that would have let the ages stand: with k = 1 no row would fail then.
    assert coarse.report.levels["age"] == 1
    assert forcing(read_plan(plan()), coarse.table, coarse.recoding, 1_000_000) == {}
    assert forcing(read_plan(plan(k=8)), coarse.table, coarse.recoding, 1_000_000)["age"] == {"level": 0, "rows": 16}


def test_the_page_does_not_blame_rows_for_the_plan():
    assert "because of" not in anonymize(FRAME, plan(k=8, min_level=1)).reports()["report.html"]
    assert "age is at level 1 because of 16 rows" in anonymize(FRAME, plan(k=8)).reports()["report.html"]
