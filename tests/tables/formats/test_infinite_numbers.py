"""Numbers that are none, or more than a number can be, in every file of a table: refused, with where they stand."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from refusals import coded
from sfumato.errors import DataError
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.pipelines.tables.protect import protect
from sfumato.tables.argus.office_table import plain_table
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.formats.apriori_file import apply_apriori
from sfumato.tables.formats.cells_file import read_cells
from sfumato.tables.formats.delimited_cells import read_sdmx
from sfumato.tables.formats.metadata import parse_metadata
from sfumato.tables.formats.px import parse_px
from sfumato.tables.formats.solver_file import parse_jj
from sfumato.tables.noise.ptable_file import parse_ptable
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.tables.published_tables.parse_cells import read_texts

TREE = CodeTree("a", ("T",), {("x",): ("T",), ("y",): ("T",)})
RDA = ['<SEPARATOR> ";"', "a", "<RECODEABLE>", '<TOTCODE> "T"', "v", "<NUMERIC>"]
PLAN = {"version": 1, "dimensions": {"a": {"column": "a", "total": "T"}}}
LONG = "9" * 400
NUMBERS = ["1e400", "-1e999", "inf", "nan", LONG]


def _px(number: str, folder: Path) -> None:
    del folder
    parse_px(f'STUB="a";\nVALUES("a")="T","x";\nDATA=\n5\n{number};\n', "t")


def _jj(number: str, folder: Path) -> None:
    del folder
    parse_jj(f"0\n2\n0 5 5 s 0 9 0 0 0\n1 5 {number} s 0 9 0 0 0\n1\n0 2 : 0 (-1) 1 (1)\n".splitlines(), "t")


def _tab(number: str, folder: Path) -> None:
    (folder / "t").write_text(f"T;5\nx;{number}\n")
    read_cells(folder / "t", parse_metadata(RDA, "t.rda"))


def _sdmx(number: str, folder: Path) -> None:
    (folder / "t").write_text(f"DATAFLOW,a,OBS_VALUE\nx,T,{number}\n")
    read_sdmx(folder / "t", (TREE,))


def _hst(number: str, folder: Path) -> None:
    (folder / "t").write_text(f"x;c;{number}\n")
    keys = ((("T",),), (("x",),), (("y",),))
    apply_apriori(folder / "t", plain_table("v", (TREE,), keys, np.array([3.0, 1.0, 2.0])), ";")


def _ptable(number: str, folder: Path) -> None:
    del folder
    parse_ptable(f"i,j,p\n{number},0,1\n")


def _asc(number: str, folder: Path) -> None:
    (folder / "m.asc").write_text(f"x;5\ny;{number}\n")
    (folder / "m.rda").write_text("\n".join(RDA) + "\n")
    (folder / "b.arb").write_text(
        '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> "a"|"v"||\n<SAFETYRULE> FREQ(3,10)\n'
        "<READMICRODATA>\n"
    )
    run_batch(folder / "b.arb", folder / "out")


def _arb(number: str, folder: Path) -> None:
    _asc("6", folder)
    text = (folder / "b.arb").read_text()
    (folder / "b.arb").write_text(text.replace("FREQ(3,10)", f"FREQ(3,{number})"))
    run_batch(folder / "b.arb", folder / "out")


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("read", [_px, _jj, _tab, _sdmx, _hst, _ptable, _asc, _arb])
def test_files_with_lines(read, number, tmp_path):
    with pytest.raises(DataError, match=r"line \d+, column \d+") as caught:
        read(number, tmp_path)
    assert caught.value.hint


@pytest.mark.parametrize("number", [LONG, "1" + "0" * 400])
def test_coefficients_of_relations(number):
    text = f"0\n2\n0 5 5 s 0 9 0 0 0\n1 5 5 s 0 9 0 0 0\n1\n0 2 : 0 (-1) 1 ({number})\n"
    with pytest.raises(DataError, check=coded("data.format.expected 6:6")):
        parse_jj(text.splitlines(), "t.jj")


@pytest.mark.parametrize("number", NUMBERS)
def test_cells_of_delimited_files(number, tmp_path):
    (tmp_path / "t.csv").write_text(f"a,v\nT,5\nx,{number}\n")
    plan = {"table": {"source": "t.csv", "value": "v"}, "primary": [{"rule": "range", "min": 1, "max": 3}]}
    with pytest.raises(DataError, check=coded("data.not-a-number 3:2")):
        protect(None, read_table_plan(PLAN | plan, tmp_path))


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_cells_of_frames_and_parquet_files(number, tmp_path):
    frame = pl.DataFrame({"a": ["T", "x"], "v": [5.0, number]})
    frame.write_parquet(tmp_path / "t.parquet")
    plan = read_table_plan(PLAN | {"table": {"value": "v"}, "primary": [{"rule": "range", "min": 1, "max": 3}]})
    with pytest.raises(DataError, check=coded("data.not-a-number")):
        protect(frame, plan)
    records = {"table": {"microdata": "t.parquet", "value": "v"}, "primary": [{"rule": "frequency", "min": 1}]}
    with pytest.raises(DataError, check=coded("data.not-a-number.in_column")):
        protect(None, read_table_plan({**PLAN, "dimensions": {"a": {"column": "a"}}, **records}, tmp_path))


@pytest.mark.parametrize("number", NUMBERS)
def test_records_of_any_table(number, tmp_path):
    (tmp_path / "m.csv").write_text(f"a,v\nx,5\ny,{number}\n")
    plan = {"table": {"microdata": "m.csv", "value": "v"}, "primary": [{"rule": "frequency", "min": 1}]}
    with pytest.raises(DataError, check=coded("data.not-a-number.in_column")):
        protect(None, read_table_plan(PLAN | plan, tmp_path))


@pytest.mark.parametrize("text", ["1e400", LONG, f"1-{LONG}", f"<{LONG}", f">={LONG}"])
def test_published_cells(text):
    with pytest.raises(DataError, check=coded("data.unreadable-cell")):
        read_texts(("5", text), "v")
