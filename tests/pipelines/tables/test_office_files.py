"""`protect` and `audit` read and judge the files of offices."""

from typing import get_args

import numpy as np
import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import DataError, PlanError
from sfumato.pipelines.tables.table_source import columns_from
from sfumato.report.tables.report import ALL_UNSAFE, review_figures, review_lines
from sfumato.tables.argus.office_table import ArgusTable
from sfumato.tables.argus.safety_rules import mask_office
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.deadline import within
from sfumato.tables.formats.argus_outputs import output_text
from sfumato.tables.formats.cells_file import written_cells
from sfumato.tables.formats.delimited_cells import sdmx_text
from sfumato.tables.formats.px import px_text
from sfumato.tables.formats.solver_file import jj_text
from sfumato.tables.plan.table_plan import OfficeFile, read_table_plan

AREA = CodeTree("area", ("Total",), {("a",): ("Total",), ("b",): ("Total",), ("c",): ("Total",)})
SEX = CodeTree("sex", ("Total",), {("m",): ("Total",), ("w",): ("Total",)})


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
    return ArgusTable(
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
    assert done.passed and done.report["masked"] == 4
    (tmp_path / "t.jj").write_text(jj_text(table))
    plan = {"version": 1, "table": {"cells": str(tmp_path / "t.jj"), "relations": str(tmp_path / "t.jj")}}
    by_cells = sf.protect(plan=plan)
    assert by_cells.passed and by_cells.report["masked"] == 4


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
    house = {
        "table.jj",
        "table.hst",
        "table.tab",
        "table-sbs.txt",
        "table-code-value.txt",
        "table.rda",
        "table-sdmx.csv",
    }
    assert house == {path.name for path in (out / "internal").iterdir()}
    sheet = openpyxl.load_workbook(out / "table.xlsx").active
    marked = [row[-1] for row in sheet.iter_rows(min_row=2) if row[-1].fill.fgColor.rgb == "FFF2B8B5"]
    assert len(marked) == 4 and {cell.value for cell in marked} == {"x"}
    for file in ("table.px", "table.xlsx", "table-pivot.csv"):
        assert sf.audit(out / file, plan_for("n")).checked == 4, file
    assert sf.audit(out / "table-sdmx.csv", plan_for("OBS_VALUE")).passed
    flags = {line.split(",")[-1] for line in (out / "table-sdmx.csv").read_text().splitlines()[1:]}
    assert flags == {"F", "M"}, "which masked cells are unsafe by themselves is not handed out"


# What τ-ARGUS writes of the same table: codes first, x for masked values, - for empty cells, a status or a flag last.
ARGUS = {
    "pivot.csv": '"area","sex","n","Status"\n' + "".join(f'"{a}","{s}",{v},{k}\n' for a, s, v, k in [
        ("Total", "Total", "37", 1), ("Total", "m", "15", 1), ("Total", "w", "22", 1),
        ("a", "Total", "11", 1), ("a", "m", "x", 5), ("a", "w", "x", 11),
        ("b", "Total", "15", 1), ("b", "m", "x", 5), ("b", "w", "x", 11),
        ("c", "Total", "11", 1), ("c", "m", "11", 1), ("c", "w", "-", 14),
    ]),
    "code-value.txt": "".join(f"{a},{s},{v}\n" for a, s, v in [
        ("Total", "Total", "37"), ("Total", "m", "15"), ("Total", "w", "22"),
        ("a", "Total", "11"), ("a", "m", "x"), ("a", "w", "x"),
        ("b", "Total", "15"), ("b", "m", "x"), ("b", "w", "x"),
        ("c", "Total", "11"), ("c", "m", "11"), ("c", "w", "-"),
    ]),
    "table.sbs": "".join(f"{a},{s},{v},{n},{k},\n" for a, s, v, n, k in [
        ("Total", "Total", 37, 37, "V"), ("Total", "m", 15, 15, "V"), ("Total", "w", 22, 22, "V"),
        ("a", "Total", 11, 11, "V"), ("a", "m", 2, 2, "A"), ("a", "w", 9, 9, "D"),
        ("b", "Total", 15, 15, "V"), ("b", "m", 2, 2, "D"), ("b", "w", 13, 13, "D"),
        ("c", "Total", 11, 11, "V"), ("c", "m", 11, 11, "V"), ("c", "w", 0, 0, "V"),
    ]),
    "intermediate.tab": "".join(f'"{a}";"{s}";{v};{v};{v};{k};{p};{p}\n' for a, s, v, k, p in [
        ("Total", "Total", 37, "S", 0), ("Total", "m", 15, "S", 0), ("Total", "w", 22, "S", 0),
        ("a", "Total", 11, "S", 0), ("a", "m", 2, "U", 1), ("a", "w", 9, "M", 0),
        ("b", "Total", 15, "S", 0), ("b", "m", 2, "U", 1), ("b", "w", 13, "M", 0),
        ("c", "Total", 11, "S", 0), ("c", "m", 11, "S", 0), ("c", "w", 0, "E", 0),
    ]),
}  # fmt: skip
INTERMEDIATE = """<SEPARATOR> ";"
<SAFE> "S"
<UNSAFE> "U"
<PROTECT> "P"
area
  <RECODEABLE>
  <TOTCODE> "Total"
sex
  <RECODEABLE>
  <TOTCODE> "Total"
n
  <NUMERIC>
  <DECIMALS> 0
Freq
  <FREQUENCY>
Cost
  <NUMERIC> <COST>
Status
  <STATUS>
LPL
  <NUMERIC> <LOWERPL>
UPL
  <NUMERIC> <UPPERPL>
"""


@pytest.mark.parametrize("file", ARGUS)
def test_audit_reads_what_the_program_of_the_field_wrote(file, tmp_path):
    (tmp_path / file).write_text(ARGUS[file])
    (tmp_path / "intermediate.rda").write_text(INTERMEDIATE)
    # Of 4 men in two sensitive cells, fewer than 3 in each would be 2 and 2, where the file tells that both are.
    plan = plan_for("n") | {"primary": [{"rule": "frequency", "min": 4}]}
    audit = sf.audit(tmp_path / file, plan)
    assert audit.passed and audit.checked == 4, audit
    # One mask less, and all masks give way.
    shown = {"pivot.csv": ("x,11\n", "9,1\n"), "code-value.txt": ("a,w,x", "a,w,9"), "table.sbs": ("9,9,D", "9,9,V")}
    old, new = shown.get(file, ("9;9;9;M", "9;9;9;S"))
    (tmp_path / file).write_text(ARGUS[file].replace(old, new, 1))
    assert sf.audit(tmp_path / file, plan).exact == 3


def test_an_empty_cell_is_known_and_a_wrong_status_is_named(tmp_path):
    columns = columns_from(_written(tmp_path, "pivot.csv"), read_table_plan(plan_for("n")), published=True)
    assert columns.text("n")[-1] == "0"
    wrong = _written(tmp_path, "table.sbs", ("11,11,V,\nc,w", "11,11,Q,\nc,w"))
    with pytest.raises(sf.DataError, check=coded("data.status.unknown_sign 11:4")):
        sf.audit(wrong, plan_for("n"))


def _written(folder, file, change=("", "")):
    (folder / file).write_text(ARGUS[file].replace(*change))
    return folder / file


def test_audit_reads_solver_files(table, tmp_path):
    path = tmp_path / "t.jj"
    plan = {"version": 1, "table": {"cells": str(path), "relations": str(path)}}
    path.write_text(jj_text(table))
    assert sf.audit(path, plan).exact == 1, "a problem without its answer gives its unsafe cell away"
    done = mask_office(table, "optimal", within(10))
    path.write_text(jj_text(done.table))
    audit = sf.audit(path, plan)
    assert audit.passed and audit.checked == 4
    assert ALL_UNSAFE in review_lines(audit) and review_figures(audit)["all_sensitive"]
    # What the program of the field writes of secondary cells.
    lines = jj_text(table).splitlines()
    for cell in np.flatnonzero(done.table.statuses == 11):
        lines[2 + cell] = lines[2 + cell].replace(" s ", " m ")
    path.write_text("\n".join(lines) + "\n")
    marked = sf.audit(path, plan)
    assert marked.passed
    assert ALL_UNSAFE not in review_lines(marked) and not review_figures(marked)["all_sensitive"]


def test_statuses_of_a_file_do_not_stand_in_the_way_of_protecting_it(table, tmp_path):
    for name, text in written_cells(table, "t").items():
        (tmp_path / name).write_text(text)
    assert sf.protect(tmp_path / "t.tab", plan_for("n")).passed


@pytest.mark.parametrize("encoding", ["latin-1", "cp850", "utf-16"])
def test_tables_are_read_in_their_encoding(encoding, tmp_path):
    rows = ["area,n", "Total,24", "Süd,11", "süd1,2", "süd2,9", "Østfold,13"]
    tree = "Süd\n@süd1\n@süd2\nØstfold\n"
    plan = plan_for("n", source="t.csv", encoding=encoding, separator=";", decimal=",") | {
        "dimensions": {"area": {"column": "area", "hierarchy": "t.hrc"}}
    }
    (tmp_path / "t.csv").write_text("\n".join(rows).replace(",", ";") + "\n", encoding=encoding)
    (tmp_path / "t.hrc").write_text(tree, encoding=encoding)
    done = sf.protect(plan=read_table_plan(plan, tmp_path))
    assert done.external.text("area")[1:] == ("Süd", "süd1", "süd2", "Østfold")
    # What is published is UTF-8, with commas and points: the audit reads it by the same plan.
    done.save(tmp_path / "out")
    assert sf.audit(tmp_path / "out" / "table-external.csv", tmp_path / "out" / "plan.yaml").passed
    people = [line.replace(",", ";") for row in rows[3:] for line in [row] * int(row.split(",")[1])]
    (tmp_path / "m.csv").write_text("\n".join(["area;x", *people]) + "\n", encoding=encoding)
    micro = plan | {"table": {"microdata": "m.csv", "value": "count", "encoding": encoding}}
    crossed = sf.protect(plan=read_table_plan(micro, tmp_path))
    assert crossed.tables["table"].external.texts["count_published"] == done.external.texts["n_published"]
    table = sf.tabulate(tmp_path / "m.csv", ["area"], encoding=encoding)
    assert set(table["area"]) == {"Total", "süd1", "süd2", "Østfold"}


def test_office_files_are_read_in_their_encoding(table, tmp_path):
    codes = {"a": "ä", "b": "ß"}
    tree = CodeTree("area", ("Total",), {("ä",): ("Total",), ("ß",): ("Total",), ("c",): ("Total",)})
    keys = tuple(((codes.get(key[0][0], key[0][0]),), key[1]) for key in table.keys)
    own = table.with_columns(trees=(tree, SEX), keys=keys, statuses=np.ones(12, int))
    files = {**written_cells(own, "t"), "t.px": px_text(own)}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="cp850")
    for name in ("t.tab", "t.px"):
        plan = read_table_plan(plan_for("n", source=name, encoding="cp850"), tmp_path)
        assert "ä" in sf.protect(plan=plan).columns.text("area")
    with pytest.raises(PlanError, check=coded("plan.encoding.no_encoding")):
        read_table_plan(plan_for("n", encoding="klingon"))
    (tmp_path / "c.csv").write_text("area,n\nTotal,5\nä,5\n", encoding="cp850")
    with pytest.raises(DataError, check=coded("data.encoding.wrong_encoding 3:1")) as caught:
        sf.protect(
            tmp_path / "c.csv",
            value="n",
            dimensions={"area": {"column": "area"}},
            method={"name": "rounding", "base": 5},
        )
    assert "table.encoding" in caught.value.hint


def test_audit_reads_intermediate_files(table, tmp_path):
    done = mask_office(
        table.with_columns(frequency=table.values, largest=(table.values, table.values)), "optimal", within(10)
    )
    for options in ({}, {"AR": True, "QU": False}):
        (tmp_path / "t.txt").write_text(output_text(done, 5, options))
        plan = plan_for("n", frequency="people", contributions=["first"])
        assert sf.audit(tmp_path / "t.txt", plan).checked == 4
        assert columns_from(tmp_path / "t.txt", read_table_plan(plan), True).numbers("first")[0] == 37
    (tmp_path / "t.txt").write_text(output_text(done, 5, {}).replace(";2;2;5;", ";2;two;5;"))
    with pytest.raises(DataError, check=coded("data.format.expected 5:6")):
        sf.audit(tmp_path / "t.txt", plan)


def test_withheld_cells_of_sdmx_with_their_values_are_masked(table, tmp_path):
    (tmp_path / "t.csv").write_text(sdmx_text(mask_office(table, "optimal", within(10)).table, house=True))
    assert sf.audit(tmp_path / "t.csv", plan_for("n")).checked == 4
    flagged = (tmp_path / "t.csv").read_text().splitlines()
    (tmp_path / "t.csv").write_text("\n".join(line.rpartition(",")[0] for line in flagged) + "\n")
    assert sf.audit(tmp_path / "t.csv", plan_for("n")).checked == 4


def test_names_of_other_files_are_not_guessed(tmp_path):
    (tmp_path / "t.csv").write_text("area,n,STATUS,Freq\nTotal,24,s,9\na,2,u,1\nb,9,s,4\nc,13,s,4\n")
    dimensions = {"area": {"column": "area"}}
    rule = [{"rule": "status", "column": "STATUS"}]
    assert sf.protect(tmp_path / "t.csv", value="n", dimensions=dimensions, primary=rule).report["masked"] == 2
    with pytest.raises(PlanError, check=coded("plan.no-column.no_column")):
        sf.protect(
            tmp_path / "t.csv",
            value="n",
            frequency="people",
            dimensions=dimensions,
            primary=[{"rule": "frequency", "min": 2}],
        )


SUMS = "T;T;100.5;10 T;a;60.5;6 T;b;40;4 x;T;30.5;3 x;a;20.5;2 x;b;10;1 y;T;70;7 y;a;40;4 y;b;30;3"
FREQUENCY = {"rule": "frequency", "min": 3}


def sums_plan(folder, rda="n\n<FREQUENCY>\n", **table):
    (folder / "t.tab").write_text(SUMS.replace(" ", "\n") + "\n")
    spanning = "".join(f'{name}\n<RECODEABLE>\n<TOTCODE> "T"\n' for name in "rs")
    (folder / "t.rda").write_text(f'<SEPARATOR> ";"\n{spanning}v\n<NUMERIC>\n<DECIMALS> 1\n{rda}')
    (folder / "t.csv").write_text("r,s,v,n\n" + SUMS.replace(";", ",").replace(" ", "\n") + "\n")
    dimensions = {name: {"column": name, "total": "T"} for name in "rs"}
    plan = {"version": 1, "table": {"source": "t.tab", "value": "v"} | table, "dimensions": dimensions}
    return read_table_plan(plan | {"primary": [FREQUENCY]}, folder)


def masked_in(done):
    data = done.data
    return {(r, s) for r, s, shown in zip(data["r"], data["s"], data["v_published"], strict=True) if shown == "*"}


def test_the_respondents_of_a_tab_file_are_those_that_its_metadata_name(tmp_path):
    silent, named = (sf.protect(plan=sums_plan(tmp_path, **more)) for more in ({}, {"frequency": "n"}))
    assert {("x", "a"), ("x", "b")} <= masked_in(silent) == masked_in(named)
    assert silent.plan.plain["table"]["frequency"] == "n"


def test_the_value_of_a_tab_file_is_what_the_plan_names(tmp_path):
    done = sf.protect(plan=sums_plan(tmp_path, value="n", rda="n\n<NUMERIC>\n"))
    assert list(done.data["n"])[:2] == ["10", "6"]


def test_respondents_of_sdmx_are_taken(tmp_path):
    plan = sums_plan(tmp_path, source="s.csv", value="OBS_VALUE")
    lines = SUMS.replace(";", ",").split(" ")
    (tmp_path / "s.csv").write_text("r,s,OBS_VALUE,RESPONDENTS\n" + "\n".join(lines) + "\n")
    assert sf.protect(plan=plan).plan.table.frequency == "RESPONDENTS"


@pytest.mark.parametrize("rule", [FREQUENCY, {"rule": "group-disclosure", "dimension": "r"}])
@pytest.mark.parametrize("negative", [False, True])
def test_sums_are_not_taken_for_respondents(tmp_path, rule, negative):
    plan = sums_plan(tmp_path, source="t.csv")
    if negative:
        text = "r,s,v\nT,T,2\nT,a,1\nT,b,1\nx,T,-1\nx,a,-1\nx,b,0\ny,T,3\ny,a,2\ny,b,1\n"
        (tmp_path / "t.csv").write_text(text)
    plain = {**plan.plain, "primary": [rule]}
    with pytest.raises(PlanError) as caught:
        sf.protect(plan=read_table_plan(plain, tmp_path))
    assert caught.value.hint and caught.value.code in ("plan.no-frequency", "plan.no-dimension")


@pytest.mark.parametrize("key", ["frequency", "holdings"])
def test_fewer_than_nobody_is_refused(tmp_path, key):
    plan = sums_plan(tmp_path, source="t.csv", **{"frequency": "n", key: "n"})
    (tmp_path / "t.csv").write_text((tmp_path / "t.csv").read_text().replace("10,1\n", "10,-1\n"))
    with pytest.raises(DataError, check=coded("data.range 7:4")):
        sf.protect(plan=plan)


@pytest.mark.parametrize(
    ("change", "place"), [(("A,2", "A,two"), "line 3, column 2"), (("Total,5", "Total,6"), "line 2, column 1")]
)
def test_what_is_wrong_in_one_of_several_tables_is_told_with_its_line(change, place, tmp_path):
    (tmp_path / "good.csv").write_text("sex,n\nTotal,5\nm,2\nf,3\n")
    (tmp_path / "bad.csv").write_text("area,n\nTotal,5\nA,2\nB,3\n".replace(*change))
    tables = [
        {"name": file, "source": f"{file}.csv", "dimensions": {column: {"column": column}}}
        for file, column in (("good", "sex"), ("bad", "area"))
    ]
    plan = {"version": 1, "table": {"value": "n"}, "tables": tables, "primary": [{"rule": "frequency", "min": 2}]}
    with pytest.raises(sf.DataError, match=rf"^bad\.csv, {place}: "):
        sf.protect(None, read_table_plan(plan, tmp_path))
