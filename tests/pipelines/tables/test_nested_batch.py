"""Tables of one batch file whose variables determine each other in the records, without a hierarchy that says so."""

import csv

import pytest

from refusals import coded, codes_of
from sfumato.errors import DataError
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.tables.linked import cross as implicit_cells
from surveys import disclosed

# How many records there are of Kreis, Gemeinde and size.
COUNTS = {
    "1;a;s": 2, "1;a;t": 9, "1;b;s": 9, "1;b;t": 8, "2;c;s": 7, "2;c;t": 9, "2;d;s": 8, "2;d;t": 9, "3;e;s": 9,
    "3;e;t": 7, "3;f;s": 8, "3;f;t": 9,
}  # fmt: skip
# What is said of a variable with a hierarchy.
HIERARCHIES = {"ort": '<HIERARCHICAL>\n<HIERCODELIST> "ort.hrc"\n<HIERLEADSTRING> "@"\n'}
TABLES = "".join(f'<SPECIFYTABLE> "{name}""size"|"<freq>"||\n<SAFETYRULE> FREQ(3,10)\n' for name in ("gem", "kreis"))
WRITES = "".join(f'<WRITETABLE> ({number}, 3, AS+, "{number}.csv")\n' for number in (1, 2))


def run(folder, counts, way, tables=TABLES, writes=WRITES, columns=("kreis", "gem", "size")):
    lines = [f"{record};1" for record, count in counts.items() for _ in range(count)]
    (folder / "m.asc").write_text("\n".join(lines) + "\n")
    names = "".join(f'{name} 4\n<RECODEABLE>\n<TOTCODE> "T"\n{HIERARCHIES.get(name, "")}' for name in columns)
    (folder / "m.rda").write_text(f'<SEPARATOR> ";"\n{names}v 5\n<NUMERIC>\n')
    head = '<LOGBOOK> "log.txt"\n<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n'
    (folder / "one.arb").write_text(f"{head}{tables}<READMICRODATA>\n{way}\n{writes}")
    return run_batch(folder / "one.arb", folder / "out")


def test_tables_that_were_protected_apart_are_attacked_together(tmp_path):
    done = run(tmp_path, COUNTS | {"3;e;s": 3, "3;f;s": 3}, "<SUPPRESS> OPT(1,1)\n<SUPPRESS> OPT(2,1)")
    assert not done.passed
    assert any("note.joint_leaks" in codes_of(warning) for warning in done.warnings)


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_wrong_records_do_not_hide_what_all_others_tell(tmp_path, way):
    """Of size s no record is wrong, so there a Kreis is the sum of its Gemeinden, and readers take it for that."""
    done = run(tmp_path, COUNTS | {"1;e;t": 1, "3;b;t": 1, "3;e;s": 2}, f"<SUPPRESS> {way}")
    assert done.passed and not done.warnings
    assert any(
        getattr(line, "code", "") == "note.inconsistent_records" and line.values["count"] == 2 for line in done.log
    )


def crossed(*names):
    quoted = "".join(f'"{name}"' for name in names)
    return f'<SPECIFYTABLE> {quoted}|"<freq>"||\n<SAFETYRULE> FREQ(3,10)\n'


def attacked(folder, counts, columns, tables, way="GH(0)", recode="", recodings=None):
    """Run tables; what their attacker finds. `recodings` are the new codes of some tables, by their record codes."""
    writes = "".join(f'<WRITETABLE> ({place + 1}, 3, AS+, "{place + 1}.csv")\n' for place in range(len(tables)))
    specified = "".join(crossed(*names) for names in tables)
    done = run(folder, counts, f"{recode}<SUPPRESS> {way}", specified, writes, columns)
    assert done.passed and not done.warnings
    published = []
    for place, names in enumerate(tables):
        wide = {}
        for code, new in (recodings or {}).get(place, {}).items():
            wide.setdefault(new, set()).add(code)
        with (folder / "out" / f"{place + 1}.csv").open(encoding="utf-8", newline="") as file:
            rows = [(dict(zip(names, row, strict=False)), row[len(names)]) for row in csv.reader(file)]
        published.append((rows, {columns[0] if place == 0 else "gem": wide}))
    records = {record.replace(";", ","): count for record, count in counts.items()}
    return disclosed(columns, records, published, "T")


@pytest.mark.parametrize("recoding", ["", "1: a,b\n2: c,d\n3: e\n4: f\n", "1: a,c\n2: b,e\n3: d,f\n"])
def test_a_table_that_crosses_both_ties_them(tmp_path, recoding):
    (tmp_path / "g.grc").write_text(recoding)
    new = {code: line[0] for line in recoding.splitlines() for code in line[3:].split(",")}
    tables = [("gem", "size"), ("kreis", "size"), ("gem", "kreis")]
    recode = '<RECODE> 3,"gem","g.grc"\n' if recoding else ""
    counts = COUNTS | {"3;e;s": 3, "3;f;s": 3}
    assert not attacked(tmp_path, counts, ("kreis", "gem", "size"), tables, recode=recode, recodings={2: new})


def test_a_table_that_names_a_variable_twice_is_refused_by_its_line(tmp_path):
    with pytest.raises(DataError, check=coded("data.batch.spanning_variable_occurs_twice 4:16")):
        run(tmp_path, COUNTS, "<SUPPRESS> GH(0)", crossed("gem", "Gem"))


def each_by_itself(counts):
    """Every record with a code of its own, which begins with that of its first column."""
    records = [record for record, count in counts.items() for _ in range(count)]
    return {f"{record[0]}{place:03d}{record[1:]}": 1 for place, record in enumerate(records)}


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_a_recoded_variable_is_linked_by_the_codes_that_its_table_shows(tmp_path, way):
    """Nobody else has a postcode, but the Länder that these become lie in the parts e and w."""
    counts = each_by_itself({"N;p;e": 2, "N;q;e": 40, "M;p;e": 33, "M;q;e": 45, "S;p;w": 28, "S;q;w": 37})
    codes = [record.split(";")[0] for record in counts]
    lines = [f"{land}: {','.join(code for code in codes if code[0] == land)}\n" for land in "NMS"]
    (tmp_path / "p.grc").write_text("".join(lines))
    tables, columns, new = (
        [("plz", "size"), ("part", "size")],
        ("plz", "size", "part"),
        {code: code[0] for code in codes},
    )
    recode = '<RECODE> 1, "plz", "p.grc"\n'
    assert not attacked(tmp_path, counts, columns, tables, way, recode, {0: new})


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_a_closed_hierarchy_is_linked_by_the_codes_that_its_table_shows(tmp_path, way):
    """Land and size determine the risk together; places have one record each, and are not shown."""
    counts = each_by_itself({"N;p;v": 60, "N;q;w": 40, "N;r;u": 50, "S;p;v": 70, "S;q;u": 2, "S;r;w": 55})
    codes = [record.split(";")[0] for record in counts]
    lines = [line for land in "NS" for line in (land, *(f"@{code}" for code in codes if code[0] == land))]
    (tmp_path / "ort.hrc").write_text("\n".join(lines) + "\n")
    tables, columns = [("ort", "size"), ("risk",)], ("ort", "size", "risk")
    new = {code: code[0] for code in codes}
    recode = '<RECODE> 1, "ort", 1\n'
    assert not attacked(tmp_path, counts, columns, tables, way, recode, {0: new})


def again(folder, first, second, between="<CLEAR>\n"):
    """Two halves of a batch file that open the same records, each with tables of its own."""
    halves = []
    for own, way, start in ((first, "GH(1)", 1), (second, "GH(1)", 1 + len(first))):
        ways = way if len(own) == 1 else "GH(0)"
        writes = "".join(f'<WRITETABLE> ({at + 1}, 3, AS+, "{start + at}.csv")\n' for at in range(len(own)))
        tables = "".join(crossed(name) for name in own)
        opened = '<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n'
        halves.append(f"{opened}{tables}<READMICRODATA>\n<SUPPRESS> {ways}\n{writes}")
    run(folder, {"1;a;s": 2, "1;b;s": 9, "2;c;s": 7, "2;d;t": 3}, "<SUPPRESS> GH(0)")
    (folder / "two.arb").write_text(between.join(halves))
    return run_batch(folder / "two.arb", folder / "again")


@pytest.mark.parametrize("between", ["", "<CLEAR>\n"])
@pytest.mark.parametrize("both", [(("gem",), ("kreis",)), (("gem", "size"), ("kreis", "size"))])
def test_records_that_are_opened_again_are_the_same(tmp_path, between, both):
    done = again(tmp_path, *both, between)
    assert not done.passed
    assert any("gem a" in warning for warning in done.warnings)


def test_a_cross_that_is_too_large_to_be_attacked_is_no_promise(tmp_path, monkeypatch):
    """Types, regions and Kreise fit neither way: what tables of all tell of Gemeinden only their cross shows."""
    monkeypatch.setattr(implicit_cells, "MOST_CROSSED", 3)
    more = {"a": "x;p", "b": "y;p", "c": "x;p", "d": "y;q", "e": "x;q", "f": "y;q"}
    counts = {f"{record[:3]};{more[record[2]]};{record[4]}": count for record, count in COUNTS.items()}
    names = ("typ", "kreis", "region")
    tables = "".join(f'<SPECIFYTABLE> "{name}""size"|"<freq>"||\n<SAFETYRULE> FREQ(3,10)\n' for name in names)
    done = run(tmp_path, counts, "<SUPPRESS> GH(0)", tables, columns=("kreis", "gem", "typ", "region", "size"))
    assert not done.passed
    assert any("Not audited, therefore not guaranteed" in warning for warning in done.warnings)
