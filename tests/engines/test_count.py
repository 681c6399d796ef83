"""Counting by codes finds what counting by texts finds, whatever the columns of a Parquet file hold."""

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.engines.duckdb import count_statements as statements
from sfumato.engines.duckdb.count_statements import SAMPLED_ROWS, Counting
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.expressions import MAX_TEXTS
from sfumato.engines.engine import MissingRules
from sfumato.errors import EngineError
from sfumato.microdata.data_plan import DataPlan
from sizes import size

TEXTS = st.sampled_from(["a", "b", " a", "a ", "", "'", '"', "?", "Łódź", "%s{}", "NULL", "a\nb", "日本", "1", "01"])
VALUES = {
    pa.string(): TEXTS,
    pa.int64(): st.integers(-3, 3) | st.sampled_from([2**62, -(2**62)]),
    pa.int8(): st.integers(-128, 127),
    pa.float64(): st.sampled_from([0.0, -0.0, 1.5, float("nan"), 1e300]),
    pa.float32(): st.sampled_from([0.1, 2.0]),
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(dt.date(2024, 2, 27), dt.date(2024, 3, 2)),
    pa.decimal128(6, 2): st.sampled_from([Decimal("1.00"), Decimal("-7.25")]),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rows = draw(st.integers(1, 40))
    kinds = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=6))
    columns = {}
    for place, kind in enumerate(kinds):
        values = draw(st.lists(st.none() | VALUES[kind], min_size=rows, max_size=rows))
        columns[f"c {place}"] = pa.array(values, kind)
    return pa.table(columns)


def counting(engine: DuckDBEngine, columns: tuple[str, ...], reading: MissingRules | None = None) -> Counting:
    return Counting(engine.source.table, columns, reading or MissingRules(), engine.plan.strip)


def combinations(found) -> Counter:
    texts, codes, counts = found
    rows = Counter()
    for row, count in zip(codes.tolist(), counts.tolist(), strict=True):
        rows[tuple(texts[place][code] for place, code in enumerate(row))] += count
    return rows


@settings(max_examples=size(40, 200), deadline=None)
@given(tables(), st.booleans(), st.booleans(), st.booleans(), st.sampled_from([1, 3, SAMPLED_ROWS]))
def test_both_ways_count_the_same(tmp_path_factory, table, strip, drops, dictionary, sampled) -> None:
    """Also where the first rows do not have all texts."""
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    pq.write_table(table, path, use_dictionary=dictionary)
    engine = DuckDBEngine(path, DataPlan(strip=strip))
    columns = tuple(table.column_names)
    reading = MissingRules(("?", ""), columns[:2] if drops else ())
    by_texts = engine._by_texts(counting(engine, columns, reading))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statements, "SAMPLED_ROWS", sampled)
        by_codes = engine._by_codes(counting(engine, columns, reading))
    engine.close()
    if not len(by_texts[2]):
        assert by_codes is None
        return
    assert by_codes is not None
    assert by_codes[0] == by_texts[0]
    assert combinations(by_codes) == combinations(by_texts)
    assert len(by_codes[2]) == len(by_texts[2])


def written(path: Path, columns: dict) -> DuckDBEngine:
    pq.write_table(pa.table(columns), path)
    return DuckDBEngine(path)


def test_more_columns_than_one_word_holds(tmp_path) -> None:
    random = np.random.default_rng(3)
    columns = {f"c{place}": random.integers(0, 1_000, 5_000).astype(str) for place in range(9)}
    engine = written(tmp_path / "wide.parquet", columns)
    by_codes = engine._by_codes(counting(engine, tuple(columns)))
    assert combinations(by_codes) == combinations(engine._by_texts(counting(engine, tuple(columns))))
    engine.close()


@pytest.mark.parametrize("first", [0, SAMPLED_ROWS + 1], ids=["at once", "late"])
def test_too_many_texts_are_counted_as_texts(tmp_path, first) -> None:
    """Also where the first rows, by which it is guessed, do not tell."""
    values = np.array(["same"] * first + [f"text {place}" for place in range(MAX_TEXTS + 500)], object)
    engine = written(tmp_path / "many.parquet", {"x": values, "y": np.arange(len(values)) % 2})
    assert engine._by_codes(counting(engine, ("x", "y"))) is None
    assert engine.count(("x", "y"), MissingRules()).counts.sum() == len(values)
    engine.close()


def test_a_file_that_changes_while_it_is_counted_is_refused(tmp_path, monkeypatch) -> None:
    engine = written(tmp_path / "rows.parquet", {"x": ["a", "b", "c"]})
    engine.count(("x",), MissingRules())
    run = engine._run

    def changing(statement: str):
        found = run(statement)
        if "list(DISTINCT" in statement:
            pq.write_table(pa.table({"x": ["a", "b", "d"]}), tmp_path / "rows.parquet")
        return found

    monkeypatch.setattr(engine, "_run", changing)
    with pytest.raises(EngineError, match="changed while"):
        engine.count(("x",), MissingRules())
    engine.close()
