"""Rows of text files are counted apart from their readers: none is lost, and a lost one is an error."""

import csv
import gzip
import io
import json
import random
from contextlib import closing
from pathlib import Path

import pytest

from sfumato import anonymize, verify
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.duckdb.sources import Source
from sfumato.engines.engine import MissingRules
from sfumato.engines.files import records_in
from sfumato.engines.record_io import read_records
from sfumato.engines.tabulation import base_of
from sfumato.errors import DataError
from sfumato.microdata.data_plan import DataPlan

PLAN = {
    "version": 1,
    "columns": {"zip": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}, "note": {"role": "insensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 2}],
    "output": {"order": "keep"},
}


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.reader(stream))[1:]


@pytest.mark.parametrize(("length", "quote", "end"), [(33, "", "\n"), (33, '"', ""), (3, '"', "\n")])
def test_a_long_last_row_is_published_and_verified(tmp_path: Path, length: int, quote: str, end: str) -> None:
    rows, note = [f"{place % 2},x" for place in range(5)], "y" * length * 1_000_000
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["zip,note", *rows, f"1,{quote}{note}{quote}"]) + end, encoding="utf-8")
    release = anonymize(path, PLAN)
    release.save(tmp_path / "release")
    published = rows_of(tmp_path / "release" / "data.csv")
    assert [len(row[1]) for row in published] == [1, 1, 1, 1, 1, len(note)]
    assert verify(tmp_path / "release").satisfied


def test_a_reader_that_leaves_out_a_row_is_refused_with_the_longest_line(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('zip,note\n1,"a\nb"\n1,x\n2,a longer note\n2,y\n', encoding="utf-8")
    source = DuckDBEngine(path).source
    shorter = Source(f"(SELECT * FROM {source.table} LIMIT 3)", source.columns, records=source.records)
    monkeypatch.setattr("sfumato.engines.duckdb.engine.open_source", lambda *_: shorter)
    for count in (
        lambda: anonymize(path, PLAN),
        lambda: base_of(path, ["zip"], None, None, None, 1),
    ):
        with pytest.raises(DataError, match=r"line 5 of rows\.csv") as caught:
            count()
        assert "longer note" not in str(caught.value)


def random_text(random_: random.Random, width: int) -> tuple[str, int]:
    """A delimited text, and the number of its records by Python's reader; of one column, empty lines are rows."""
    ending = random_.choice(["\n", "\r\n", "\r"])
    cells = [
        "a",
        "",
        "x y",
        '"q"',
        '"a""b"',
        f'"two{ending}lines"',
        '""',
        'in"side',
        '"se,p"',
        "#c",
        "é€",
        "\x00",
        "1" * 40,
    ]
    lines = [",".join(random_.choice(cells) for _ in range(width)) for _ in range(random_.randrange(1, 12))]
    for _ in range(random_.randrange(3)):
        lines.insert(random_.randrange(len(lines) + 1), "")
    text = ending.join(["h" if width == 1 else ",".join(f"h{place}" for place in range(width)), *lines])
    text += random_.choice(["", ending, 2 * ending])
    read = [fields for fields in csv.reader(io.StringIO(text, newline=""), strict=True) if fields or width == 1]
    return text, len(read) - 1


@pytest.mark.parametrize("width", [1, 2, 3])
def test_records_are_those_of_other_readers(tmp_path: Path, width: int, monkeypatch) -> None:
    random_ = random.Random(width)
    monkeypatch.setattr("sfumato.engines.files._PIECE", 16)  # pieces end anywhere
    for number in range(60):
        text, expected = random_text(random_, width)
        for name, content in (("rows.csv", text.encode()), ("rows.csv.gz", gzip.compress(text.encode()))):
            path = tmp_path / name
            path.write_bytes(content)
            assert records_in([path], ",", width).rows == expected, (number, text)
        if number % 6:
            continue
        with closing(DuckDBEngine(tmp_path / "rows.csv", DataPlan(separator=",", header=True))) as engine:
            assert engine.count(engine.columns, MissingRules()).rows == expected, (number, text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1", "cp1252"])
def test_records_of_other_encodings_and_separators_are_counted(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes('a§b\n1§"ü\nü"\nß§"x§y"\n'.encode(encoding))
    plain = DataPlan(encoding="utf-8" if encoding == "utf-8-sig" else encoding, separator="§", header=True)
    with closing(DuckDBEngine(path, plain)) as engine:
        assert engine.count(("a",), MissingRules()).rows == 2


def test_several_files_and_damaged_ones(tmp_path: Path) -> None:
    for name, rows in (("a.csv", 3), ("b.csv", 4)):
        (tmp_path / name).write_text("zip,note\n" + "1,x\n" * rows, encoding="utf-8")
    with closing(DuckDBEngine(tmp_path)) as engine:
        assert engine.count(("zip",), MissingRules()).rows == 7
    (tmp_path / "b.csv").write_text('zip,note\n1,x\n1,"x\n1,x\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"line 3 of b\.csv"):
        DuckDBEngine(tmp_path)


def test_json_lines_end_where_json_says(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    records = [{"note": "two\u2028lines\x85"}, {"note": "x"}]
    texts = (json.dumps(record, ensure_ascii=False) for record in records)
    path.write_text("\n".join(texts), encoding="utf-8")
    assert read_records(path) == records
