"""Batch files: every command runs; what is not supported, or wrong, is said with its line."""

import csv

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError, PlanError, SfumatoError, ViolationError
from sfumato.localization.messages import Message
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.tables.formats.solver_file import read_jj
from sfumato.tables.noise.ptable import make_ptable
from sfumato.tables.noise.ptable_file import ptable_text
from sfumato.tables.plan.sections import CellKey

REGIONS = {"N": ["n1", "n2"], "S": ["s1", "s2", "s3"]}


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(3)
    regions = [code for codes in REGIONS.values() for code in codes]
    lines = []
    for place in range(120):
        size, region = int(rng.integers(1, 5)), regions[int(rng.integers(0, 5))]
        value, key = round(float(rng.pareto(1.2) * 50), 2), int(rng.integers(0, 10**8))
        lines.append(f"{size:>2}{region:>3}{value:>10.2f}{int(rng.integers(1, 3)):>2}{int(place % 7 == 0)}0.{key:08d}")
    (tmp_path / "micro.asc").write_text("\n".join(lines) + "\n")
    (tmp_path / "micro.rda").write_text(
        'Size 1 2 99\n  <RECODEABLE>\n  <TOTCODE> "Total"\n'
        'Region 3 3 99\n  <RECODEABLE>\n  <TOTCODE> "Total"\n  <HIERARCHICAL>\n'
        '  <HIERCODELIST> "region.hrc"\n  <HIERLEADSTRING> "@"\n  <CODELIST> "region.cdl"\n'
        "Var2 6 10 9999999999\n  <NUMERIC>\n  <DECIMALS> 2\n"
        'Wgt 16 2 99\n  <WEIGHT>\nAsk 18 1\n  <REQUEST> "1" "2"\n'
        'Key 19 10\n  <RECORDKEY>\n  <DECIMALS> 8\n  <PFILE> "ptable.txt"\n'
    )
    (tmp_path / "region.hrc").write_text("N\n@n1\n@n2\nS\n@s1\n@s2\n@s3\n")
    (tmp_path / "region.cdl").write_text("N,North\nS,South\n")
    (tmp_path / "size.grc").write_text("small: 1,2\nlarge: 3-\n")
    (tmp_path / "known.hst").write_text("Total;N;p\n1;n1;u\n1;n1;pl;5;5\n2;n2;c;3\n")
    (tmp_path / "ptable.txt").write_text(ptable_text(make_ptable(CellKey(deviation=2, variance=1.0))))
    return tmp_path


EVERY = """// a batch file with every command
<COMMENT> nothing
<LOGBOOK> "log.txt"
<VERSIONINFO> "version.txt"
<OPENMICRODATA> "micro.asc"
<OPENMETADATA> "micro.rda"
<SPECIFYTABLE> "Size""Region"|"Var2"||
<SAFETYRULE> P(20,1)|FREQ(3,30)|REQ(50,80,1,10)|ZERO(10)|MIS(1)|WGT(0)|MAN(15)
<SPECIFYTABLE> "Size""Region"|<freq>||"-2"
<SAFETYRULE> FREQ(3,30)
<SPECIFYTABLE> "Size""Region"|"Var2"||"-1"
<SAFETYRULE> NK(2,85)
<SPECIFYTABLE> "Size""Region"|<freq>||
<READMICRODATA>
<RECODE> 3, Size, "size.grc"
<RECODE> 4, Region, 1
<APRIORI> "known.hst", 1, ";", 0, 0
<SOLVER> FREE
<SUPPRESS> OPT(1,1)
<WRITETABLE> (1, 1, QU-, "one.csv")
<WRITETABLE> (1, 2, AS+, "two.csv")
<WRITETABLE> (1, 3, AS+FL+SE+, "three.txt")
<WRITETABLE> (1, 4, HL+, "four.sbs")
<WRITETABLE> (1, 5, AR+HI+, "five.txt")
<WRITETABLE> (1, 6, TR+, "six.jj")
<SUPPRESS> RND(2, 10, 2, 1)
<WRITETABLE> (2, 3, FL+, "rounded.txt")
<SUPPRESS> CTA(1)
<WRITETABLE> (1, 3, FL+AS+, "adjusted.txt")
<SUPPRESS> CKM(4)
<WRITETABLE> (4, 7, AO+AD+AC+, "noisy.txt")
<SUPPRESS> GH(3)
<WRITETABLE> (3, 3, AS+, "hypercube.txt")
<SUPPRESS> NET(3)
<CLEAR>
<OPENMICRODATA> "micro.asc"
<OPENMETADATA> "micro.rda"
<SPECIFYTABLE> "Size""Region"|"Var2"||
<SAFETYRULE> P(20,1)
<SPECIFYTABLE> "Region"|"Var2"||
<SAFETYRULE> P(20,1)
<READMICRODATA>
<SUPPRESS> MOD(0, 1)
<WRITETABLE> (1, 3, AS+, "linked1.txt")
<WRITETABLE> (2, 3, AS+, "linked2.txt")
<CLEAR>
<OPENTABLEDATA> "five.tab"
<OPENMETADATA> "five.rda"
<SPECIFYTABLE> "Size""Region"|"Var2"|"Var2"|"Var2"
<SAFETYRULE> MAN(20)
<READTABLE> 1T
<APRIORY> "none.hst", 1, ",", 1, 1
<SUPPRESS> MOD(1)
<WRITETABLE> (1, 3, AS+FL+, "table.txt")
<GOINTERACTIVE>
<SUPPRESS> OPT(99)
"""


def rows_of(path, delimiter=","):
    with path.open(encoding="utf-8") as file:
        return list(csv.reader(file, delimiter=delimiter))


def test_a_batch_file_with_every_command(folder, sfumato):
    (folder / "five.tab").write_text("1;n1;5;1;3\n2;n1;7;4;1\n1;s1;9;5;1\n2;s1;4;3;1\n")
    (folder / "five.rda").write_text(
        '<SEPARATOR> ";"\nSize\n<RECODEABLE>\n<TOTCODE> "Total"\nRegion\n<RECODEABLE>\n<TOTCODE> "Total"\n'
        '<HIERCODELIST> "region.hrc"\n<HIERLEADSTRING> "@"\n<HIERARCHICAL>\nVar2\n<NUMERIC>\nF\n<FREQUENCY>\n'
        "S\n<STATUS>\n"
    )
    (folder / "none.hst").write_text("1,nowhere,s\n")
    (folder / "all.arb").write_text(EVERY)
    ran = sfumato("protect", "--arb", folder / "all.arb", "--out", folder / "out")
    # Tables 1 and 3 share the regions, and were protected one by one; four.sbs tells respondents that others round.
    # Table 5 has the same variables, and other values.
    assert ran.code == 1 and "hypercube.txt" in ran.err and ran.err.count("Warning") == 3, ran.err
    assert "four.sbs, rounded.txt, noisy.txt: these tables were not protected together" in ran.err
    out = folder / "out"
    codes = rows_of(out / "three.txt")
    assert codes[0] == ["Size", "Region", "Var2", "Status"]
    statuses = {tuple(row[:2]): int(row[3]) for row in codes[1:]}
    assert statuses["1", "n1"] == 9 and statuses["Total", "N"] == 10
    assert 11 in statuses.values()
    assert all((row[2] == "x") == (3 <= int(row[3]) <= 9 or int(row[3]) in (11, 12)) for row in codes[1:])
    flags = {row[-1] for row in rows_of(out / "four.sbs", ";")}
    assert flags <= set("ABCDV") and {"D", "V"} <= flags
    assert len(read_jj(out / "six.jj")) == len(statuses)
    assert all(float(row[2]) % 10 == 0 for row in rows_of(out / "rounded.txt")[1:])
    assert rows_of(out / "adjusted.txt")[0] == ["Size", "Region", "Var2_CTA", "Status"]
    for row in rows_of(out / "noisy.txt", ";"):
        assert abs(int(row[2]) - int(row[3])) <= 2 and int(row[4]) == int(row[2]) - int(row[3])
    assert {row[0] for row in rows_of(out / "hypercube.txt")} == {"Total", "small", "large"}
    assert {row[1] for row in rows_of(out / "noisy.txt", ";")} == {"Total", "N", "S"}
    first = {row[1]: row[2:] for row in rows_of(out / "linked1.txt") if row[0] == "Total"}
    assert first == {row[0]: row[1:] for row in rows_of(out / "linked2.txt")}
    totals = {tuple(row[:2]): row[2:] for row in rows_of(out / "table.txt")[1:]}
    assert totals["Total", "Total"][0] in ("25", "x") and totals["1", "n1"] == ["x", "3"]
    log = (out / "log.txt").read_text()
    assert "passed over" in log and "OPT(99)" not in log
    assert (out / "version.txt").read_text().startswith("Sfumato ")
    assert "Cells by status" in (out / "three.html").read_text()


def batch(folder, table, rule, *lines):
    text = f'<OPENMICRODATA> "micro.asc"\n<OPENMETADATA> "micro.rda"\n<SPECIFYTABLE> "Size""Region"|{table}||\n'
    (folder / "one.arb").write_text(text + f"<SAFETYRULE> {rule}\n<READMICRODATA>\n" + "\n".join(lines) + "\n")
    return run_batch(folder / "one.arb", folder / "out")


@pytest.mark.parametrize(
    ("table", "rule", "way"),
    [('"Var2"', "P(20,1)", "CTA(1)"), ("<freq>", "FREQ(2,30)", "RND(1,10,2,1)"), ("<freq>", "", "CKM(1)")],
)
def test_files_of_changed_tables_tell_no_true_value(folder, table, rule, way):
    writes = [f'<WRITETABLE> (1, {kind}, AS+FL+QU-, "{kind}.txt")' for kind in (2, 3)]
    sbs = ['<WRITETABLE> (1, 4, , "4.txt")'] if way.startswith("RND") else []
    whole = '<WRITETABLE> (1, 3, QU-, "raw.txt")'
    run = batch(folder, table, rule, whole, f"<SUPPRESS> {way}", *writes, *sbs)
    raw = {tuple(row[:2]): row[2] for row in rows_of(folder / "out" / "raw.txt") if row[2] != "x"}
    for kind in (2, 3):
        head, *rows = rows_of(folder / "out" / f"{kind}.txt")
        assert head[3] == "Status" and {int(row[3]) for row in rows} <= set(range(1, 15))
    published = {tuple(row[:2]): row[2] for row in rows}
    assert any(published[key] != value for key, value in raw.items())
    for row in rows_of(folder / "out" / "4.txt", ";") if sbs else ():
        assert row[2] == published[tuple(row[:2])]
    assert Message("note.internal_file", name="3.txt", reason=Message("phrase.sensitivity")) in run.log


def test_whole_keys_that_do_not_fill_their_range_are_refused(folder):
    metadata = (folder / "micro.rda").read_text()
    (folder / "micro.rda").write_text(metadata.replace("Key 19 10", "Key 21 8").replace("<DECIMALS> 8\n  <PF", "<PF"))
    with pytest.raises(DataError, check=coded("data.key-spread")):
        batch(folder, "<freq>", "", "<SUPPRESS> CKM(1)")


def test_records_that_all_have_the_same_key_are_refused(folder):
    """Sums of the same fraction are few, and cells of as many records have the same noise."""
    lines = (folder / "micro.asc").read_text().splitlines()
    (folder / "micro.asc").write_text("".join(f"{line[:18]}0.50000000{line[28:]}\n" for line in lines))
    with pytest.raises(DataError, check=coded("data.key-spread")):
        batch(folder, "<freq>", "", "<SUPPRESS> CKM(1)")


def test_keys_of_cells_are_for_the_house(folder):
    """Who has the perturbation table, too, computes true counts of them."""
    writes = [f'<WRITETABLE> (1, 7, {options}, "{name}.txt")' for name, options in (("keys", "AC+"), ("plain", ""))]
    run = batch(folder, "<freq>", "", "<SUPPRESS> CKM(1)", *writes)
    told = [line for line in run.log if getattr(line, "code", "") == "note.internal_file"]
    assert told == [Message("note.internal_file", name="keys.txt", reason=Message("phrase.cell_keys"))]


def test_tables_that_are_written_before_they_are_protected_are_warned_of(folder, sfumato):
    write = '<WRITETABLE> (1, 1, , "early.csv")'
    early = batch(folder, '"Var2"', "P(20,1)", write, '<WRITETABLE> (1, 5, , "next.txt")')
    assert not early.passed and len(early.warnings) == 1
    assert "early.csv: table 1 was not protected." in early.warnings[0]
    assert "was not protected" in (folder / "out" / "early.html").read_text()
    ran = sfumato("protect", "--arb", folder / "one.arb", "--out", folder / "out")
    assert ran.code == 1 and "Warning: early.csv" in ran.err
    with pytest.raises(PlanError) as caught:
        batch(folder, '"Var2"', "P(20,1)", write, "<SUPPRESS> CTA(1)", '<WRITETABLE> (1, 4, , "x.txt")')
    assert "Written before: early.csv: table 1 was not protected." in caught.value.hint
    unruled = batch(folder, '"Var2"', "", write)
    assert unruled.passed and unruled.warnings[0].code == "note.table_without_rule"
    assert not batch(folder, "<freq>", "FREQ(1,30)", write).warnings
    assert not batch(folder, '"Var2"', "P(20,1)", "<SUPPRESS> MOD(1)", write).warnings


@pytest.mark.parametrize(
    ("table", "rule", "way"),
    [("<freq>", "FREQ(3,30)", "RND(1,1)"), ('"Var2"', "P(20,1)", "RND(1,1)"), ("<freq>", "FREQ(8,60)", "CKM(1)")],
)
def test_changed_tables_are_audited(folder, table, rule, way):
    with pytest.raises(ViolationError, check=coded("promise.audit")) as caught:
        batch(folder, table, rule, f"<SUPPRESS> {way}", '<WRITETABLE> (1, 3, , "changed.txt")')
    assert caught.value.code == "promise.audit" and not (folder / "out" / "changed.txt").exists()


def test_a_batch_file_and_a_plan_are_not_run_together(folder, sfumato):
    (folder / "all.arb").write_text(START)
    ran = sfumato("protect", folder / "plan.yaml", "--arb", folder / "all.arb")
    assert ran.code == 2 and "a batch file and a plan were named" in ran.err


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ("<COVER>", "data.batch.cover_refused 1:1"),
        ("<NONSENSE>", "data.batch.not_supported 1:1"),
        ("hello", "data.batch.there_no_command 1:1"),
        ('<OPENMICRODATA> "nothing.asc"', "data.unreadable"),
        ("<SUPPRESS> MOD(1)", "plan.table"),
        (
            '<OPENMICRODATA> "micro.asc"\n<OPENMETADATA> "micro.rda"\n<SPECIFYTABLE> "Size"',
            "data.batch.spanning_variables_or_response 3:16",
        ),
        ('<OPENMICRODATA> "micro.asc"\n<OPENMETADATA> "micro.rda"\n<SAFETYRULE> P(3)', "plan.order"),
        ('<OPENMETADATA> "micro.rda"', "plan.order"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(folder, lines, where):
    (folder / "bad.arb").write_text(lines + "\n")
    with pytest.raises(SfumatoError, check=coded(where)) as caught:
        run_batch(folder / "bad.arb", folder / "out")
    assert caught.value.hint


START = """<OPENMICRODATA> "micro.asc"
<OPENMETADATA> "micro.rda"
<SPECIFYTABLE> "Size""Region"|"Var2"||
<SAFETYRULE> P(20,1)
<READMICRODATA>
"""


@pytest.mark.parametrize(
    ("before", "kind"), [("CTA(1)", 4), ("CTA(1)", 5), ("RND(1,10)", 6), ("MOD(1)", 7), ("CKM(1)", 5), ("CKM(1)", 4)]
)
def test_outputs_that_do_not_go_with_the_method_are_refused(folder, before, kind):
    text = START.replace("P(20,1)", "FREQ(1)") + f'<SUPPRESS> {before}\n<WRITETABLE> (1, {kind}, AS+, "x.txt")\n'
    (folder / "bad.arb").write_text(text)
    with pytest.raises(PlanError, check=coded("plan.output")):
        run_batch(folder / "bad.arb", folder / "out")


def test_missing_totals_are_said_with_their_line(folder):
    (folder / "t.tab").write_text("1;n1;5\n1;N;5\n")
    (folder / "t.rda").write_text(
        '<SEPARATOR> ";"\nSize\n<RECODEABLE>\nRegion\n<RECODEABLE>\n<HIERCODELIST> "region.hrc"\nVar2\n<NUMERIC>\n'
    )
    text = '<OPENTABLEDATA> "t.tab"\n<OPENMETADATA> "t.rda"\n<SPECIFYTABLE> "Size""Region"|"Var2"||\n<READTABLE> {}\n'
    (folder / "bad.arb").write_text(text.format("0"))
    with pytest.raises(DataError, check=coded("data.missing-parent")) as caught:
        run_batch(folder / "bad.arb", folder / "out")
    assert "<READTABLE> 1" in caught.value.hint
    (folder / "good.arb").write_text(text.format("1") + '<WRITETABLE> (1, 3, QU-, "t.txt")\n')
    run_batch(folder / "good.arb", folder / "out")
    assert ["Total", "Total", "5"] in rows_of(folder / "out" / "t.txt")


def test_variables_are_called_in_any_case(folder):
    """A table that is written in another case than the metadata's is recoded and linked as any other."""
    lines = (
        '<OPENMICRODATA> "micro.asc"\n<OPENMETADATA> "micro.rda"\n<SPECIFYTABLE> "SIZE""region"|"var2"||\n'
        '<SAFETYRULE> P(20,1)\n<READMICRODATA>\n<RECODE> 1, "size", "size.grc"\n<SUPPRESS> GH(1)\n'
        '<WRITETABLE> (1, 3, QU-, "t.txt")\n'
    )
    (folder / "case.arb").write_text(lines)
    run_batch(folder / "case.arb", folder / "out")
    assert "small" in {row[0] for row in rows_of(folder / "out" / "t.txt")}


def test_bad_records_are_said_with_line_and_column(folder):
    (folder / "good.arb").write_text(START)
    whole = (folder / "micro.asc").read_text().splitlines()
    (folder / "micro.asc").write_text("\n".join([*whole[:3], whole[3][:4], *whole[4:]]) + "\n")
    with pytest.raises(DataError, check=coded("data.length")):
        run_batch(folder / "good.arb", folder / "out")
    (folder / "micro.asc").write_text("\n".join([*whole[:3], whole[3].replace(whole[3][3:5], "zz", 1)]) + "\n")
    with pytest.raises(DataError, check=coded("data.unknown-code")):
        run_batch(folder / "good.arb", folder / "out")


def test_linked_tables_are_attacked_by_single_respondents(tmp_path) -> None:
    """Whoever is alone in one cell must not compute the one respondent of another."""
    rows = [
        "a;p;10",
        "b;p;20",
        *(f"c;p;{100 + place}" for place in range(5)),
        *(f"d;p;{50 + place}" for place in range(5)),
    ]
    (tmp_path / "m.asc").write_text("\n".join(rows) + "\n")
    variable = '<RECODEABLE>\n<TOTCODE> "Total"\n'
    (tmp_path / "m.rda").write_text(f'<SEPARATOR> ";"\nR 1\n{variable}S 1\n{variable}T 5\n<NUMERIC>\n')
    (tmp_path / "two.arb").write_text(
        '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> "R"|"T"||\n<SAFETYRULE> FREQ(2,20)\n'
        '<SPECIFYTABLE> "R""S"|"T"||\n<SAFETYRULE> FREQ(2,20)\n<READMICRODATA>\n<SUPPRESS> MOD(0)\n'
        '<WRITETABLE> (1,3,AS+,"both.csv")\n'
    )
    run_batch(tmp_path / "two.arb", tmp_path / "out")
    with (tmp_path / "out" / "both.csv").open(newline="", encoding="utf-8") as stream:
        published = {record[0]: record[1] for record in csv.reader(stream)}
    masked = {code for code, value in published.items() if value == "x"}
    assert {"a", "b"} < masked


def test_batch_files_are_read_in_their_encoding(folder, sfumato):
    text = START + '<SUPPRESS> GH(1)\n<WRITETABLE> (1, 3, QU-, "große.txt")\n'
    micro = (folder / "micro.asc").read_text().replace("s1", "ß1")
    for name, content in {"all.arb": text, "micro.asc": micro, "region.hrc": "N\n@n1\n@n2\nS\n@ß1\n@s2\n@s3\n"}.items():
        (folder / name).write_text(content, encoding="cp850")
    ran = sfumato("protect", "--arb", folder / "all.arb", "--out", folder / "out", "--encoding", "cp850")
    assert ran.code == 0, ran.err
    assert any(row[1] == "ß1" for row in rows_of(folder / "out" / "große.txt"))
    refused = sfumato("protect", folder / "plan.yaml", "--out", folder / "new", "--encoding", "cp850")
    assert refused.code == 2 and "table.encoding" in refused.err


COMMAS = """<OPENMICRODATA> "c.asc"
<OPENMETADATA> "c.rda"
<SPECIFYTABLE> "Region""Size"|"Value"||
<SAFETYRULE> FREQ(2,20)
<READMICRODATA>
<SUPPRESS> OPT(1)
<WRITETABLE> (1, 5, QU-, "c.txt")
"""
TAGS = ("<RECODEABLE>", "<RECODEABLE>\n<TOTCODE> T", "<NUMERIC>", "<RECORDKEY>\n<DECIMALS> 2")
FIXED = ('Region 1 2 "09"', 'Size 3 1 "9" "8"', 'Value 4 6 "999,9"', "Key 10 4")
FREE = ('<SEPARATOR> ";"\nRegion 2 09', 'Size 1 "9" "8"', 'Value 6 "999,9"', "Key")


def commas(folder, kind, change=lambda lines: lines):
    rows = [
        ("a1", "1", "12,5", "0.25"),
        ("a2", "1", "7,25", "0.5"),
        ("a1", "2", "3.5", "0.75"),
        ("09", "2", "10", "0.1"),
    ]
    rows = [row for row in rows for _ in range(3)]
    width = "{:>2}{:>1}{:>6}{:>4}"
    lines = [width.format(*row) if kind == "fixed" else ";".join(row) for row in rows]
    (folder / "c.asc").write_text("\n" + "\n".join(change(lines)) + "\n")
    named = zip(FIXED if kind == "fixed" else FREE, TAGS, strict=True)
    (folder / "c.rda").write_text("".join(f"{variable}\n{tag}\n" for variable, tag in named))
    (folder / "c.arb").write_text(COMMAS)
    run_batch(folder / "c.arb", folder / "out")
    return {tuple(row[:2]): row[2:] for row in rows_of(folder / "out" / "c.txt", ";")}


@pytest.mark.parametrize("kind", ["fixed", "free"])
def test_records_with_decimal_commas_and_quoted_codes_of_missing_values(folder, kind):
    cells = commas(folder, kind)
    assert cells["a2", "1"][:2] == ["21.75", "3"] and cells["Total", "T"][0] == "99.75"
    assert ("09", "2") in cells and ("9", "2") not in cells


@pytest.mark.parametrize(
    ("kind", "old", "new", "where"),
    [
        ("fixed", "a11  12,5", "a11  1x,5", "data.format"),
        ("free", "a1;1;12,5", "a1;1;1x,5", "data.format"),
        ("fixed", "a11  12,5", "a11      ", "data.format"),
        ("free", "a1;1;12,5", "a1;1;999,9", "data.format"),
        ("free", "a1;1;", "a1;;", "data.no-code"),
        ("fixed", "a11", "a1 ", "data.no-code"),
        ("free", "a1;1;", "a1;T;", "data.inner-code"),
        ("free", ";0.25", ";key", "data.key"),
    ],
)
def test_what_is_wrong_with_a_record_is_said_with_line_and_column(folder, kind, old, new, where):
    def change(lines):
        return [lines[0].replace(old, new), *lines[1:]]

    with pytest.raises(DataError, check=coded(where)):
        commas(folder, kind, change)
