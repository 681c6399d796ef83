"""Bad files: truncated, of wrong lengths, with unknown codes, without totals: each with line, column and what to do."""

import numpy as np
import pytest

import sfumato as sf
from refusals import coded
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
        (JJ.replace("0\n3", "1\n3", 1), "data.format.the_first_line_is_not_0 1:1"),
        ("\n".join(JJ.splitlines()[:4]), "data.truncated.cell 5:1"),
        ("\n".join(JJ.splitlines()[:6]), "data.truncated.relation 7:1"),
        (JJ.replace("1 2 2 u 0 9 1 1 0", "1 2 2 u 0 9 1 1"), "data.length.number_of_fields 4:1"),
        (JJ.replace(" u ", " q "), "data.status.the_status_is_none_of_s 4:7"),
        (JJ.replace("1 2 2", "1 two 2"), "data.format.expected 4:3"),
        (JJ.replace("2 (1)", "7 (1)"), "data.format.no_such_cell 7:6"),
        (JJ.replace("0 3 :", "0 4 :"), "data.length.terms 7:6"),
        (JJ.replace("\n1\n0 3", "\nx\n0 3"), "data.format.expected 6:1"),
        (JJ.replace("u 0 9", "u 3 9"), "data.bounds.the_value_does_not_lie_within 4:3"),
        (JJ.replace("9 1 1 0", "9 1 -1 0"), "data.level.a_protection_level_is_negative 4:13"),
        (JJ + "0 2 : 1 (-1) 2 (1)\n", "data.length.relations_are_announced_and_here_stands 8:1"),
        (JJ.replace("2 (1)", "x 2 (1)"), "data.format.terms 7:20"),
    ],
)
def test_solver_files(text, where):
    with pytest.raises(DataError, check=coded(where)) as caught:
        parse_jj(text.splitlines(), "t.jj")
    assert caught.value.hint


def test_relations_that_do_not_hold_are_said_with_their_line(tmp_path):
    (tmp_path / "t.jj").write_text(JJ.replace("(-1)", "(1)"))
    plan = {"version": 1, "table": {"cells": "t.jj", "relations": "t.jj"}}
    with pytest.raises(DataError, check=coded("data.totals")):
        sf.protect(plan=read_table_plan(plan, tmp_path))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (PX.split("DATA=", maxsplit=1)[0], "data.truncated 5:1"),
        (PX.rstrip().rstrip(";"), "data.truncated.semicolon 7:1"),
        (PX.replace("5 5;", "5;"), "data.truncated.datum 7:1"),
        (PX.replace("5 5;", "5 5 5;"), "data.length.data 7:5"),
        (PX.replace("5 5;", "5 five;"), "data.px.datum_is_no_number 7:3"),
        ('CELLNOTE("T","T")="status 99";\n' + PX, "data.status.the_note_tells_no_status 1:1"),
        ('CELLNOTE("q","T")="status 3";\n' + PX, "data.unknown-code.the_note_with_a_status_names 1:1"),
        ('CELLNOTE("T")="status 3";\n' + PX, "data.unknown-code.the_note_with_a_status_names 1:1"),
        ('HIERARCHIES("b")="T";\n' + PX, "data.unknown-code.codes_without_hierarchy 1:1"),
        ('HIERARCHIES("b")=T;\n' + PX, "data.unknown-code.codes_without_hierarchy 1:1"),
        ("DECIMALS=two;\n" + PX, "data.px.decimals_is_no_number 1:1"),
        (PX.replace("STUB", "?"), "data.px.this_is_no_keyword 1:1"),
        (PX.replace('VALUES("b")', 'VALUES("c")'), "data.px.values_of_are_missing 1:1"),
        (PX.replace('"T","y"', '"T","T"'), "data.twice.a_code_of_stands_twice 4:1"),
        (PX.replace("DATA=", 'STUB="b";\nDATA='), "data.twice.occurs_twice 5:1"),
        ('CODES("b")="T";\n' + PX, "data.length.codes 5:1"),
        ('HIERARCHIES("b")="T","y":"y";\n' + PX, "data.hierarchy.hierarchies_of_put_a_code_below 1:1"),
    ],
)
def test_px(text, where):
    with pytest.raises(DataError, check=coded(where)) as caught:
        parse_px(text, "t.px")
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "data.truncated.there_is_no_cell 1:1"),
        ("T;5;1\nx;5\n", "data.length.a_cell_has_fields_this_line 2:3"),
        ("T;5;1\nx;five;1\n", "data.format.expected 2:3"),
        ("T;5;1\nx;5;99\n", "data.status.this_is_no_status 2:5"),
    ],
)
def test_cells(text, where, tmp_path):
    (tmp_path / "t.tab").write_text(text)
    with pytest.raises(DataError, check=coded(where)) as caught:
        read_cells(tmp_path / "t.tab", parse_metadata(RDA))
    assert caught.value.hint


def test_cells_with_an_unknown_code_or_without_totals(tmp_path):
    lines = [*RDA[:4], '<HIERCODELIST> "a.hrc"', *RDA[4:]]
    (tmp_path / "a.hrc").write_text("x\ny\n")
    (tmp_path / "t.tab").write_text("T;5;1\nz;5;1\n")
    with pytest.raises(DataError, check=coded("data.unknown-code.hierarchy 2:1")):
        read_cells(tmp_path / "t.tab", parse_metadata(lines))
    (tmp_path / "t.tab").write_text("x;5;1\n")
    with pytest.raises(DataError, check=coded("data.missing-parent.no_parent")) as caught:
        read_cells(tmp_path / "t.tab", parse_metadata(lines)).relations()
    assert "totals" in caught.value.hint


@pytest.mark.parametrize(
    ("tag", "cell", "where"),
    [
        ("FREQUENCY", "-2", "data.range.negative 2:5"),
        ("FREQUENCY", "2.5", "data.range.not_whole 2:5"),
        ("LOWERPL", "-2", "data.range.negative 2:5"),
        ("UPPERPL", "-2", "data.range.negative 2:5"),
        ("COSTVAR", "-2", "data.range.negative 2:5"),
    ],
)
def test_cells_with_what_cannot_be(tmp_path, tag, cell, where):
    lines = [*RDA[:6], "n", f"<{tag}>"]
    (tmp_path / "t.tab").write_text(f"T;5;3\nx;5;{cell}\n")
    with pytest.raises(DataError, check=coded(where)) as caught:
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
        (["<RECODEABLE>"], "data.metadata.stands_before_any_variable 1:1"),
        (["a", " <WHATEVER>"], "data.metadata.is_unknown 2:2"),
        (["a", "<NUMERIC"], "data.metadata.the_tag_has_no_end 2:1"),
        (["a", "<DECIMALS>"], "data.metadata.nothing_stands_behind 2:1"),
        (["a", "<DECIMALS> 1.5"], "data.metadata.decimals_not_whole 2:1"),
        (["a", "<DECIMALS> -1"], "data.metadata.decimals_not_whole 2:1"),
        (['<SEPARATOR> ";;"'], "data.metadata.the_separator_is_not_one_sign 1:1"),
        ([], "data.truncated.no_variable_is_described 1:1"),
        (["a 1 1", "<RECODEABLE>", "v 2 4", "a 6 1"], "data.metadata.line_describes_already 4:1"),
        (['<SEPARATOR> ";"', "a", "<RECODEABLE>", "A", "<NUMERIC>"], "data.metadata.line_describes_already 4:1"),
    ],
)
def test_metadata(lines, where):
    with pytest.raises(DataError, check=coded(where)):
        parse_metadata(lines, "t.rda")


@pytest.mark.parametrize(
    ("separator", "text", "column"),
    [('<SEPARATOR> ";"\n', "x;5\ny;6\nz;\n", 3), ("", "x   5\ny  16\nz  1\n", 5)],
)
def test_a_last_record_that_is_cut_off_is_said_with_its_line(tmp_path, separator, text, column):
    lines = f"{separator}a 1 1\n<RECODEABLE>\nv 2 4\n<NUMERIC>\n".splitlines()
    (tmp_path / "m.asc").write_text(text)
    with pytest.raises(DataError, check=coded(f"data.truncated.last_record 3:{column}")):
        read_records(tmp_path / "m.asc", parse_metadata(lines))


@pytest.mark.parametrize("tag", ["NUMERIC", "WEIGHT", "RECORDKEY"])
@pytest.mark.parametrize("cut", ["y  1", "y ", "y  16\nu 1"])
def test_a_number_within_which_a_line_ends_is_said_with_line_and_column(tmp_path, tag, cut):
    lines = f"a 1 1\n<RECODEABLE>\nv 2 4\n<{tag}>\n".splitlines()
    (tmp_path / "m.asc").write_text(f"x   5\n{cut}\nz  17\n")
    short = cut.splitlines()[-1]
    where = f"{2 + cut.count(chr(10))}:{len(short) + 1}"
    with pytest.raises(DataError, check=coded(f"data.length.the_line_ends_within_a_number {where}")) as caught:
        read_records(tmp_path / "m.asc", parse_metadata(lines))
    assert "column" in caught.value.hint


def test_a_last_text_whose_blanks_were_stripped_is_read(tmp_path):
    lines = "v 1 3\n<NUMERIC>\ng 4 4\n<HOLDING>\n".splitlines()
    (tmp_path / "m.asc").write_text("  5abcd\n  6ab\n  7abc\n")
    assert read_records(tmp_path / "m.asc", parse_metadata(lines)).text("g") == ("abcd", "ab", "abc")


def test_records(tmp_path):
    (tmp_path / "t.asc").write_text("x;1;s\nx;1\n")
    with pytest.raises(DataError, check=coded("data.length.record 2:1")):
        read_records(tmp_path / "t.asc", parse_metadata(RDA))
    (tmp_path / "t.asc").write_text("")
    with pytest.raises(DataError, check=coded("data.truncated.there_is_no_record 1:1")):
        read_records(tmp_path / "t.asc", parse_metadata(RDA))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("DATAFLOW,a,OBS_VALUE\n", "data.truncated.there_is_no_observation 1:1"),
        ("DATAFLOW,b,OBS_VALUE\nx,T,1\n", "data.length.column_is_missing 1:1"),
        ("DATAFLOW,a,OBS_VALUE\nx,q,1\n", "data.unknown-code.hierarchy 2:2"),
        ("DATAFLOW,a,OBS_VALUE\nx,T,one\n", "data.format.expected 2:3"),
        ("DATAFLOW,a,OBS_VALUE,CONF_STATUS\nx,T,1,!\n", "data.status.flag 2:4"),
        ("DATAFLOW,a,OBS_VALUE,OBS_STATUS\nx,T,1,!\n", "data.status.observation 2:4"),
    ],
)
def test_sdmx(text, where, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, check=coded(where)):
        read_sdmx(tmp_path / "t.csv", (TREE,))


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        (["A", "@@b"], "data.hierarchy.the_code_lies_too_deep 2:3"),
        (["A", "@"], "data.hierarchy.there_is_no_code 2:2"),
        (["A", "@b", "@b"], "data.twice.the_code_stands_in_line_already 3:2"),
        (["A", "@T"], "data.hierarchy.code_of_total 2:1"),
        ([], "data.truncated.there_is_no_code 1:1"),
    ],
)
def test_hierarchies(lines, where):
    with pytest.raises(DataError, check=coded(where)):
        parse_hrc(lines, "t.hrc", "a", "T")


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("x", "data.length.the_line_ends_before_its_action 1:2"),
        ("q,u", "data.unknown-code.no_such_code 1:1"),
        ("x,ab,1,2", "data.action.bounds 1:3"),
        ("x,hm", "data.action.unknown 1:3"),
        ("x,pl,1,2", "data.status.levels 1:3"),
        ("x,c", "data.length.missing_amount 1:4"),
        ("x,c,-1", "data.format.the_amount_is_negative 1:5"),
        ("x,u,,9", "data.length.fields 1:6"),
        ("x,c,1,2", "data.length.fields 1:7"),
        ("y,pl,1,2,3", "data.length.fields 1:10"),
        ("y,p", "data.status.is_not_allowed_for_status 1:3"),
    ],
)
def test_apriori(line, where, tmp_path):
    table = plain_table("v", (TREE,), ((("T",),), (("x",),), (("y",),)), np.array([3.0, 1.0, 2.0]))
    table.statuses[2] = 9
    (tmp_path / "t.hst").write_text(line + "\n")
    with pytest.raises(DataError, check=coded(where)) as caught:
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
    with pytest.raises(DataError, check=coded("data.unknown-variable.there_is_no_variable 1:1")) as caught:
        read_cells(tmp_path / "t.tab", metadata, "v", ["b"])
    assert caught.value.hint == "Variables are a, v, s."
    (tmp_path / "m.asc").write_text("N 12\nS 1x\n")
    records = parse_metadata(["a 1 1", "<RECODEABLE>", "v 3 2", "<NUMERIC>"], "m.rda")
    with pytest.raises(DataError, check=coded("data.format.expected 2:3")):
        read_records(tmp_path / "m.asc", records)


def test_labels_and_recodings(tmp_path):
    (tmp_path / "t.cdl").write_text("1,one\n2\n")
    with pytest.raises(DataError, check=coded("data.labels.the_label_is_missing 2:2")):
        read_labels(tmp_path / "t.cdl")
    (tmp_path / "t.cdl").write_text("9,nine\n")
    with pytest.raises(DataError, check=coded("data.unknown-code.the_code_is_unknown 1:1")):
        read_labels(tmp_path / "t.cdl", {"1"})
    for text, where in {
        "A 1\n": "data.recoding.there_is_no_colon 1:1",
        "A: 1,7\n": "data.unknown-code.no_such_codes 1:6",
        "A: 1\nB: 1\n": "data.recoding.a_code_is_recoded_twice 2:1",
        "<TREERECODE>\n7\n": "data.unknown-code.not_in_hierarchy 2:1",
        "": "data.recoding.there_is_nothing_to_recode 1:1",
    }.items():
        (tmp_path / "t.grc").write_text(text)
        with pytest.raises(DataError, check=coded(where)):
            read_recoding(tmp_path / "t.grc", ["1", "2"])


@pytest.mark.parametrize(
    ("line", "column"),
    [("x;;3;2;1", 3), ("x;5;;2;1", 5), ("x;5;3;;1", 7)],
)
def test_a_cell_of_which_nothing_is_said_is_not_zero(line, column, tmp_path):
    lines = ['<SEPARATOR> ";"', "a", "<RECODEABLE>", "v", "<NUMERIC>", "f", "<FREQUENCY>", "m", "<MAXSCORE>"]
    metadata = parse_metadata([*lines, "s", "<STATUS>"])
    (tmp_path / "t.tab").write_text(f"Total;5;3;2;1\n{line}\n")
    with pytest.raises(DataError, check=coded(f"data.format.expected 2:{column}")):
        read_cells(tmp_path / "t.tab", metadata)
    (tmp_path / "t.tab").write_text("Total;5;3;2;1\nx;5;3;2;1\ny;;;;14\n")
    assert read_cells(tmp_path / "t.tab", metadata).values.tolist() == [5, 5, 0]


def test_totals_that_do_not_add_up_are_said_with_their_line(tmp_path):
    metadata = parse_metadata(['<SEPARATOR> ";"', "a", "<RECODEABLE>", "v", "<NUMERIC>"])
    (tmp_path / "t.tab").write_text("\nTotal;6\n\nx;5\ny;2\n")
    table = read_cells(tmp_path / "t.tab", metadata)
    with pytest.raises(DataError, check=coded("data.totals 2:1")):
        check_totals(table, "t.tab", tolerance=0.0)
    check_totals(table, "t.tab", tolerance=1.0)


def test_a_variable_without_its_place_is_said_with_the_line_of_the_metadata(tmp_path):
    (tmp_path / "t.asc").write_text("x1\n")
    with pytest.raises(DataError, check=coded("data.metadata.has_no_position 3:1")):
        read_records(tmp_path / "t.asc", parse_metadata(["a 1 1", "<RECODEABLE>", "v 2", "<NUMERIC>"], "t.rda"))


def test_a_blank_in_place_of_the_separator_is_said(tmp_path):
    (tmp_path / "a.hst").write_text("x;c 5\n")
    table = plain_table("v", (TREE,), ((("T",),), (("x",),), (("y",),)), np.array([3.0, 1.0, 2.0]))
    with pytest.raises(DataError, check=coded("data.action.blank_for_separator 1:4")):
        apply_apriori(tmp_path / "a.hst", table, ";")


def test_signs_of_another_encoding_are_said_with_their_place(tmp_path):
    (tmp_path / "a.hrc").write_bytes(b"x\ny\nz\x81\n")
    with pytest.raises(DataError, check=coded("data.encoding.wrong_encoding 3:2")):
        read_hrc(tmp_path / "a.hrc", "a", "T")
    with pytest.raises(DataError, check=coded("data.encoding.wrong_encoding 3:2")):
        read_hrc(tmp_path / "a.hrc", "a", "T", encoding="utf-8")


@pytest.mark.parametrize(("levels", "where"), [("2 1", "data.unknown-code.the_levels_of_end_at_digits 2:1")])
def test_codes_that_end_between_levels_are_said_with_their_place(levels, where, tmp_path):
    (tmp_path / "t.tab").write_text("T;5;1\nx;5;1\n")
    with pytest.raises(DataError, check=coded(where)):
        read_cells(tmp_path / "t.tab", parse_metadata([*RDA[:4], f"<HIERLEVELS> {levels}", *RDA[4:]]))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("A: x-b\n", "data.unknown-code.no_code_lies_in_this_range 1:3"),
        ("A:\n", "data.recoding.no_code_is_recoded 1:1"),
        (": a\n", "data.recoding.there_is_no_new_code 1:1"),
    ],
)
def test_recodings_of_nothing(text, where, tmp_path):
    (tmp_path / "t.grc").write_text(text)
    with pytest.raises(DataError, check=coded(where)):
        read_recoding(tmp_path / "t.grc", ["a", "b"])


SDMX = """DATAFLOW,a,OBS_VALUE,OBS_STATUS,CONF_STATUS,STATUS
F,T,7,A,F,1
F,x,5,A,F,1
F,y,2,Q,A,5
"""


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ((",A,5", ",A,99"), "data.status.not_1_to_14 4:6"),
        ((",A,5", ",A,0"), "data.status.not_1_to_14 4:6"),
        (("F,y,2,Q,A,5", "F,y,2"), "data.ragged 4:4"),
        (("F,y", "F,z"), "data.unknown-code.unknown_codes 4:2"),
        (("y,2", "y,two"), "data.not-a-number 4:3"),
        (("F,T,7,A,F,1\n", ""), "data.missing-parent.no_parent 2:1"),
        (("T,7", "T,8"), "data.totals 2:1"),
        (("F,y,2,Q,A,5", "F,x,5,A,F,1"), "data.duplicate-cell.same_cell 3:1"),
        (("OBS_STATUS", "a"), "data.duplicate-columns.twice_header 1:4"),
        (("F,y", 'F,"y'), "data.quotes 4:1"),
    ],
)
def test_sdmx_that_a_plan_reads_is_said_with_line_and_column(change, where, tmp_path):
    (tmp_path / "a.hrc").write_text("x\ny\n")
    (tmp_path / "t.csv").write_text(SDMX.replace(*change))
    dimensions = {"a": {"column": "a", "hierarchy": "a.hrc", "total": "T"}}
    plan = {"version": 1, "table": {"value": "OBS_VALUE"}, "dimensions": dimensions}
    for face in (sf.protect, sf.audit):
        with pytest.raises(DataError, check=coded(where)) as caught:
            face(tmp_path / "t.csv", read_table_plan({**plan, "primary": [{"rule": "frequency", "min": 3}]}, tmp_path))
        assert caught.value.hint


def test_totals_of_px_files_are_said_with_line_and_column(tmp_path):
    (tmp_path / "t.px").write_text(PX.replace("5 5;", "5 6;"))
    plan = {
        "version": 1,
        "table": {"value": "v"},
        "dimensions": {name: {"column": name, "total": "T"} for name in "ab"},
    }
    with pytest.raises(DataError, check=coded("data.totals 6:3")):
        sf.protect(tmp_path / "t.px", {**plan, "primary": [{"rule": "frequency", "min": 3}]})


def test_no_name_of_a_file_holds_a_null(tmp_path):
    with pytest.raises(DataError, check=coded("part.cannot_read")):
        read_hrc(tmp_path / "re\0.hrc", "region", "Total")


@pytest.mark.parametrize("sign", ["\x1c", "\x1f", "\x85", "\u3000"])
def test_signs_that_look_like_spaces_end_a_number(sign):
    assert finite(f"12.5{sign}") == 12.5
