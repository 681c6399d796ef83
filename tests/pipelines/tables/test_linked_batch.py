"""Tables of one batch file that share cells: what is masked in one of them is masked in all."""

import csv

import pytest

from batch_files import OPEN, run, specified, write_records
from refusals import codes_of, refused
from sfumato.errors import PlanError
from sfumato.localization.messages import Message
from sfumato.pipelines.tables.batch.run import run_batch

ROWS = "a1p900 a2p20 a1q30 a2q25 b1p100 b2p90 b1q95 b2q80 c1p70 c2p60 c1q75 c2q85"
HEAD = f'<LOGBOOK> "log.txt"\n{OPEN}'


@pytest.fixture
def folder(tmp_path):
    write_records(tmp_path, ([*row[:3], row[3:]] for row in ROWS.split()))
    return tmp_path


def tables(*rules):
    return HEAD + specified(*((f'"x""{other}"|"v"', rule) for other, rule in zip("yz", rules, strict=True)))


WRITES = tuple(f'<WRITETABLE> ({number}, 3, AS+, "{number}.csv")' for number in (1, 2))


def margins(folder, number):
    with (folder / "out" / f"{number}.csv").open(encoding="utf-8", newline="") as file:
        return {row[0]: row[2:] for row in csv.reader(file) if row[1] == "T"}


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
@pytest.mark.parametrize(
    ("rules", "known"),
    [
        (("P(20,1)", "FREQ(2,10)"), ()),
        (("FREQ(2,10)", "P(20,1)"), ()),
        (("FREQ(1,10)", "FREQ(1,10)"), (1, "u")),
        (("FREQ(1,10)", "FREQ(1,10)"), (2, "u")),
        (("FREQ(1,10)", "FREQ(1,10)"), (1, "m")),
        (("FREQ(1,10)", "FREQ(1,10)"), (2, "ml")),
    ],
)
def test_a_cell_masked_in_one_linked_table_is_masked_in_all(folder, rules, known, way):
    lines = [f"<SUPPRESS> {way}", *WRITES]
    if known:
        (folder / "k.hst").write_text(f"a,T,{known[1]}\n")
        lines.insert(0, f'<APRIORI> "k.hst", {known[0]}, ","')
    run(folder, tables(*rules), *lines)
    first, second = margins(folder, 1), margins(folder, 2)
    assert first["a"][0] == "x"
    assert {code: row[0] for code, row in first.items()} == {code: row[0] for code, row in second.items()}


def test_a_cell_to_publish_in_one_linked_table_and_unsafe_in_the_other_is_masked(folder):
    (folder / "k.hst").write_text("a,T,p\n")
    lines = ('<APRIORI> "k.hst", 2, ","', "<SUPPRESS> MOD(0)", *WRITES)
    run(folder, tables("P(20,1)", "FREQ(2,10)"), *lines)
    assert margins(folder, 2)["a"] == margins(folder, 1)["a"] == ["x", "3"]


ALONE = ("<SUPPRESS> OPT(1,1)", "<SUPPRESS> OPT(2,1)", *WRITES)


def test_tables_that_are_protected_one_by_one_are_attacked_together(folder, sfumato):
    alone = run(folder, tables("P(20,1)", "FREQ(2,10)"), *ALONE)
    assert not alone.passed and len(alone.warnings) == 1
    assert alone.warnings[0].startswith("1.csv, 2.csv: ") and "MOD(0)" in alone.warnings[0]
    assert f"Warning: {alone.warnings[0]}" in (folder / "out" / "log.txt").read_text()
    ran = sfumato("protect", "--arb", folder / "one.arb", "--out", folder / "out")
    assert ran.code == 1 and "were not protected together" in ran.err
    together = run(folder, tables("P(20,1)", "FREQ(2,10)"), "<SUPPRESS> MOD(0)", *WRITES)
    assert together.passed and not together.warnings
    only = run(folder, tables("P(20,1)", "FREQ(2,10)"), *ALONE[:3])
    assert only.passed and not only.warnings
    safe = run(folder, tables("P(20,1)", "FREQ(2,10)"), ALONE[0], *WRITES)
    assert not safe.passed


def test_cells_that_two_tables_give_away_by_their_sums_are_warned_of(folder):
    (folder / "k.hst").write_text("a,1,u\na,1,pl,9,9\n")
    (folder / "c.hst").write_text("a,2,c,1\nb,1,c,1\nb,2,c,1\n")
    lines = ('<APRIORI> "k.hst", 1, ","', '<APRIORI> "c.hst", 1, ","', "<SUPPRESS> OPT(1,1)")
    same = tables("FREQ(1,10)", "FREQ(1,10)").replace('"x""z"', '"x""y"')
    other = '<WRITETABLE> (2, 3, , "2.csv")'
    assert not run(folder, same, *lines, WRITES[0], other).passed
    assert run(folder, same, *lines, WRITES[0]).passed


def test_the_log_of_a_batch_that_goes_wrong_is_written(folder):
    lines = ("<SUPPRESS> OPT(1,1)", WRITES[0], "<SUPPRESS> OPT(7,1)")
    with pytest.raises(PlanError, check=refused("located.command")) as caught:
        run(folder, tables("P(20,1)", "FREQ(2,10)"), *lines)
    notice = str(Message("note.internal_file", name="1.csv", reason=Message("phrase.sensitivity")))
    log = (folder / "out" / "log.txt").read_text().splitlines()
    assert notice in log and log[-1].startswith("Error: one.arb, line 11")
    assert f"Written before: {notice}" in caught.value.hint


COUNTS = HEAD + '<SPECIFYTABLE> "x""y"|<freq>||\n<SAFETYRULE> FREQ(3,10)\n<READMICRODATA>\n'


def test_respondents_of_counts_are_as_hidden_as_the_counts(folder):
    (folder / "m.asc").write_text((folder / "m.asc").read_text() + "b;1;p;5\nb;1;p;6\nc;2;p;7\nc;2;p;8\n" * 2)
    write = '<WRITETABLE> (1, 4, , "4.csv")'
    rounded = run(folder, COUNTS, "<SUPPRESS> RND(1,5,0,1)", write)
    rows = [line.split(";") for line in (folder / "out" / "4.csv").read_text().splitlines()]
    assert all(row[2] == row[3] and float(row[3]) % 5 == 0 for row in rows)
    assert not any("4.csv contains" in line for line in rounded.log)
    masked = run(folder, COUNTS, "<SUPPRESS> OPT(1,1)", write)
    rows = [line.split(";") for line in (folder / "out" / "4.csv").read_text().splitlines()]
    assert any(row[4] == "A" for row in rows) and all(row[3] == "" for row in rows if row[4] != "V")
    assert any("4.csv contains the status of sensitive cells" in line for line in masked.log)


@pytest.mark.parametrize("way", ["OPT(1,1)", "MOD(0)"])
def test_masks_by_hand_that_hide_nothing_are_warned_of(folder, way):
    (folder / "k.hst").write_text("a,T,m\n")
    first = run(folder, tables("FREQ(1,10)", "FREQ(1,10)"), '<APRIORI> "k.hst", 1, ","', f"<SUPPRESS> {way}", WRITES[0])
    assert first.warnings == tuple(one for one in first.warnings if one.code == "note.open_cells") and first.warnings


def test_a_table_of_which_all_rules_are_switched_off_is_warned_of(folder):
    off = run(folder, tables("P(0,0)|FREQ(0,0)", "P(20,1)"), "<SUPPRESS> OPT(1,1)", WRITES[0])
    assert off.passed and off.warnings[0].code == "note.table_without_rule"
    linked = run(folder, tables("P(0,0)", "P(20,1)"), "<SUPPRESS> MOD(0)", *WRITES)
    assert not linked.warnings and margins(folder, 1)["a"][0] == "x"


SIX = "N2b;N;A1;A;v;40 S2a;S;A2;A;v;7 S2b;S;A1;A;v;7 N2b;N;A2;A;v;2 S2b;S;A2;A;u;15 N1a;N;A2;A;v;40"


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_nobody_is_protected_from_what_is_his_own(tmp_path, way):
    """The only part of a total is the total: who is in Gem N2b is in its risk v, the only one that it has."""
    (tmp_path / "m.asc").write_text(SIX.replace(" ", "\n") + "\n")
    names = "".join(f'{name}\n<RECODEABLE>\n<TOTCODE> "T"\n' for name in ("gem", "land", "nace", "sect", "risk"))
    names = names.replace("nace\n", "nace 2\n<HIERARCHICAL>\n<HIERLEVELS> 1 1\n")
    (tmp_path / "m.rda").write_text(f'<SEPARATOR> ";"\n{names}v 5\n<NUMERIC>\n')
    tables = "".join(
        f'<SPECIFYTABLE> {names}|"v"||\n<SAFETYRULE> P(10,1)|FREQ(3,10)\n'
        for names in ('"land""nace"', '"gem""sect""risk"')
    )
    (tmp_path / "b.arb").write_text(
        f'<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n{tables}<READMICRODATA>\n<SUPPRESS> {way}\n'
        '<WRITETABLE> (1, 3, , "1.csv")\n<WRITETABLE> (2, 3, , "2.csv")\n'
    )
    assert run_batch(tmp_path / "b.arb", tmp_path / "out").passed


# Gem, its Kreis, type, nace, its section, size and risk. What is open at both ends of every range would be refused.
KNOWN_ANYWAY = {
    "one person": "S1a z A2 p u|N1a x A2 q u|N1a x A1 p u|S1a z B1 q v|S1a z B1 q v|W1a z A1 q v",
    "everyone": "S1a z A2 p u|N1a x A2 q u|N1a x A1 p u|S1a z B1 q v|S1a z B1 q v|W1a z B1 q v",
}


def known_anyway(folder, who, suppress):
    records = KNOWN_ANYWAY[who].replace(" ", "").split("|")
    (folder / "m.asc").write_text("".join(record + "\n" for record in records))
    places = {"gem": "1 3", "kreis": "1 2", "typ": "4 1", "nace": "5 2", "sect": "5 1", "size": "7 1", "risk": "8 1"}
    (folder / "m.rda").write_text(
        "".join(f'{name} {place}\n<RECODEABLE>\n<TOTCODE> "T"\n' for name, place in places.items())
    )
    crossings = ('"sect""gem""kreis"', '"kreis""risk"', '"kreis""typ""size"', '"typ""sect""nace"')
    tables = "".join(f'<SPECIFYTABLE> {names}|"<freq>"||\n<SAFETYRULE> FREQ(3,10)\n' for names in crossings)
    writes = "".join(f'<WRITETABLE> ({number}, 3, , "{number}.csv")\n' for number in range(1, 5))
    (folder / "b.arb").write_text(
        f'<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n{tables}<READMICRODATA>\n{suppress}{writes}'
    )
    return run_batch(folder / "b.arb", folder / "out")


@pytest.mark.parametrize("who", KNOWN_ANYWAY)
def test_what_is_known_whatever_is_masked_does_not_refuse_tables(tmp_path, who):
    """Empty cells and one's own part tell the least that a cell can be: it is hidden by what it can be at most."""
    done = known_anyway(tmp_path, who, "<SUPPRESS> GH(0)\n")
    assert done.passed
    said = [line for line in done.log if "note.known_cells" in codes_of(line)]
    assert len(said) == 1
    assert "(lower end, to everyone)" in said[0]
    page = (tmp_path / "out" / "1.html").read_text(encoding="utf-8")
    assert said[0].partition("For ")[2].partition(" the protection level")[0] in page


def test_tables_protected_one_by_one_are_told_what_is_known_of_them_whatever_is_masked(tmp_path):
    done = known_anyway(tmp_path, "everyone", "".join(f"<SUPPRESS> GH({number})\n" for number in range(1, 5)))
    said = [line for line in done.log if "note.known_cells" in codes_of(line)]
    assert any(line.startswith("1.csv, 2.csv, 3.csv, 4.csv: For") for line in said)
