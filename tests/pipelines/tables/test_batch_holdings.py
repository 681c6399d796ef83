"""Holdings of a batch file's records: each knows what is its own, whatever level the rules look at."""

import pytest

from refusals import coded
from sfumato.errors import PlanError
from sfumato.pipelines.tables.batch.run import run_batch

RDA = """<SEPARATOR> ";"
reg 1
<RECODEABLE>
<TOTCODE> "T"
size 1
<RECODEABLE>
<TOTCODE> "T"
v 5
<NUMERIC>
g 3
<HOLDING>
"""
# H is alone in (a, s) with two records; K and L are in (b, s).
RECORDS = [
    *("a;s;10;H", "a;s;11;H", "b;s;20;K", "b;s;25;L"),
    *(f"c;s;{100 + i};c{i}" for i in range(6)),
    *(f"{reg};t;{100 + i};{reg}{i}" for reg in "abc" for i in range(6)),
]
RULES = ["FREQ(3,10)", "P(10,1)|FREQ(3,10)", "P(10,1)|P(0,0)|P(10,1)|FREQ(3,10)", "P(10,1)|FREQ(3,10)|FREQ(3,10)"]


def _run(folder, records, rule, way, response="v"):
    (folder / "m.asc").write_text("\n".join(records) + "\n")
    (folder / "b.arb").write_text(
        '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n<SPECIFYTABLE> "reg""size"|'
        f'"{response}"||\n<SAFETYRULE> {rule}\n<READMICRODATA>\n<SUPPRESS> {way}\n'
        '<WRITETABLE> (1, 3, AS+QU-, "t.csv")\n'
    )
    return run_batch(folder / "b.arb", folder / "out")


def _masked(folder, records, rule, way):
    (folder / "m.rda").write_text(RDA)
    assert _run(folder, records, rule, way).passed
    rows = [line.split(";" if ";" in line else ",") for line in (folder / "out" / "t.csv").read_text().splitlines()]
    return {(row[0], row[1]) for row in rows if row[2].strip() in ("x", "X", "-", "*", "")}, rows


@pytest.mark.parametrize("way", ["MOD(1)", "GH(1)"])
@pytest.mark.parametrize("rule", RULES)
def test_a_holding_alone_in_a_cell_does_not_compute_its_neighbor(tmp_path, rule, way):
    masked, rows = _masked(tmp_path, RECORDS, rule, way)
    assert {("a", "s"), ("b", "s")} <= masked, rows
    # H knows (a, s): were (b, s) the only other mask of its column, or of its row, it would be computed.
    assert {("c", "s"), ("T", "s")} & masked, rows
    assert {("b", "t"), ("b", "T")} & masked, rows


@pytest.mark.parametrize("rule", ["FREQ(1,10)|FREQ(3,10)", "FREQ(3,10)|FREQ(3,10)", "FREQ(0,0)|FREQ(2,10)"])
def test_the_second_frequency_counts_holdings(tmp_path, rule):
    """Four records of (a, s) are one holding's: respondents are enough, holdings are not."""
    masked, rows = _masked(tmp_path, ["a;s;12;H", "a;s;13;H", *RECORDS], rule, "MOD(1)")
    assert ("a", "s") in masked, rows


def test_of_counts_a_rule_about_holdings_is_refused(tmp_path):
    (tmp_path / "m.rda").write_text(RDA)
    with pytest.raises(PlanError, check=coded("plan.rule")):
        _run(tmp_path, RECORDS, "FREQ(3,10)|FREQ(3,10)", "MOD(1)", "<freq>")


def test_a_holding_knows_all_its_cells(tmp_path):
    """H is alone in (a, s) and in (c, s): what it knows of both tells it (b, s) where only these three are masked."""
    records = [*RECORDS[:4], *(f"c;s;{90 + i};H" for i in range(6)), *RECORDS[10:]]
    masked, rows = _masked(tmp_path, records, "FREQ(3,10)", "MOD(1)")
    assert ("T", "s") in masked, rows


@pytest.mark.parametrize("way", ["MOD(1)", "GH(1)"])
@pytest.mark.parametrize("holdings", [1, 2, 9])
def test_few_holdings_are_as_many_attackers(tmp_path, holdings, way):
    """Fewer holdings than the largest contributions that are kept of each cell."""
    records = [f"{reg};{size};{100 + i};h{i % holdings}" for reg in "abc" for size in "st" for i in range(12)]
    masked, rows = _masked(tmp_path, records, "FREQ(3,10)", way)
    assert not masked, rows
    masked, rows = _masked(tmp_path, [*records, "a;u;5;h0", *(f"b;u;{i};h0" for i in (7, 8, 9))], "FREQ(3,10)", way)
    assert ("a", "u") in masked, rows
