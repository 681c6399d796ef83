"""Tables of one batch file whose variables determine each other in the records, without a hierarchy that says so."""

import csv
import random
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.errors import DataError
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.tables.linked import cross as implicit_cells

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


def masked(folder, number):
    with (folder / "out" / f"{number}.csv").open(encoding="utf-8", newline="") as file:
        return {tuple(row[:2]) for row in csv.reader(file) if row[2] == "x"}


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_a_unit_of_masked_parts_does_not_tell_them(tmp_path, way):
    done = run(tmp_path, COUNTS, f"<SUPPRESS> {way}")
    assert done.passed
    parts, units = masked(tmp_path, 1), masked(tmp_path, 2)
    assert ("a", "s") in parts
    assert ("b", "s") in parts or ("1", "s") in units


def test_tables_that_were_protected_apart_are_attacked_together(tmp_path):
    done = run(tmp_path, COUNTS | {"3;e;s": 3, "3;f;s": 3}, "<SUPPRESS> OPT(1,1)\n<SUPPRESS> OPT(2,1)")
    assert not done.passed
    assert any("unsafe cells" in warning for warning in done.warnings)


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_wrong_records_do_not_hide_what_all_others_tell(tmp_path, way):
    """Of size s no record is wrong, so there a Kreis is the sum of its Gemeinden, and readers take it for that."""
    done = run(tmp_path, COUNTS | {"1;e;t": 1, "3;b;t": 1, "3;e;s": 2}, f"<SUPPRESS> {way}")
    assert done.passed and not done.warnings
    assert any("gem determines kreis in all but 2 of the records" in line for line in done.log)
    units = [("a", "1"), ("b", "1"), ("c", "2"), ("d", "2"), ("e", "3"), ("f", "3")]
    rows, sides = [], []
    for number, at in ((1, 0), (2, 1)):
        with (tmp_path / "out" / f"{number}.csv").open(encoding="utf-8", newline="") as file:
            for code, size, text, _ in csv.reader(file):
                if size == "s" and text != "x":
                    rows.append([code in ("T", unit[at]) for unit in units])
                    sides.append(float(text))
    unsafe = np.array([unit[0] == "a" for unit in units], float)
    low, high = (sign * linprog(sign * unsafe, A_eq=np.array(rows, float), b_eq=sides).fun for sign in (1.0, -1.0))
    assert high - low >= 1


def crossed(*names):
    quoted = "".join(f'"{name}"' for name in names)
    return f'<SPECIFYTABLE> {quoted}|"<freq>"||\n<SAFETYRULE> FREQ(3,10)\n'


def attacked(folder, counts, columns, tables, way="GH(0)", recode="", recodings=None):
    """Run tables, and attack what is published by linear programs over all combinations of codes that records have;
    the cells that are told exactly among those of fewer than 3 records, and how many of those there are."""
    writes = "".join(f'<WRITETABLE> ({place + 1}, 3, AS+, "{place + 1}.csv")\n' for place in range(len(tables)))
    specified = "".join(crossed(*names) for names in tables)
    done = run(folder, counts, f"{recode}<SUPPRESS> {way}", specified, writes, columns)
    assert done.passed and not done.warnings
    records, amounts = [record.split(";") for record in counts], np.array(list(counts.values()), float)
    rows, sides, unsafe = [], [], []
    for place, names in enumerate(tables):
        new = (recodings or {}).get(place, {})
        with (folder / "out" / f"{place + 1}.csv").open(encoding="utf-8", newline="") as file:
            for *codes, text, _ in csv.reader(file):
                own = [(columns.index(name), code) for name, code in zip(names, codes, strict=True)]
                inside = np.array(
                    [all(code in ("T", new.get(record[at], record[at])) for at, code in own) for record in records]
                )
                if text != "x":
                    rows.append(inside)
                    sides.append(float(text))
                elif amounts[inside].sum() < 3:
                    unsafe.append(inside)
    ends = [[linprog(sign * own, A_eq=np.array(rows, float), b_eq=sides).fun for sign in (1.0, -1.0)] for own in unsafe]
    return [own for own in ends if abs(own[0] + own[1]) < 1e-6], len(unsafe)


@pytest.mark.parametrize("recoding", ["", "1: a,b\n2: c,d\n3: e\n4: f\n", "1: a,c\n2: b,e\n3: d,f\n"])
def test_a_table_that_crosses_both_ties_them(tmp_path, recoding):
    (tmp_path / "g.grc").write_text(recoding)
    new = {code: line[0] for line in recoding.splitlines() for code in line[3:].split(",")}
    tables = [("gem", "size"), ("kreis", "size"), ("gem", "kreis")]
    recode = '<RECODE> 3,"gem","g.grc"\n' if recoding else ""
    counts = COUNTS | {"3;e;s": 3, "3;f;s": 3}
    told = attacked(tmp_path, counts, ("kreis", "gem", "size"), tables, recode=recode, recodings={2: new})
    assert told == ([], 1)


def test_units_that_are_the_same_together_are_protected_together(tmp_path):
    # The columns are Kreis and Region here: 1 and 2 are a and b, 3 and 4 are c and d.
    inside = {"1": "ab", "2": "ab", "3": "cd", "4": "cd"}
    counts = {f"{kreis};{own};{size}": 5 for kreis, both in inside.items() for own in both for size in "st"}
    counts |= {"1;a;s": 1, "1;b;s": 1}
    tables = [("kreis", "size"), ("gem", "size")]
    assert attacked(tmp_path, counts, ("kreis", "gem", "size"), tables) == ([], 1)


# The Land of each Kreis, and the type of each Gemeinde.
LAND, TYPE = {"1": "N", "2": "N", "3": "S"}, dict(zip("abcdef", "uuruur", strict=True))


@pytest.mark.parametrize(
    "others", [[("land", "kreis", "size")], [("kreis", "typ", "size")], [("plz", "size"), ("kreis", "size")]]
)
@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_variables_that_others_determine_in_several_ways_are_linked(tmp_path, others, way):
    counts = {}
    for record, count in COUNTS.items():
        kreis, gem, size = record.split(";")
        # Half of the records of a Gemeinde have another postcode, which those of others of its Kreis have as well.
        for plz, part in (("opq"[int(kreis) - 1], count // 2), ("xyz"[int(kreis) - 1], count - count // 2)):
            counts[";".join((kreis, gem, size, LAND[kreis], TYPE[gem], plz))] = part
    columns = ("kreis", "gem", "size", "land", "typ", "plz")
    told, unsafe = attacked(tmp_path, counts, columns, [("gem", "size"), *others], way)
    assert not told and unsafe


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_a_variable_that_two_others_determine_together_tells_nothing(tmp_path, way):
    """Each Land counts its Kreise from 1 on; the columns here are Land and Kreis, number and type."""
    types = {"N1": "x", "N2": "y", "S1": "y", "S2": "x", "W1": "x", "W2": "y", "W3": "z", "N3": "z", "S3": "y"}
    counts = {f"{own[0]};{own[1]};{kind};{size}": 6 for own, kind in types.items() for size in "stu"}
    counts |= {"S;2;x;s": 2, "N;1;x;s": 9, "W;1;x;s": 7, "N;3;z;t": 1}
    tables, columns = [("land", "nr", "size"), ("kind", "size")], ("land", "nr", "kind", "size")
    assert attacked(tmp_path, counts, columns, tables, way) == ([], 2)


def test_a_variable_that_three_others_determine_together_tells_nothing(tmp_path):
    draw = random.Random(3)
    units = list(product("AB", "12", "mf"))
    kinds = {unit: "xy"[place % 3 % 2] for place, unit in enumerate(draw.sample(units, len(units)))}
    counts = {f"{';'.join(unit)};{kind};{size}": draw.randint(4, 9) for unit, kind in kinds.items() for size in "st"}
    first = next(own for own in counts if ";x;s" in own)
    columns = ("a", "b", "c", "kind", "size")
    tables = [("a", "b", "c", "size"), ("kind", "size")]
    assert attacked(tmp_path, counts | {first: 1}, columns, tables) == ([], 1)


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_codes_that_lie_within_one_of_another_variable_tell_nothing(tmp_path, way):
    """3 lies in y alone, and 4 and 5 in x, while 1 is in both: what x and y have in q tells 3 to 5 there."""
    counts = {"1;x;r": 20, "1;y;r": 20, "3;y;q": 10, "3;y;r": 30, "4;x;q": 1, "4;x;r": 30, "5;x;q": 40, "5;x;r": 50}
    tables, columns = [("typ", "size"), ("kreis", "size")], ("kreis", "typ", "size")
    assert attacked(tmp_path, counts, columns, tables, way) == ([], 1)


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_combinations_of_codes_that_lie_within_one_of_another_variable_tell_nothing(tmp_path, way):
    """What is of N and u is of r, and of S and u of q, though none of these codes tells another: N, v and q is left."""
    counts = {"N;p;v": 120, "N;q;v": 2, "N;r;u": 60, "S;p;v": 150, "S;q;u": 70, "S;r;v": 80}
    tables, columns = [("land", "risk"), ("size", "risk")], ("land", "size", "risk")
    assert attacked(tmp_path, counts, columns, tables, way) == ([], 1)


@pytest.mark.parametrize("seed", range(6))
def test_random_variables_that_share_codes_tell_nothing(tmp_path, seed):
    """A unit is of one type or of several, and some types have units of their own alone."""
    draw = random.Random(seed)
    counts = {}
    for unit in "abcdefgh"[: draw.randint(4, 8)]:
        for kind in draw.sample("xyz", draw.choice([1, 1, 2])):
            for size in "stu":
                counts[f"{unit};{kind};{draw.choice('mn')};{size}"] = draw.choice([1, 2, 9, 12, 15, 30])
    columns, tables = ("unit", "kind", "sort", "size"), [("unit", "size"), ("kind", "size"), ("kind", "sort")]
    told, unsafe = attacked(tmp_path, counts, columns, tables)
    assert not told and unsafe


def test_a_table_that_names_a_variable_twice_is_refused_by_its_line(tmp_path):
    with pytest.raises(DataError, match=r"line 4.*a spanning variable occurs twice"):
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
    assert attacked(tmp_path, counts, columns, tables, way, recode, {0: new}) == ([], 1)


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
    assert attacked(tmp_path, counts, columns, tables, way, recode, {0: new}) == ([], 1)


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
