"""The one reader of delimited files: what it reads, and that every part of the program says the same of a bad one."""

import gzip
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from sfumato.delimited.dialect import Dialect, likely_separator
from sfumato.delimited.header import read_head
from sfumato.delimited.records import Line, parse_lines, read_lines
from sfumato.engines.duckdb.engine import DuckDBEngine
from sfumato.engines.engine import MissingRules
from sfumato.engines.opening import open_engine
from sfumato.engines.record_io import read_records
from sfumato.errors import DataError, PlanError, SfumatoError
from sfumato.hierarchies.lists import HierarchyFile
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.risk import risk
from sfumato.pipelines.suggest import suggest_for_file
from sfumato.pipelines.tables.protect import protect
from sfumato.pipelines.tables.table_source import tabulate
from sfumato.schema.paths import PlanPath
from sfumato.tables.cells.columns import read_columns

READERS = {
    "microdata": lambda path: DuckDBEngine(path).count(["a"], MissingRules()),
    "risk": lambda path: risk(path, ["a"]),
    "tabulate": lambda path: tabulate(path, ["a"]),
    "tables": read_columns,
    "records": read_records,
    "hierarchies": lambda path: HierarchyFile(PlanPath(path), ",").fit([]),
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


COMMAS = "town;bmi;code\nUlm;22,5;A,1\nBonn;-3,25e1;1.234,5\nUlm;22,5;7\n"
MARKS = {
    "microdata": lambda path: DuckDBEngine(path, DataPlan(decimal=",")).count(["bmi"], MissingRules()).values[0],
    "frames": lambda path: open_engine(path, _plan(), "frames").count(["bmi"], MissingRules()).values[0],
    "tables": lambda path: read_columns(path, Dialect(decimal=",")).text("bmi"),
    "records": lambda path: [record["bmi"] for record in read_records(path, decimal=",")],
    "hierarchies": lambda path: HierarchyFile(PlanPath(path), decimal=",").fit([]).hierarchy.labels[1],
    "suggest": lambda path: suggest_for_file(path, decimal=",").profiles[1].values,
}


def _plan() -> Plan:
    return read_plan(
        {
            "version": 1,
            "data": {"decimal": ","},
            "columns": {
                "town": {"role": "insensitive"},
                "bmi": {
                    "role": "quasi-identifier",
                    "type": "decimal",
                    "hierarchy": {"type": "intervals", "start": -40, "end": 40, "widths": [2.5, 80]},
                },
                "code": {"role": "insensitive"},
            },
            "privacy": [{"model": "k-anonymity", "k": 1}],
            "output": {"order": "keep"},
        }
    )


@pytest.mark.parametrize("reader", MARKS)
def test_every_reader_takes_a_decimal_comma_for_a_point(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    # A value stands once in a file of them.
    path.write_text("Ulm;22,5\nBonn;-3,25e1\n" if reader == "hierarchies" else COMMAS)
    texts = MARKS[reader](path)
    assert {"22.5", "-3.25e1"} <= set(texts)
    assert not any(text and "," in text for text in texts)


def test_a_release_of_a_file_with_decimal_commas_has_points(tmp_path: Path) -> None:
    """Numbers are read and published with a point; what is no number stays as it is."""
    path = tmp_path / "rows.csv"
    path.write_text(COMMAS)
    with closing(anonymize(path, _plan())) as release:
        assert release.data.read_text() == "town;bmi;code\nUlm;22.5;A,1\nBonn;-32.5;1234.5\nUlm;22.5;7\n"


def test_tables_and_risk_of_a_file_with_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(COMMAS)
    table = tabulate(path, ["town"], value="bmi", decimal=",")
    assert dict(zip(table["town"], table["bmi"], strict=True)) == {"Total": 12.5, "Bonn": -32.5, "Ulm": 45}
    assert risk(path, ["bmi"], decimal=",", plan=_plan()).figures.classes == 2
    (tmp_path / "cells.csv").write_text("town;n\nTotal;24,5\na;2\nb;9,5\nc;13\n")
    plan = {
        "version": 1,
        "table": {"source": str(tmp_path / "cells.csv"), "value": "n", "decimal": ","},
        "dimensions": {"town": {"column": "town"}},
        "primary": [{"rule": "range", "min": 1, "max": 3}],
    }
    assert protect(plan=plan).data["n_published"].to_list()[0] == "24.5"


def test_a_separator_that_is_the_decimal_mark_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    for read in (lambda path: read_lines(path, Dialect(decimal=",")), lambda path: risk(path, ["a"], decimal=",")):
        with pytest.raises(PlanError, check=lambda error: error.code == "plan.decimal"):
            read(tmp_path / "rows.csv")
    with pytest.raises(PlanError, check=lambda error: error.code == "plan.decimal"):
        risk(tmp_path / "rows.csv", ["a"], decimal="'")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b'"a;c\n1;2\n1;2\n', "data.quotes"),
        (b'"a\r\nb";c\n1;2\n', "data.header-line-break"),
        (b'"a\nb";c\r\n1;2\r\n', "data.header-line-break"),
    ],
)
def test_what_is_wrong_with_a_header_is_said(tmp_path, content, code) -> None:
    """It was told as "no rows"."""
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        read_head(path, Dialect())
    assert error.value.code == code


def test_a_line_break_like_those_of_the_file_may_stand_in_a_name(tmp_path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(b'"a\r\nb";c\r\n1;2\r\n')
    assert read_head(path, Dialect(header=True)).columns == ("a\r\nb", "c")


@pytest.mark.parametrize("title", ["Members, as of 01.01.2024", "Members;;", "Members"])
def test_a_title_above_the_header_is_said(title: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(f"{title}\nname;age;town\nAda;36;Ulm\nMax;41;Bonn\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"line 1 .* title"):
        read_head(tmp_path / "rows.csv", Dialect())


TITLES = {
    "two": ("Members of the club\nSource: office, 2024\n", 3),
    "a blank line": ("Members\n\nas of 2024\n", 4),
    "in fields of their own": ("Members,,,\nas of 2024,,,\n", 3),
    "commas in the first": ("Members, all\n", 2),
    "a line break in a title": ('"Members\nof the club"\n\n', 4),
}


@pytest.mark.parametrize("name", TITLES)
@pytest.mark.parametrize("last", ["", "\n"])
def test_the_line_of_the_header_below_titles_is_told(name: str, last: str, tmp_path: Path) -> None:
    titles, line = TITLES[name]
    (tmp_path / "rows.csv").write_text(f"{titles}age,sex,town,pay\n36,f,Ulm,2000\n41,m,Bonn,2100{last}")
    with pytest.raises(DataError, match=r"line 1 of rows\.csv looks like a title") as caught:
        suggest_for_file(tmp_path / "rows.csv")
    assert f"seem to be in line {line}. Delete everything above" in caught.value.hint


@pytest.mark.parametrize(
    "text", ["age,sex,town\n1,36,f,Ulm\n2,41,m,Bonn\n", "a,b,c\nx,y\n1,2,3\n1,2,3\n", "a\nb,c,d\n1,2,3\n1,2\n"]
)
def test_rows_of_other_widths_are_no_titles(text: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(DataError, check=lambda error: error.code == "data.ragged"):
        suggest_for_file(tmp_path / "rows.csv")


@pytest.mark.parametrize(
    "text",
    [
        "name;pay;hours\nSmith, Ann;1.200,50;38,5\nBond, James;1.300,00;40,0\n",
        "a\n1\n2\n",
        "a;b\n1;2\n",
        "a;;\n1;2;3\n",
    ],
)
def test_a_header_is_no_title(text: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    assert read_head(tmp_path / "rows.csv", Dialect(header=True)).columns


def test_the_decimal_mark_is_told_from_the_columns(tmp_path: Path) -> None:
    rows = "".join(f"{place % 9};{place + 1}.234,50;{place % 40},5%\n" for place in range(60))
    (tmp_path / "rows.csv").write_text("age;salary;rate\n" + rows, encoding="utf-8")
    suggestion = suggest_for_file(tmp_path / "rows.csv")
    assert suggestion.plan["data"]["decimal"] == ","
    assert suggestion.plan["columns"]["salary"]["role"] == "sensitive"
    assert suggestion.plan["columns"]["salary"]["publish"]["top"] == 50_000
    anonymize(tmp_path / "rows.csv", suggestion.plan)
    mixed = "".join(f"{place},5;{place}.5\n" for place in range(60))
    (tmp_path / "mixed.csv").write_text("x;y\n" + mixed, encoding="utf-8")
    assert "decimal" not in suggest_for_file(tmp_path / "mixed.csv").plan["data"]


@pytest.mark.parametrize(
    ("header", "names"),
    [(",age,town", ("c1", "age", "town")), ("age, ,c2", ("age", "c2_2", "c2")), ("age,,age", ("age", "c2", "age_2"))],
)
def test_a_column_without_a_name_is_called_by_its_place(header: str, names: tuple[str, ...], tmp_path: Path) -> None:
    """As frames are often written, with their row numbers under an empty name."""
    path = tmp_path / "rows.csv"
    path.write_text(f"{header}\n0,36,7\n1,41,9\n")
    head = read_head(path, Dialect())
    assert head.columns == names
    assert any("has no name" in note for note in head.notes)
    engine = DuckDBEngine(path)
    assert tuple(engine.columns) == names
    assert engine.count([names[1]], MissingRules()).rows == 2


def test_row_numbers_without_a_name_are_withheld(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(",age\n" + "".join(f"{row},{30 + row % 4}\n" for row in range(40)))
    plan = suggest_for_file(path).plan
    assert plan["columns"]["c1"]["role"] == "identifier"
    assert plan["columns"]["age"]["role"] == "quasi-identifier"


@pytest.mark.parametrize("start", [b"", b"a,b\n1,"])
def test_a_packed_line_without_end_takes_no_more_than_its_first_part(tmp_path, start) -> None:
    path = tmp_path / "rows.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(start)
        for _ in range(20):
            stream.write(b"a" * (1 << 20))
    tracemalloc.start()
    try:
        if start:
            assert read_head(path, Dialect()).columns == ("a", "b")
        else:
            with pytest.raises(DataError, check=lambda error: error.code == "data.endless-line"):
                read_head(path, Dialect())
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_an_open_quote_in_a_long_file_is_told_as_such(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("sfumato.delimited.opening.MOST_CHARACTERS", 1 << 10)
    path = tmp_path / "rows.csv"
    path.write_bytes(b'a,"b\n' + b"1,2\n" * (1 << 10))
    with pytest.raises(DataError, match="quote"):
        read_head(path, Dialect())


def test_a_hundred_thousand_equal_names_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(",".join(["a", "a_2", *["a"] * 100_000]) + "\n", encoding="utf-8")
    names = read_head(tmp_path / "rows.csv", Dialect(header=True)).columns
    assert names[:4] == ("a", "a_2", "a_3", "a_4") and len({*names}) == 100_002
