"""Bad files: truncated, of wrong lengths, with unknown codes, without totals: each with line, column and what to do."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.tables.argus.office_table import plain_table
from sfumato.tables.cells.columns import finite
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.formats.apriori_file import apply_apriori
from sfumato.tables.formats.cells_file import check_totals, read_cells, read_labels, written_cells
from sfumato.tables.formats.delimited_cells import read_sdmx
from sfumato.tables.formats.hierarchy_files import parse_hrc, read_hrc, read_recoding
from sfumato.tables.formats.metadata import parse_metadata, read_metadata
from sfumato.tables.formats.px import parse_px
from sfumato.tables.formats.records_file import read_records
from sfumato.tables.formats.solver_file import parse_jj
from sfumato.tables.plan.table_plan import read_table_plan

JJ = "0\n3\n0 5 5 s 0 9 0 0 0\n1 2 2 u 0 9 1 1 0\n2 3 3 z 0 9 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"
PX = 'STUB="a";\nHEADING="b";\nVALUES("a")="T","x";\nVALUES("b")="T","y";\nDATA=\n5 5\n5 5;\n'
RDA = ['<SEPARATOR> ";"', "a", "<RECODEABLE>", '<TOTCODE> "T"', "v", "<NUMERIC>", "s", "<STATUS>"]
TREE = CodeTree("a", ("T",), {("x",): ("T",), ("y",): ("T",)})


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (JJ.replace("0\n3", "1\n3", 1), "line 1, column 1: the first line is not 0"),
        ("\n".join(JJ.splitlines()[:4]), "line 5, column 1: the file ends before cell"),
        ("\n".join(JJ.splitlines()[:6]), "line 7, column 1: the file ends before relation 1 of 1"),
        (JJ.replace("1 2 2 u 0 9 1 1 0", "1 2 2 u 0 9 1 1"), "line 4, column 1: a cell has 9 fields, this line has 8"),
        (JJ.replace(" u ", " q "), "line 4, column 7: the status is none"),
        (JJ.replace("1 2 2", "1 two 2"), "line 4, column 3: a number is expected"),
        (JJ.replace("2 (1)", "7 (1)"), "line 7, column .*there is no cell 7"),
        (JJ.replace("0 3 :", "0 4 :"), "line 7, column .*4 terms are announced, and 3 are there"),
        (JJ.replace("\n1\n0 3", "\nx\n0 3"), "line 6, column 1: the number of relations is expected"),
        (JJ.replace("u 0 9", "u 3 9"), "line 4, column 3: the value does not lie within its bounds"),
        (JJ.replace("9 1 1 0", "9 1 -1 0"), "line 4, column 13: a protection level is negative"),
        (JJ + "0 2 : 1 (-1) 2 (1)\n", "line 8, column 1: 1 relations are announced, but there are more"),
        (JJ.replace("2 (1)", "x 2 (1)"), "line 7, column .*: unexpected text between the terms"),
    ],
)
def test_solver_files(text, where):
    with pytest.raises(DataError, match=where) as caught:
        parse_jj(text.splitlines(), "t.jj")
    assert caught.value.hint


def test_relations_that_do_not_hold_are_said_with_their_line(tmp_path):
    (tmp_path / "t.jj").write_text(JJ.replace("(-1)", "(1)"))
    plan = {"version": 1, "table": {"cells": "t.jj", "relations": "t.jj"}}
    with pytest.raises(DataError, match=r"relation 0 in line 7 of t\.jj \(by 10\)"):
        sf.protect(plan=read_table_plan(plan, tmp_path))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (PX.split("DATA=", maxsplit=1)[0], "the file ends before DATA="),
        (PX.rstrip().rstrip(";"), "line 7, column 1: the file ends before the semicolon"),
        (PX.replace("5 5;", "5;"), "4 data are expected, and 3 are there"),
        (PX.replace("5 5;", "5 5 5;"), "4 data are expected, and 5 are there"),
        (PX.replace("5 5;", "5 five;"), "line 7, column 3: datum 4 is no number"),
        ('CELLNOTE("T","T")="status 99";\n' + PX, "line 1, column 1: the note contains no status"),
        ('CELLNOTE("q","T")="status 3";\n' + PX, "line 1, column 1: the note with a status names codes of no cell"),
        ('CELLNOTE("T")="status 3";\n' + PX, "line 1, column 1: the note with a status names codes of no cell"),
        ('HIERARCHIES("b")="T";\n' + PX, "line 1, column 1: HIERARCHIES of b leave out 1 of its codes"),
        ('HIERARCHIES("b")=T;\n' + PX, "line 1, column 1: HIERARCHIES of b leave out 2 of its codes"),
        ("DECIMALS=two;\n" + PX, "line 1, column 1: DECIMALS is no number"),
        (PX.replace("STUB", "?"), "line 1, column 1: this is no keyword"),
        (PX.replace('VALUES("b")', 'VALUES("c")'), "VALUES of b are missing"),
        (PX.replace('"T","y"', '"T","T"'), "line 4, column 1: duplicate code of b"),
        (PX.replace("DATA=", 'STUB="b";\nDATA='), "column 1: STUB occurs twice"),
        ('CODES("b")="T";\n' + PX, "column 1: b has 1 CODES and 2 VALUES"),
        ('HIERARCHIES("b")="T","y":"y";\n' + PX, "line 1, column 1: HIERARCHIES of b put a code below two others, or"),
    ],
)
def test_px(text, where):
    with pytest.raises(DataError, match=where) as caught:
        parse_px(text, "t.px")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "line 1, column 1: there is no cell"),
        ("T;5;1\nx;5\n", "line 2, column 3: a cell has 3 fields, this line has 2"),
        ("T;5;1\nx;five;1\n", "line 2, column 3: a number for v is expected"),
        ("T;5;1\nx;5;99\n", "line 2, column 5: this is no status"),
    ],
)
def test_cells(text, where, tmp_path):
    (tmp_path / "t.tab").write_text(text)
    with pytest.raises(DataError, match=where) as caught:
        read_cells(tmp_path / "t.tab", parse_metadata(RDA))
    assert caught.value.hint


def test_cells_with_an_unknown_code_or_without_totals(tmp_path):
    lines = [*RDA[:4], '<HIERCODELIST> "a.hrc"', *RDA[4:]]
    (tmp_path / "a.hrc").write_text("x\ny\n")
    (tmp_path / "t.tab").write_text("T;5;1\nz;5;1\n")
    with pytest.raises(DataError, match="line 2, column 1: the hierarchy of a does not have this code"):
        read_cells(tmp_path / "t.tab", parse_metadata(lines))
    (tmp_path / "t.tab").write_text("x;5;1\n")
    with pytest.raises(DataError, match="parent of row 1") as caught:
        read_cells(tmp_path / "t.tab", parse_metadata(lines)).relations()
    assert "totals" in caught.value.hint


@pytest.mark.parametrize(
    ("tag", "cell", "where"),
    [
        ("FREQUENCY", "-2", "line 2, column 5: n is negative"),
        ("FREQUENCY", "2.5", "line 2, column 5: n, a number of respondents, is not whole"),
        ("LOWERPL", "-2", "line 2, column 5: n is negative"),
        ("UPPERPL", "-2", "line 2, column 5: n is negative"),
        ("COSTVAR", "-2", "line 2, column 5: n is negative"),
    ],
)
def test_cells_with_what_cannot_be(tmp_path, tag, cell, where):
    lines = [*RDA[:6], "n", f"<{tag}>"]
    (tmp_path / "t.tab").write_text(f"T;5;3\nx;5;{cell}\n")
    with pytest.raises(DataError, match=where) as caught:
        read_cells(tmp_path / "t.tab", parse_metadata(lines))
    assert caught.value.hint


def test_weighted_respondents_are_announced_and_written_so(tmp_path):
    lines = [*RDA[:6], "n", "<FREQUENCY>", "<DECIMALS> 1"]
    (tmp_path / "t.tab").write_text("T;5;4\nx;3;2.5\ny;2;1.5\n")
    table = read_cells(tmp_path / "t.tab", parse_metadata(lines))
    for name, text in written_cells(table, "w").items():
        (tmp_path / name).write_text(text)
    again = read_cells(tmp_path / "w.tab", read_metadata(tmp_path / "w.rda"))
    assert again.frequency.tolist() == [4.0, 2.5, 1.5]


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        (["<RECODEABLE>"], "line 1, column 1: <RECODEABLE> precedes any variable"),
        (["a", " <WHATEVER>"], "line 2, column 2: <WHATEVER> is unknown"),
        (["a", "<NUMERIC"], "line 2, column 1: the tag has no end"),
        (["a", "<DECIMALS>"], "line 2, column 1: nothing follows"),
        (["a", "<DECIMALS> 1.5"], "line 2, column 1: the number of decimals is no whole number"),
        (["a", "<DECIMALS> -1"], "line 2, column 1: the number of decimals is no whole number"),
        (['<SEPARATOR> ";;"'], "line 1, column 1: the separator is not one sign"),
        ([], "line 1, column 1: no variable is described"),
        (["a 1 1", "<RECODEABLE>", "v 2 4", "a 6 1"], "line 4, column 1: line 1 describes a already"),
        (['<SEPARATOR> ";"', "a", "<RECODEABLE>", "A", "<NUMERIC>"], "line 4, column 1: line 2 describes A already"),
    ],
)
def test_metadata(lines, where):
    with pytest.raises(DataError, match=where):
        parse_metadata(lines, "t.rda")


@pytest.mark.parametrize(
    ("separator", "text", "column"),
    [('<SEPARATOR> ";"\n', "x;5\ny;6\nz;\n", 3), ("", "x   5\ny  16\nz  1\n", 5)],
)
def test_a_last_record_that_is_cut_off_is_said_with_its_line(tmp_path, separator, text, column):
    lines = f"{separator}a 1 1\n<RECODEABLE>\nv 2 4\n<NUMERIC>\n".splitlines()
    (tmp_path / "m.asc").write_text(text)
    with pytest.raises(DataError, match=f"line 3, column {column}: the last record ends before its last field"):
        read_records(tmp_path / "m.asc", parse_metadata(lines))


@pytest.mark.parametrize("tag", ["NUMERIC", "WEIGHT", "RECORDKEY"])
@pytest.mark.parametrize("cut", ["y  1", "y ", "y  16\nu 1"])
def test_a_number_within_which_a_line_ends_is_said_with_line_and_column(tmp_path, tag, cut):
    lines = f"a 1 1\n<RECODEABLE>\nv 2 4\n<{tag}>\n".splitlines()
    (tmp_path / "m.asc").write_text(f"x   5\n{cut}\nz  17\n")
    short = cut.splitlines()[-1]
    where = f"line {2 + cut.count(chr(10))}, column {len(short) + 1}: the line ends within v"
    with pytest.raises(DataError, match=where) as caught:
        read_records(tmp_path / "m.asc", parse_metadata(lines))
    assert "column" in caught.value.hint


def test_a_last_text_whose_blanks_were_stripped_is_read(tmp_path):
    lines = "v 1 3\n<NUMERIC>\ng 4 4\n<HOLDING>\n".splitlines()
    (tmp_path / "m.asc").write_text("  5abcd\n  6ab\n  7abc\n")
    assert read_records(tmp_path / "m.asc", parse_metadata(lines)).text("g") == ("abcd", "ab", "abc")


def test_records(tmp_path):
    (tmp_path / "t.asc").write_text("x;1;s\nx;1\n")
    with pytest.raises(DataError, match="line 2, column 1: a record has 3 fields, this line has 2"):
        read_records(tmp_path / "t.asc", parse_metadata(RDA))
    (tmp_path / "t.asc").write_text("")
    with pytest.raises(DataError, match="there is no record"):
        read_records(tmp_path / "t.asc", parse_metadata(RDA))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("DATAFLOW,a,OBS_VALUE\n", "there is no observation"),
        ("DATAFLOW,b,OBS_VALUE\nx,T,1\n", "line 1, column 1: column a is missing"),
        ("DATAFLOW,a,OBS_VALUE\nx,q,1\n", "line 2, column 2: the hierarchy of a does not have this code"),
        ("DATAFLOW,a,OBS_VALUE\nx,T,one\n", "line 2, column 3: OBS_VALUE is expected"),
        ("DATAFLOW,a,OBS_VALUE,CONF_STATUS\nx,T,1,!\n", "line 2, column 4: this is no flag"),
        ("DATAFLOW,a,OBS_VALUE,OBS_STATUS\nx,T,1,!\n", "line 2, column 4: this is no status of an observation"),
    ],
)
def test_sdmx(text, where, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=where):
        read_sdmx(tmp_path / "t.csv", (TREE,))


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        (["A", "@@b"], "line 2, column 3: the code lies too deep"),
        (["A", "@"], "line 2, column 2: there is no code"),
        (["A", "@b", "@b"], "line 3, column 2: duplicate code, first in line 2"),
        (["A", "@T"], "line 2, column 1: the code is that of the total"),
        ([], "there is no code"),
    ],
)
def test_hierarchies(lines, where):
    with pytest.raises(DataError, match=where):
        parse_hrc(lines, "t.hrc", "a", "T")


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("x", "line 1, column 2: the line ends before its action"),
        ("q,u", "line 1, column 1: a has no such code"),
        ("x,ab,1,2", "line 1, column 3: bounds a priori are not supported"),
        ("x,hm", "line 1, column 3: the action is unknown"),
        ("x,pl,1,2", "line 1, column 3: protection levels are for sensitive cells"),
        ("x,c", "line 1, column 4: an amount is missing"),
        ("x,c,-1", "line 1, column 5: the amount is negative"),
        ("x,u,,9", "line 1, column 6: 1 fields too many follow u"),
        ("x,c,1,2", "line 1, column 7: 1 fields too many follow c"),
        ("y,pl,1,2,3", "line 1, column 10: 1 fields too many follow pl"),
        ("y,p", "line 1, column 3: p is not allowed for status 9"),
    ],
)
def test_apriori(line, where, tmp_path):
    table = plain_table("v", (TREE,), ((("T",),), (("x",),), (("y",),)), np.array([3.0, 1.0, 2.0]))
    table.statuses[2] = 9
    (tmp_path / "t.hst").write_text(line + "\n")
    with pytest.raises(DataError, match=where) as caught:
        apply_apriori(tmp_path / "t.hst", table)
    assert caught.value.hint
    assert len(apply_apriori(tmp_path / "t.hst", table, ignore_errors=True).passed_over) == 1


def test_costs_of_zero_are_one_and_cases_do_not_matter(tmp_path):
    table = plain_table("v", (TREE,), ((("T",),), (("x",),), (("y",),)), np.array([3.0, 1.0, 2.0]))
    (tmp_path / "t.hst").write_text("x;W;0\ny;U\ny;PL;1;2\n")
    done = apply_apriori(tmp_path / "t.hst", table, ";").table
    assert done.costs[1] == 1 and done.statuses.tolist() == [1, 1, 9]
    assert (done.lower[2], done.upper[2]) == (1, 2)


def test_files_of_windows_and_variables_that_are_not_there(tmp_path):
    metadata = parse_metadata(RDA, "t.rda")
    (tmp_path / "t.tab").write_bytes("T;5;1\nzürich;5;1\n".encode("cp1252"))
    assert read_cells(tmp_path / "t.tab", metadata).codes(1) == ["zürich"]
    with pytest.raises(DataError, match="there is no variable b") as caught:
        read_cells(tmp_path / "t.tab", metadata, "v", ["b"])
    assert caught.value.hint == "Variables are a, v, s."
    (tmp_path / "m.asc").write_text("N 12\nS 1x\n")
    records = parse_metadata(["a 1 1", "<RECODEABLE>", "v 3 2", "<NUMERIC>"], "m.rda")
    with pytest.raises(DataError, match="line 2, column 3: a number for v is expected"):
        read_records(tmp_path / "m.asc", records)


def test_labels_and_recodings(tmp_path):
    (tmp_path / "t.cdl").write_text("1,one\n2\n")
    with pytest.raises(DataError, match="line 2, column 2: the label is missing"):
        read_labels(tmp_path / "t.cdl")
    (tmp_path / "t.cdl").write_text("9,nine\n")
    with pytest.raises(DataError, match="line 1, column 1: the code is unknown"):
        read_labels(tmp_path / "t.cdl", {"1"})
    for text, where in {
        "A 1\n": "line 1, column 1: there is no colon",
        "A: 1,7\n": "line 1, column 6: the code is unknown",
        "A: 1\nB: 1\n": "line 2, column 1: a code is recoded twice",
        "<TREERECODE>\n7\n": "line 2, column 1: the code is unknown",
        "": "there is nothing to recode",
    }.items():
        (tmp_path / "t.grc").write_text(text)
        with pytest.raises(DataError, match=where):
            read_recoding(tmp_path / "t.grc", ["1", "2"])


@pytest.mark.parametrize(
    ("line", "column", "what"),
    [("x;;3;2;1", 3, "v"), ("x;5;;2;1", 5, "f"), ("x;5;3;;1", 7, "m")],
)
def test_a_cell_of_which_nothing_is_said_is_not_zero(line, column, what, tmp_path):
    lines = ['<SEPARATOR> ";"', "a", "<RECODEABLE>", "v", "<NUMERIC>", "f", "<FREQUENCY>", "m", "<MAXSCORE>"]
    metadata = parse_metadata([*lines, "s", "<STATUS>"])
    (tmp_path / "t.tab").write_text(f"Total;5;3;2;1\n{line}\n")
    with pytest.raises(DataError, match=f"line 2, column {column}: a number for {what} is expected"):
        read_cells(tmp_path / "t.tab", metadata)
    (tmp_path / "t.tab").write_text("Total;5;3;2;1\nx;5;3;2;1\ny;;;;14\n")
    assert read_cells(tmp_path / "t.tab", metadata).values.tolist() == [5, 5, 0]


def test_totals_that_do_not_add_up_are_said_with_their_line(tmp_path):
    metadata = parse_metadata(['<SEPARATOR> ";"', "a", "<RECODEABLE>", "v", "<NUMERIC>"])
    (tmp_path / "t.tab").write_text("\nTotal;6\n\nx;5\ny;2\n")
    table = read_cells(tmp_path / "t.tab", metadata)
    with pytest.raises(DataError, match=r"t\.tab, line 2, column 1: totals do not add up: the grand total \(by 1\)"):
        check_totals(table, "t.tab", tolerance=0.0)
    check_totals(table, "t.tab", tolerance=1.0)


def test_a_variable_without_its_place_is_said_with_the_line_of_the_metadata(tmp_path):
    (tmp_path / "t.asc").write_text("x1\n")
    with pytest.raises(DataError, match=r"t\.rda, line 3, column 1: v has no position"):
        read_records(tmp_path / "t.asc", parse_metadata(["a 1 1", "<RECODEABLE>", "v 2", "<NUMERIC>"], "t.rda"))


def test_a_blank_in_place_of_the_separator_is_said(tmp_path):
    (tmp_path / "a.hst").write_text("x;c 5\n")
    table = plain_table("v", (TREE,), ((("T",),), (("x",),), (("y",),)), np.array([3.0, 1.0, 2.0]))
    with pytest.raises(DataError, match="line 1, column 4: a blank follows c instead of the separator"):
        apply_apriori(tmp_path / "a.hst", table, ";")


def test_signs_of_another_encoding_are_said_with_their_place(tmp_path):
    (tmp_path / "a.hrc").write_bytes(b"x\ny\nz\x81\n")
    with pytest.raises(DataError, match=r"a\.hrc, line 3, column 2: the file is not CP1252"):
        read_hrc(tmp_path / "a.hrc", "a", "T")
    with pytest.raises(DataError, match=r"a\.hrc, line 3, column 2: the file is not UTF-8"):
        read_hrc(tmp_path / "a.hrc", "a", "T", encoding="utf-8")


@pytest.mark.parametrize(
    ("levels", "where"), [("2 1", "t.tab, line 2, column 1: the levels of a end at 2, 3 digits, and a code has 1")]
)
def test_codes_that_end_between_levels_are_said_with_their_place(levels, where, tmp_path):
    (tmp_path / "t.tab").write_text("T;5;1\nx;5;1\n")
    with pytest.raises(DataError, match=where):
        read_cells(tmp_path / "t.tab", parse_metadata([*RDA[:4], f"<HIERLEVELS> {levels}", *RDA[4:]]))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("A: x-b\n", "line 1, column .*no code lies in this range"),
        ("A:\n", "line 1, column 1: no code is recoded"),
        (": a\n", "line 1, column 1: there is no new code"),
    ],
)
def test_recodings_of_nothing(text, where, tmp_path):
    (tmp_path / "t.grc").write_text(text)
    with pytest.raises(DataError, match=where):
        read_recoding(tmp_path / "t.grc", ["a", "b"])


SDMX = """DATAFLOW,a,OBS_VALUE,OBS_STATUS,CONF_STATUS,STATUS
F,T,7,A,F,1
F,x,5,A,F,1
F,y,2,Q,A,5
"""


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ((",A,5", ",A,99"), "line 4, column 6: this is no status"),
        ((",A,5", ",A,0"), "line 4, column 6: this is no status"),
        (("F,y,2,Q,A,5", "F,y,2"), "line 4, column 4: a row has too many or too few fields"),
        (("F,y", "F,z"), "line 4, column 2: column a has 1 codes that a.hrc does not"),
        (("y,2", "y,two"), "line 4, column 3: column"),
        (("F,T,7,A,F,1\n", ""), "line 2, column 1: the parent of row 1"),
        (("T,7", "T,8"), "line 2, column 1: totals do not add up"),
        (("F,y,2,Q,A,5", "F,x,5,A,F,1"), "line 3, column 1: rows 2 and 3 are the same cell"),
        (("OBS_STATUS", "a"), "line 1, column 4: a column name occurs twice"),
        (("F,y", 'F,"y'), "line 4, column 1: a quote is not closed"),
    ],
)
def test_sdmx_that_a_plan_reads_is_said_with_line_and_column(change, where, tmp_path):
    (tmp_path / "a.hrc").write_text("x\ny\n")
    (tmp_path / "t.csv").write_text(SDMX.replace(*change))
    dimensions = {"a": {"column": "a", "hierarchy": "a.hrc", "total": "T"}}
    plan = {"version": 1, "table": {"value": "OBS_VALUE"}, "dimensions": dimensions}
    for face in (sf.protect, sf.audit):
        with pytest.raises(DataError, match=rf"t\.csv, {where}") as caught:
            face(tmp_path / "t.csv", read_table_plan({**plan, "primary": [{"rule": "frequency", "min": 3}]}, tmp_path))
        assert caught.value.hint


def test_totals_of_px_files_are_said_with_line_and_column(tmp_path):
    (tmp_path / "t.px").write_text(PX.replace("5 5;", "5 6;"))
    plan = {
        "version": 1,
        "table": {"value": "v"},
        "dimensions": {name: {"column": name, "total": "T"} for name in "ab"},
    }
    with pytest.raises(DataError, match=r"t\.px, line \d, column \d: totals do not add up"):
        sf.protect(tmp_path / "t.px", {**plan, "primary": [{"rule": "frequency", "min": 3}]})


def test_no_name_of_a_file_holds_a_null(tmp_path):
    with pytest.raises(DataError, match=r"the file 're\\x00.hrc' cannot be read: no name of a file holds a null"):
        read_hrc(tmp_path / "re\0.hrc", "region", "Total")


@pytest.mark.parametrize("sign", ["\x1c", "\x1f", "\x85", "\u3000"])
def test_signs_that_look_like_spaces_end_a_number(sign):
    assert finite(f"12.5{sign}") == 12.5
