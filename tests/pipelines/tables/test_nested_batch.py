"""Tables of one batch file whose variables determine each other in the records, without a hierarchy that says so."""

import csv

import pytest

from sfumato.errors import DataError
from sfumato.pipelines.tables.batch.run import run_batch

# How many records there are of Kreis, Gemeinde and size.
COUNTS = {
    "1;a;s": 2, "1;a;t": 9, "1;b;s": 9, "1;b;t": 8, "2;c;s": 7, "2;c;t": 9, "2;d;s": 8, "2;d;t": 9, "3;e;s": 9,
    "3;e;t": 7, "3;f;s": 8, "3;f;t": 9,
}  # fmt: skip
TABLES = "".join(f'<SPECIFYTABLE> "{name}""size"|"<freq>"||\n<SAFETYRULE> FREQ(3,10)\n' for name in ("gem", "kreis"))
WRITES = "".join(f'<WRITETABLE> ({number}, 3, AS+, "{number}.csv")\n' for number in (1, 2))


def run(folder, counts, way, tables=TABLES, writes=WRITES, columns=("kreis", "gem", "size")):
    lines = [f"{record};1" for record, count in counts.items() for _ in range(count)]
    (folder / "m.asc").write_text("\n".join(lines) + "\n")
    names = "".join(f'{name} 1\n<RECODEABLE>\n<TOTCODE> "T"\n' for name in columns)
    (folder / "m.rda").write_text(f'<SEPARATOR> ";"\n{names}v 5\n<NUMERIC>\n')
    head = '<LOGBOOK> "log.txt"\n<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n'
    (folder / "one.arb").write_text(f"{head}{tables}<READMICRODATA>\n{way}\n{writes}")
    return run_batch(folder / "one.arb", folder / "out")


def masked(folder, number):
    with (folder / "out" / f"{number}.csv").open(encoding="utf-8", newline="") as file:
        return {tuple(row[:2]) for row in csv.reader(file) if row[2] == "x"}


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_a_unit_of_masked_parts_does_not_tell_them(tmp_path, way):
    done = run(tmp_path, COUNTS, f"<SUPPRESS> {way}")
    assert done.holds
    parts, units = masked(tmp_path, 1), masked(tmp_path, 2)
    assert ("a", "s") in parts
    assert ("b", "s") in parts or ("1", "s") in units


def test_tables_that_were_protected_apart_are_attacked_together(tmp_path):
    done = run(tmp_path, COUNTS | {"3;e;s": 3, "3;f;s": 3}, "<SUPPRESS> OPT(1,1)\n<SUPPRESS> OPT(2,1)")
    assert not done.holds
    assert any("unsafe cells" in warning for warning in done.warnings)


def test_a_wrong_record_is_told(tmp_path):
    done = run(tmp_path, COUNTS | {"1;e;t": 1}, "<SUPPRESS> GH(0)")
    assert not done.holds
    assert any("gem determines kreis in all but 1 of the records" in warning for warning in done.warnings)


@pytest.mark.parametrize(
    ("recoding", "holds"), [("", True), ("1: a,b\n2: c,d\n3: e\n4: f\n", True), ("1: a,c\n2: b,e\n3: d,f\n", False)]
)
def test_a_table_that_crosses_both_ties_them_unless_its_codes_are_coarser(tmp_path, recoding, holds):
    (tmp_path / "g.grc").write_text(recoding)
    crossing = '<SPECIFYTABLE> "gem""kreis"|"<freq>"||\n<SAFETYRULE> FREQ(3,10)\n'
    way = ('<RECODE> 3,"gem","g.grc"\n' if recoding else "") + "<SUPPRESS> GH(0)"
    writes = f'{WRITES}<WRITETABLE> (3, 3, AS+, "3.csv")\n'
    done = run(tmp_path, COUNTS | {"3;e;s": 3, "3;f;s": 3}, way, TABLES + crossing, writes)
    assert done.holds is holds
    assert any("gem determines kreis" in warning for warning in done.warnings) is not holds
    assert not holds or ("b", "s") in masked(tmp_path, 1) or ("1", "s") in masked(tmp_path, 2)


def test_units_that_are_the_same_together_are_told(tmp_path):
    # The columns are Kreis and Region here: 1 and 2 are a and b, 3 and 4 are c and d.
    inside = {"1": "ab", "2": "ab", "3": "cd", "4": "cd"}
    counts = {f"{kreis};{own};{size}": 5 for kreis, both in inside.items() for own in both for size in "st"}
    done = run(tmp_path, counts, "<SUPPRESS> GH(0)")
    assert not done.holds
    assert any("same records as some of" in warning for warning in done.warnings)
    mixed = {f"{kreis};{own};{size}": 5 for kreis in "1234" for own in "abcd" for size in "st"}
    assert run(tmp_path, mixed, "<SUPPRESS> GH(0)").holds


def crossed(*names):
    quoted = "".join(f'"{name}"' for name in names)
    return f'<SPECIFYTABLE> {quoted}|"<freq>"||\n<SAFETYRULE> FREQ(3,10)\n'


# The Land of each Kreis, and the type of each Gemeinde.
LAND, TYPE = {"1": "N", "2": "N", "3": "S"}, dict(zip("abcdef", "uuruur", strict=True))


@pytest.mark.parametrize(
    ("others", "fine", "coarse"),
    [
        ([("land", "kreis", "size")], "gem", "kreis"),
        ([("kreis", "typ", "size")], "gem", "typ"),
        ([("plz", "size"), ("kreis", "size")], "plz", "kreis"),
    ],
)
@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_variables_that_could_not_be_linked_are_told(tmp_path, others, fine, coarse, way):
    counts = {}
    for record, count in COUNTS.items():
        kreis, gem, size = record.split(";")
        # Half of the records of a Gemeinde have another postcode, which those of others of its Kreis have as well.
        for plz, part in (("opq"[int(kreis) - 1], count // 2), ("xyz"[int(kreis) - 1], count - count // 2)):
            counts[";".join((kreis, gem, size, LAND[kreis], TYPE[gem], plz))] = part
    tables = "".join(crossed(*names) for names in [("gem", "size"), *others])
    writes = "".join(f'<WRITETABLE> ({number}, 3, AS+, "{number}.csv")\n' for number in range(1, len(others) + 2))
    columns = ("kreis", "gem", "size", "land", "typ", "plz")
    done = run(tmp_path, counts, f"<SUPPRESS> {way}", tables, writes, columns)
    assert not done.holds
    assert any(f"{fine} determines {coarse} in the records, but" in warning for warning in done.warnings)


def test_a_variable_that_two_others_determine_together_is_told(tmp_path):
    """Each Land counts its Kreise from 1 on; the columns here are Land and Kreis, number and type."""
    types = {"N1": "x", "N2": "y", "S1": "y", "S2": "x", "W1": "x", "W2": "y"}
    counts = {f"{own[0]};{own[1]};{kind};{size}": 6 for own, kind in types.items() for size in "st"}
    tables = crossed("land", "nr", "size") + crossed("kind", "size")
    done = run(tmp_path, counts, "<SUPPRESS> GH(0)", tables, columns=("land", "nr", "kind", "size"))
    assert not done.holds
    assert any("land and nr determine kind together" in warning for warning in done.warnings)
    mixed = {f"{land};{nr};{kind};{size}": 6 for land in "NSW" for nr in "12" for kind in "xy" for size in "st"}
    assert run(tmp_path, mixed, "<SUPPRESS> GH(0)", tables, columns=("land", "nr", "kind", "size")).holds


def test_a_table_that_names_a_variable_twice_is_refused_by_its_line(tmp_path):
    with pytest.raises(DataError, match=r"line 4.*a spanning variable stands twice"):
        run(tmp_path, COUNTS, "<SUPPRESS> GH(0)", crossed("gem", "Gem"))
