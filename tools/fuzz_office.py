"""Targets for damaged files of statistical offices: their tables, records, hierarchies, batches, and workbooks."""

import io
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from sfumato.engines.workbooks.sheets import read_sheet
from sfumato.errors import SfumatoError
from sfumato.tables.argus.office_table import ArgusTable
from sfumato.tables.build import build, read_source
from sfumato.tables.formats.apriori_file import apply_apriori
from sfumato.tables.formats.batch_file import (
    apriori_in,
    check_commands,
    output_in,
    parse_batch,
    recode_in,
    rules_in,
    specification_in,
    suppression_in,
)
from sfumato.tables.formats.cells_file import read_cells
from sfumato.tables.formats.delimited_cells import read_sdmx, sdmx_text
from sfumato.tables.formats.hierarchy_files import read_hrc, read_recoding, tree_of_json
from sfumato.tables.formats.metadata import parse_metadata, read_metadata
from sfumato.tables.formats.px import parse_px, read_px
from sfumato.tables.formats.records_file import read_records
from sfumato.tables.formats.release_files import workbook
from sfumato.tables.formats.solver_file import read_jj
from sfumato.tables.plan.table_plan import read_table_plan

Target = Callable[[bytes, Path], object]

PX = b"""CHARSET="ANSI";
AXIS-VERSION="2010";
STUB="region","size";
HEADING="year";
VALUES("region")="Total","north","south";
VALUES("size")="Total","small","large";
VALUES("year")="2024","2025";
CODES("region")="T","n","s";
DATA=
60 62
30 31
30 31
28 30
".." 16
14 ".."
32 32
16 15
16 17;
"""
JJ = b"""0
7
0 60 60 s 0 99 0 0 0
1 28 28 s 0 99 0 0 0
2 32 32 s 0 99 0 0 0
3 4 4 u 0 99 1 1 0
4 24 24 s 0 99 0 0 0
5 12.5 12 s 0 99 0 0 0
6 19.5 20 z 0 99 0 0 0
3
0 3 : 0 (-1) 1 (1) 2 (1)
0 3 : 1 (-1) 3 (1) 4 (1)
0 3 : 2 (-1) 5 (1) 6 (1)
"""
METADATA = b"""<SEPARATOR> ";"
region
   <RECODEABLE>
   <TOTCODE> "Total"
   <HIERCODELIST> "region.hrc"
   <HIERLEADSTRING> "@"
   <HIERARCHICAL>
size
   <RECODEABLE>
   <TOTCODE> "Total"
turnover
   <NUMERIC>
   <DECIMALS> 1
freq
   <NUMERIC>
   <FREQUENCY>
"""
RECORDS_METADATA = b"""region 1 2
   <RECODEABLE>
   <HIERARCHICAL>
   <HIERLEVELS> 1 1
size 4 1 "9"
   <RECODEABLE>
turnover 6 5
   <NUMERIC>
   <DECIMALS> 1
weight 12 3
   <NUMERIC>
   <WEIGHT>
"""
RECORDS = b"11 1  12.5 1.0\n12 2   3.0 2.5\n21 9 100.0 1.0\n22 1   0,5 3.0\n"
CELLS = b"Total;Total;60.0;12\nTotal;1;30.0;6\nTotal;2;30.0;6\nN;Total;60.0;12\nN;1;30.0;6\nN;2;30.0;6\n"
HRC = b"north\n@coast\n@@harbor\n@@beach\n@inland\nsouth\n"
TREE = b"""{"name": "Total", "children": [
{"name": "north", "children": [{"name": "coast"}, {"name": "inland"}]}, {"name": "south"}]}"""
RECODING = b"A:north,coast\nB:south\n<MISSING> 9\n<CODELIST> codes.cdl\n"
APRIORI = b"T,Total,2024,s\nn,Total,2024,u\nn,Total,2024,pl,3,4\ns,small,2024,c,12\ns,Total,2025,w,2\nn,large,2024,z\n"
BATCH = b"""<OPENMICRODATA> "rows.asc"
<OPENMETADATA> "rows.rda"
<SPECIFYTABLE> "region""size"|"turnover"|"turnover"|"turnover",-FREQ
<SAFETYRULE> P(10,100,1)|FREQ(3,20)|NK(2,85)
<READMICRODATA>
<SUPPRESS> OPT(1,5)
<SUPPRESS> GH(1,20,0)
<APRIORI> "a.hst",1,";",0,1
<RECODE> 1,1,"region.grc"
<WRITETABLE> (1,4,AS+,"out.sbs")
<GOINTERACTIVE>
"""
LONG = b"""region;size;turnover;firms;top
Total;Total;60,0;12;20
Total;small;30,0;6;9
Total;large;30,0;6;20
north;Total;28,0;5;20
north;small;14,0;3;9
north;large;14,0;2;13,5
south;Total;32,0;7;8
south;small;16,0;3;6
south;large;16,0;4;8
"""
ODS = b"""<?xml version="1.0" encoding="UTF-8"?><office:document-content
xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0">
<office:body><office:spreadsheet><table:table table:name="a">
<table:table-row><table:table-cell office:value-type="string"><text:p>place</text:p></table:table-cell>
</table:table-row><table:table-row table:number-rows-repeated="3">
<table:table-cell table:number-columns-repeated="2" office:value-type="float" office:value="12.5">
<text:p>12.5</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16380"/>
</table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"""
LONG_PLAN = {
    "version": 1,
    "table": {
        "source": "cells.csv",
        "value": "turnover",
        "decimal": ",",
        "frequency": "firms",
        "contributions": ["top"],
    },
    "dimensions": {"region": {"column": "region", "total": "Total"}, "size": {"column": "size", "total": "Total"}},
    "primary": [{"rule": "frequency", "min": 3}, {"rule": "dominance", "n": 1, "k": 80}],
}


@cache
def _table() -> ArgusTable:
    return parse_px(PX.decode())


def _into(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def _refused(call: Callable[[], object]) -> None:
    with suppress(SfumatoError):
        call()


def read_axis(content: bytes, folder: Path) -> None:
    """Read a table in PC-Axis format."""
    _refused(lambda: read_px(_into(folder, "t.px", content)))


def read_solver(content: bytes, folder: Path) -> None:
    """Read a table in solver format."""
    _refused(lambda: read_jj(_into(folder, "t.jj", content)))


def read_description(content: bytes, folder: Path) -> None:
    """Read metadata of a table, and its cells with them."""
    _into(folder, "region.hrc", b"N\n")
    _refused(lambda: read_cells(_into(folder, "t.tab", CELLS), read_metadata(_into(folder, "t.rda", content))))


def read_described_cells(content: bytes, folder: Path) -> None:
    """Read cells without a header."""
    _into(folder, "region.hrc", b"N\n")
    metadata = parse_metadata(METADATA.decode().splitlines())
    _refused(lambda: read_cells(_into(folder, "t.tab", content), metadata))
    _refused(lambda: read_cells(folder / "t.tab", metadata, "turnover", []))


def read_fixed(content: bytes, folder: Path) -> None:
    """Read records of fixed width and their metadata: damage in either."""
    place = content.find(b"\0\0\0")
    described, records = (content[:place], content[place + 3 :]) if place >= 0 else (content, RECORDS)
    _refused(lambda: read_records(_into(folder, "r.asc", records), parse_metadata(_lines(described))))


def read_tree(content: bytes, folder: Path) -> None:
    """Read a hierarchy, by leading signs or as nested names."""
    _refused(lambda: read_hrc(_into(folder, "t.hrc", content), "region", "Total"))
    _refused(lambda: tree_of_json(content.decode("utf-8", "replace"), "region"))


def read_recodes(content: bytes, folder: Path) -> None:
    """Read recodings."""
    _refused(lambda: read_recoding(_into(folder, "t.grc", content), ["north", "coast", "south", "9"]))


def read_a_priori(content: bytes, folder: Path) -> None:
    """Read a priori information about cells."""
    path = _into(folder, "t.hst", content)
    _refused(lambda: apply_apriori(path, _table()))
    _refused(lambda: apply_apriori(path, _table(), ";", ignore_errors=True, expand_trivial=True))


def read_commands(content: bytes, folder: Path) -> None:  # noqa: ARG001
    """Read a batch, command by command."""
    with suppress(SfumatoError):
        commands = parse_batch(_lines(content))
        _refused(lambda: check_commands(commands, "t.arb"))
        for command in commands:
            for part in (specification_in, rules_in, suppression_in, output_in, apriori_in, recode_in):
                _refused(lambda part=part, command=command: part(command, "t.arb"))


def read_exchange(content: bytes, folder: Path) -> None:
    """Read a table in SDMX-CSV."""
    _refused(lambda: read_sdmx(_into(folder, "t.csv", content), _table().trees))


def read_long(content: bytes, folder: Path) -> None:
    """Read cells in rows, and check them with a plan."""
    _into(folder, "cells.csv", content)
    plan = read_table_plan(LONG_PLAN, folder)
    _refused(lambda: build(plan, read_source(plan)))


def read_workbook(content: bytes, folder: Path) -> None:
    """Read a sheet of a validly packed workbook whose inner text is damaged."""
    path = folder / "t.xlsx"
    with zipfile.ZipFile(io.BytesIO(_workbook())) as good, zipfile.ZipFile(path, "w") as bad:
        for name in good.namelist():
            bad.writestr(name, content if re.search(r"sheet1\.xml$", name) else good.read(name))
    _refused(lambda: read_sheet(path, None))


def read_open_workbook(content: bytes, folder: Path) -> None:
    """Read the same of an .ods file."""
    path = folder / "t.ods"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("META-INF/manifest.xml", "<manifest/>")
        file.writestr("content.xml", content)
    _refused(lambda: read_sheet(path, None))


def read_packed(content: bytes, folder: Path) -> None:
    """Read a workbook with damage in the packed file."""
    _refused(lambda: read_sheet(_into(folder, "t.xlsx", content), None))


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()


@cache
def _workbook() -> bytes:
    return workbook(["region", "turnover"], [["north", "12.5"], ["south", "3"]], [False, True])


def _sheet() -> bytes:
    with zipfile.ZipFile(io.BytesIO(_workbook())) as good:
        return next(good.read(name) for name in good.namelist() if name.endswith("sheet1.xml"))


OFFICE: dict[str, tuple[Target, bytes]] = {
    "px": (read_axis, PX),
    "jj": (read_solver, JJ),
    "rda": (read_description, METADATA),
    "tab": (read_described_cells, CELLS),
    "asc": (read_fixed, RECORDS_METADATA + b"\0\0\0" + RECORDS),
    "hrc": (read_tree, HRC),
    "nested": (read_tree, TREE),
    "grc": (read_recodes, RECODING),
    "hst": (read_a_priori, APRIORI),
    "arb": (read_commands, BATCH),
    "sdmx": (read_exchange, sdmx_text(_table()).encode()),
    "cells": (read_long, LONG),
    "workbook": (read_workbook, _sheet()),
    "open workbook": (read_open_workbook, ODS),
    "packed workbook": (read_packed, _workbook()),
}
