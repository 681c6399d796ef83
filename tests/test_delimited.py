"""The one reader of delimited files: what it reads, and that every part of the program says the same of a bad one."""

import gzip
from pathlib import Path

import pytest

from sfumato.delimited import Dialect, Line, likely_separator, parse_lines, read_head, read_lines
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import Reading
from sfumato.engines.records import read_records
from sfumato.errors import SfumatoError
from sfumato.hierarchies.file import HierarchyFile
from sfumato.pipelines.risk import risk
from sfumato.pipelines.tables.tabulate import tabulate
from sfumato.tables.cells.columns import read_columns

READERS = {
    "microdata": lambda path: DuckDBEngine(path).count(["a"], Reading()),
    "risk": lambda path: risk(path, ["a"]),
    "tabulate": lambda path: tabulate(path, ["a"]),
    "tables": read_columns,
    "records": read_records,
    "hierarchies": lambda path: HierarchyFile(str(path), ",").bind([]),
}
BAD = {
    "a short row": (b"a,b\n1,2\n1\n", "ragged"),
    "a long row": (b"a,b\n1,2\n1,2,3\n", "ragged"),
    "a title above the header": (b"People of 2024\na,b\n1,2\n", None),
    "another encoding": ("a,b\nä,2\n".encode("latin-1"), "encoding"),
    "nothing": (b"", "empty"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", BAD)
def test_every_reader_refuses_the_same(reader: str, name: str, tmp_path: Path) -> None:
    content, code = BAD[name]
    (tmp_path / "rows.csv").write_bytes(content)
    with pytest.raises(SfumatoError) as caught:
        READERS[reader](tmp_path / "rows.csv")
    if code:
        assert caught.value.code.endswith(code)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.csv", b"\xef\xbb\xbfa;b\n1;2\n\n"),
        ("rows.csv", b'"a"|b\r\n1|2\r\n'),
        ("rows.csv.gz", gzip.compress(b"a\tb\n1\t2\n", mtime=0)),
    ],
)
def test_marks_separators_quotes_and_gzip(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    assert read_lines(tmp_path / name) == [Line(1, ["a", "b"]), Line(2, ["1", "2"])]
    assert read_head(tmp_path / name, Dialect()).columns == ("a", "b")
    assert DuckDBEngine(tmp_path / name).first_rows(1) == [{"a": "1", "b": "2"}]


def test_a_record_may_span_lines() -> None:
    assert parse_lines('a,"b\nc"\n1,2\n') == [Line(2, ["a", "b\nc"]), Line(3, ["1", "2"])]


def test_the_separator_is_found_in_the_header() -> None:
    assert [likely_separator(head) for head in ("a,b", "a;b, c;d", "a\tb", "alone")] == [",", ";", "\t", ","]
