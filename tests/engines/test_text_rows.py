"""Text files whose rows are kept as codes: counted and published as if every statement read them anew."""

from contextlib import closing
from pathlib import Path

import pytest

from sfumato.engines.duckdb import in_memory as in_memory_csv
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.pipelines.release import anonymize
from sfumato.values import replace

COLUMNS = ("zip", "sex", "note")
LINES = [f'{row % 7 or ""},{"mf"[row % 2]},"a, ""{row % 3}"""' for row in range(60)]
PLAN = {
    "version": 1,
    "seed": 3,
    "columns": {
        "zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "note": {"role": "insensitive"},
    },
    "privacy": [{"model": "k-anonymity", "k": 4}],
    "method": {"name": "optimal", "suppression": 0.1},
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([",".join(COLUMNS), *LINES]) + "\n", encoding="utf-8")
    return path


def tallies(engine: DuckDBEngine, columns: tuple[str, ...] = COLUMNS) -> dict[tuple[str | None, ...], int]:
    counted = engine.count(columns, MissingRules())
    rows = ([texts[code] for texts, code in zip(counted.values, codes, strict=True)] for codes in counted.codes)
    return dict(zip(map(tuple, rows), counted.counts.tolist(), strict=True))


@pytest.mark.parametrize("output", [{}, {"suppressed": "star"}, {"format": "parquet"}, {"class_column": "no"}], ids=str)
def test_kept_rows_are_released_as_others_are(source, output, monkeypatch) -> None:
    files = []
    for most in (in_memory_csv._MOST_BYTES, 0):
        monkeypatch.setattr(in_memory_csv, "_MOST_BYTES", most)
        with (
            closing(anonymize(source, PLAN | {"output": output})) as release,
            closing(DuckDBEngine(release.data)) as reader,
        ):
            files.append(reader.first_rows(100))
    assert files[0] == files[1]
    assert files[0]


def test_kept_rows_are_counted_as_others_are(source, monkeypatch) -> None:
    with closing(DuckDBEngine(source)) as engine:
        kept = tallies(engine)
        assert set(engine.coded) == set(COLUMNS)
        assert tallies(engine, ("sex",)) == {("m",): 30, ("f",): 30}
    monkeypatch.setattr(in_memory_csv, "_MOST_BYTES", 0)
    with closing(DuckDBEngine(source)) as engine:
        assert tallies(engine) == kept
        assert not engine.coded


def test_columns_with_many_texts_are_grouped(source, monkeypatch) -> None:
    with closing(DuckDBEngine(source)) as engine:
        kept = tallies(engine)
    monkeypatch.setattr(in_memory_csv, "MAX_TEXTS", 2)
    with closing(DuckDBEngine(source)) as engine:
        assert tallies(engine) == kept
        assert not engine.coded


@pytest.mark.parametrize(
    "likely",
    [
        {"zip": ("1", "2", None), "sex": ("f", "m"), "note": ("a",)},
        {"zip": (None,), "sex": (None,), "note": (None,)},
        {"zip": tuple(map(str, range(9))), "sex": ("f", "m", "x"), "note": tuple(f'a, "{n}"' for n in range(5))},
    ],
)
def test_texts_that_are_only_likely_are_those_of_the_file(source, likely) -> None:
    with closing(DuckDBEngine(source)) as engine:
        counted = engine.count(COLUMNS, MissingRules())
    with closing(DuckDBEngine(source)) as engine:
        engine.likely = {name: (*texts, None) if None not in texts else texts for name, texts in likely.items()}
        again = engine.count(COLUMNS, MissingRules())
    assert again.values == counted.values
    assert (again.codes == counted.codes).all()
    assert (again.counts == counted.counts).all()


def test_rows_beyond_a_limit_of_memory_are_not_kept(source, monkeypatch) -> None:
    monkeypatch.setattr(in_memory_csv, "_VALUE_BYTES", 1 << 20)
    with closing(DuckDBEngine(source)) as engine:
        engine.plan = replace(engine.plan, memory_limit="1MB")
        tallies(engine)
        assert not engine.coded
