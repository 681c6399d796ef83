"""`protect` and `audit` read and judge the files of offices."""

from typing import get_args

import numpy as np
import pytest

import sfumato as sf
from sfumato.tables.cells.dimensions import Tree
from sfumato.tables.deadline import within
from sfumato.tables.formats.cells_file import written_cells
from sfumato.tables.formats.office_table import OfficeTable
from sfumato.tables.formats.outputs import output_text
from sfumato.tables.formats.px import px_text
from sfumato.tables.formats.sdmx import sdmx_text
from sfumato.tables.formats.solver_file import jj_text
from sfumato.tables.office_protection import mask_office
from sfumato.tables.plan.output import OfficeFile
from sfumato.tables.plan.plan import read_table_plan

AREA = Tree("area", ("Total",), {("a",): ("Total",), ("b",): ("Total",), ("c",): ("Total",)})
SEX = Tree("sex", ("Total",), {("m",): ("Total",), ("w",): ("Total",)})


@pytest.fixture
def table():
    inner = {("a", "m"): 2, ("a", "w"): 9, ("b", "m"): 8, ("b", "w"): 7, ("c", "m"): 5, ("c", "w"): 6}
    keys, values = [], []
    for area in ("Total", "a", "b", "c"):
        for sex in ("Total", "m", "w"):
            keys.append(((area,), (sex,)))
            pairs = inner.items()
            values.append(sum(n for (x, y), n in pairs if area in ("Total", x) and sex in ("Total", y)))
    statuses = np.ones(12, int)
    statuses[keys.index((("a",), ("m",)))] = 5
    unsafe = statuses == 5
    return OfficeTable(
        "n", (AREA, SEX), tuple(keys), np.array(values, float), statuses, lower=unsafe * 1.0, upper=unsafe * 1.0
    )


def plan_for(value, **table):
    dimensions = {"area": {"column": "area"}, "sex": {"column": "sex"}}
    rule = [{"rule": "frequency", "min": 3}]
    return {"version": 1, "table": {"value": value, **table}, "dimensions": dimensions, "primary": rule}


def test_audit_reads_what_was_written(table, tmp_path):
    done = mask_office(table, "optimal", within(10))
    assert (done.table.statuses == 11).sum() == 3
    (tmp_path / "t.px").write_text(px_text(done.table))
    (tmp_path / "sdmx.csv").write_text(sdmx_text(done.table))
    (tmp_path / "code.csv").write_text(output_text(done, 3, {"FL": True, "AS": True}))
    for name, text in written_cells(done.table, "t").items():
        (tmp_path / name).write_text(text)
    for file, value in {"t.px": "n", "sdmx.csv": "OBS_VALUE", "code.csv": "n", "t.tab": "n"}.items():
        audit = sf.audit(tmp_path / file, plan_for(value))
        assert audit.passed and audit.checked == 4, file


def test_audit_finds_what_leaks(table, tmp_path):
    (tmp_path / "t.px").write_text(px_text(table))
    assert sf.audit(tmp_path / "t.px", plan_for("n")).exact == 1


def test_protect_reads_them(table, tmp_path):
    for name, text in written_cells(table.with_columns(statuses=np.ones(12, int)), "t").items():
        (tmp_path / name).write_text(text)
    done = sf.protect(tmp_path / "t.tab", plan_for("n"))
    assert done.holds and done.report["masked"] == 4
    (tmp_path / "t.jj").write_text(jj_text(table))
    plan = {"version": 1, "table": {"cells": str(tmp_path / "t.jj"), "relations": str(tmp_path / "t.jj")}}
    by_cells = sf.protect(plan=plan)
    assert by_cells.holds and by_cells.report["masked"] == 4


CROSSTAB = "area,Total,m,w\nTotal,37,15,22\na,11,2,9\nb,15,8,7\nc,11,5,6\n"


def test_crosstabs_and_workbooks(table, tmp_path):
    (tmp_path / "cross.csv").write_text(CROSSTAB)
    by_csv = sf.protect(tmp_path / "cross.csv", plan_for("n"))
    assert by_csv.report["masked"] == 4
    import openpyxl

    book = openpyxl.Workbook()
    for line in CROSSTAB.splitlines():
        book.active.append([int(text) if text.isdigit() else text for text in line.split(",")])
    book.save(tmp_path / "cross.xlsx")
    plan = plan_for("n", source="cross.xlsx") | {"output": {"files": list(get_args(OfficeFile))}}
    by_excel = sf.protect(plan=read_table_plan(plan, tmp_path))
    assert by_excel.columns.texts["n_published"] == by_csv.columns.texts["n_published"]
    by_excel.save(tmp_path / "out")
    out = tmp_path / "out"
    names = {"table.px", "table.xlsx", "table-sdmx.csv", "table-pivot.csv"}
    assert names <= {path.name for path in out.iterdir()}
    assert {"table.jj", "table.hst", "table.tab", "table-sbs.txt", "table-code-value.txt", "table.rda"} == {
        path.name for path in (out / "house").iterdir()
    }
    sheet = openpyxl.load_workbook(out / "table.xlsx").active
    marked = [row[-1] for row in sheet.iter_rows(min_row=2) if row[-1].fill.fgColor.rgb == "FFF2B8B5"]
    assert len(marked) == 4 and {cell.value for cell in marked} == {"x"}
    for file in ("table.px", "table.xlsx", "table-pivot.csv"):
        assert sf.audit(out / file, plan_for("n")).checked == 4, file
    assert sf.audit(out / "table-sdmx.csv", plan_for("OBS_VALUE")).passed
    flags = {line.split(",")[-1] for line in (out / "table-sdmx.csv").read_text().splitlines()[1:]}
    assert flags == {"F", "M"}, "which masked cells are unsafe by themselves is not handed out"
