"""Tables of one batch file that share cells: what is masked in one of them is masked in all."""

import csv

import pytest

from sfumato.pipelines.tables.batch.run import run_batch

ROWS = "a1p900 a2p20 a1q30 a2q25 b1p100 b2p90 b1q95 b2q80 c1p70 c2p60 c1q75 c2q85"
VARIABLE = '<RECODEABLE>\n<TOTCODE> "T"\n'
HEAD = """<LOGBOOK> "log.txt"
<OPENMICRODATA> "m.asc"
<OPENMETADATA> "m.rda"
"""


@pytest.fixture
def folder(tmp_path):
    lines = [";".join([*row[:3], row[3:]]) for row in ROWS.split()]
    (tmp_path / "m.asc").write_text("\n".join(lines) + "\n")
    variables = "".join(f"{name} 1\n{VARIABLE}" for name in "xyz")
    (tmp_path / "m.rda").write_text(f'<SEPARATOR> ";"\n{variables}v 5\n<NUMERIC>\n')
    return tmp_path


def tables(*rules):
    text = "".join(
        f'<SPECIFYTABLE> "x""{other}"|"v"||\n<SAFETYRULE> {rule}\n'
        for other, rule in zip(("y", "z"), rules, strict=True)
    )
    return HEAD + text + "<READMICRODATA>\n"


def run(folder, text, *lines):
    (folder / "one.arb").write_text(text + "\n".join(lines) + "\n")
    return run_batch(folder / "one.arb", folder / "out")


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
