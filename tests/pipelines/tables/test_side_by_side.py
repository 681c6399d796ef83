"""What one batch file publishes in several tables is attacked together, however codes and numbers were changed."""

import csv
import random

import numpy as np
import pytest
from scipy.optimize import linprog

import sfumato as sf
from batch_files import OPEN, VARIABLE, published, run, write_records, writes
from batch_files import specified as specified_as
from refusals import refused
from sfumato.errors import DataError, PlanError, UnattainableError
from sfumato.pipelines.tables.batch import joint_audit
from sfumato.tables.plan.table_plan import read_table_plan

ROWS = "a1p900 a2p20 a1q30 a2q25 b1p100 b2p90 b1q95 b2q80 c1p70 c2p60 c1q75 c2q85 d1p99 d2p98 d1q97 d2q78"
TOGETHER = "together they disclose"


@pytest.fixture
def folder(tmp_path):
    write_records(tmp_path, [[*row[:3], row[3:]] for row in ROWS.split()])
    (tmp_path / "two.grc").write_text("ab:a,b\ncd:c,d\n")
    (tmp_path / "three.grc").write_text("a:a\nbc:b,c\nd:d\n")
    (tmp_path / "x.hrc").write_text("P\n@a\n@b\nQ\n@c\n@d\n")
    tree = VARIABLE + '<HIERARCHICAL>\n<HIERCODELIST> "x.hrc"\n<HIERLEADSTRING> "@"\n'
    rda = (tmp_path / "m.rda").read_text()
    (tmp_path / "h.rda").write_text(rda.replace(f"x 1\n{VARIABLE}", f"x 1\n{tree}"))
    return tmp_path


def specified(*tables):
    """Tables of sums of v."""
    return specified_as(*((f'{names}|"v"', rule) for names, rule in tables))


LINE_AND_PLANE = OPEN + specified(('"x"', "P(20,1)"), ('"x""z"', "FREQ(1,10)"))


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
def test_linked_tables_know_what_recoded_codes_are_made_of(folder, way):
    done = run(folder, f'{LINE_AND_PLANE}<RECODE> 2, "x", "two.grc"\n<SUPPRESS> {way}\n{writes(1, 2)}')
    assert done.passed and not done.warnings
    line, plane = published(folder, 1), published(folder, 2)
    assert line["a",] == "x"
    # a = ab - b: unless b is masked, ab is.
    assert "x" in (line["b",], plane["ab", "T"])


ALONE = "<SUPPRESS> OPT(1,1)\n<SUPPRESS> OPT(2,1)\n"


def test_tables_of_other_codes_are_attacked_together(folder):
    leaky = run(folder, f'{LINE_AND_PLANE}<RECODE> 2, "x", "two.grc"\n{ALONE}{writes(1, 2)}')
    assert not leaky.passed and TOGETHER in leaky.warnings[0]


def test_new_codes_may_be_called_like_old_ones(folder):
    (folder / "same.grc").write_text("a:a,b\nb:c,d\n")
    leaky = run(folder, f'{LINE_AND_PLANE}<RECODE> 2, "x", "same.grc"\n{ALONE}{writes(1, 2)}')
    assert not leaky.passed and TOGETHER in leaky.warnings[0]


def test_a_closed_hierarchy_is_attacked_with_the_open_one(folder):
    first = OPEN + specified(('"x"', "P(20,1)")) + "<SUPPRESS> OPT(1,1)\n" + writes(1)
    second = OPEN.replace("m.rda", "h.rda") + specified(('"x""z"', "FREQ(1,10)")) + '<RECODE> 1, "x", 1\n'
    leaky = run(folder, f"{first}<CLEAR>\n{second}<SUPPRESS> OPT(1,1)\n{writes(1, start=1)}")
    assert not leaky.passed and TOGETHER in leaky.warnings[0]


TABLES = {
    "one": ("T;T;1630;s T;1;1270;s T;2;360;s a;T;975;u a;1;930;s a;2;45;s b;T;365;s b;1;195;s b;2;170;s c;T;290;s "
            "c;1;145;s c;2;145;s"),
    "two": ("T;T;1630;s T;p;1240;s T;q;390;s a;T;975;s a;p;920;s a;q;55;s b;T;365;s b;p;190;u b;q;175;s c;T;290;s "
            "c;p;130;s c;q;160;s"),
}  # fmt: skip


def from_tables(folder, number, name, other, text=None, way="OPT(1,1)"):
    (folder / f"{name}.tab").write_text((text or TABLES[name]).replace(" ", "\n") + "\n")
    status = "st\n<STATUS>\n<SAFE> s\n<UNSAFE> u\n"
    (folder / f"{name}.rda").write_text(f'<SEPARATOR> ";"\nx\n{VARIABLE}{other}\n{VARIABLE}v\n<NUMERIC>\n{status}')
    return (
        f'<OPENTABLEDATA> "{name}.tab"\n<OPENMETADATA> "{name}.rda"\n<SPECIFYTABLE> "x""{other}"|"v"||\n<READTABLE> 0\n'
        f'<SUPPRESS> {way}\n<WRITETABLE> (1, 3, , "{number}.csv")\n'
    )


def test_tables_of_two_files_are_attacked_together(folder, sfumato):
    text = from_tables(folder, 1, "one", "y") + "<CLEAR>\n" + from_tables(folder, 2, "two", "z")
    leaky = run(folder, text)
    assert not leaky.passed and TOGETHER in leaky.warnings[0]
    ran = sfumato("protect", "--arb", folder / "one.arb", "--out", folder / "out")
    assert ran.code == 1 and TOGETHER in ran.err


def test_tables_of_different_records_are_not_taken_for_the_same(folder):
    other = (
        "T;T;1656;s T;1;1282;s T;2;374;s a;T;978;u a;1;931;s a;2;47;s "
        "b;T;367;s b;1;196;s b;2;171;s c;T;311;s c;1;155;s c;2;156;s"
    )
    text = from_tables(folder, 1, "one", "y") + "<CLEAR>\n"
    ran = run(folder, text + from_tables(folder, 2, "later", "y", other))
    assert ran.passed and "different records" in ran.warnings[0]


@pytest.mark.parametrize("way", ["CTA(2)", "RND(2,5,0,1)"])
def test_a_masked_table_is_attacked_with_one_of_changed_numbers(folder, way):
    text = OPEN + specified(('"x""y"', "P(20,1)"), ('"x""z"', "FREQ(1,10)"))
    leaky = run(folder, f"{text}<SUPPRESS> OPT(1,1)\n<SUPPRESS> {way}\n{writes(1, 2)}")
    assert not leaky.passed and any(TOGETHER in one for one in leaky.warnings)


@pytest.mark.parametrize("way", ["CTA(1)", "RND(1,300,0,1)"])
def test_one_table_masked_and_changed_is_attacked_as_both(folder, way):
    (folder / "u.hst").write_text("a,T,u\n")
    text = OPEN + specified(('"x""y"', "FREQ(1,10)")) + '<APRIORI> "u.hst", 1, ","\n'
    twice = f"<SUPPRESS> OPT(1,1)\n{writes(1)}<SUPPRESS> {way}\n{writes(1, start=1)}"
    leaky = run(folder, text + twice)
    assert not leaky.passed and any(TOGETHER in one for one in leaky.warnings)


def test_a_cell_unsafe_by_hand_has_the_margin_of_such_cells(folder):
    text = OPEN + specified(('"x"', "FREQ(1,10)")) + '<APRIORI> "u.hst", 1, ","\n<SUPPRESS> CTA(1)\n' + writes(1)
    (folder / "u.hst").write_text("a,u\n")
    run(folder, text)
    assert abs(float(published(folder, 1)["a",]) - 975) >= 0.2 * 975


def test_an_attack_that_takes_too_long_is_no_promise(folder, monkeypatch):
    monkeypatch.setattr(joint_audit, "SECONDS", 0.0)
    text = OPEN + specified(('"x""y"', "P(20,1)"), ('"x""z"', "FREQ(2,10)"))
    with pytest.raises(UnattainableError) as error:
        run(folder, text + ALONE + writes(1, 2))
    assert error.value.code == "unattainable.joint-audit"


def test_a_cell_that_no_table_shows_is_not_computed_either(folder):
    """ab - a is b, where one table has ab and another a and bc."""
    write_records(
        folder, [*[(x, y, z, 50) for x in "acd" for y in "12" for z in "pq" for _ in "123"], ("b", 1, "p", 7)]
    )
    text = OPEN + specified(('"x"', "FREQ(3,10)"), ('"x""z"', "FREQ(1,10)"))
    text += '<RECODE> 1, "x", "two.grc"\n<RECODE> 2, "x", "three.grc"\n'
    leaky = run(folder, text + ALONE + writes(1, 2))
    assert not leaky.passed and TOGETHER in leaky.warnings[0]
    assert run(folder, f"{text}<SUPPRESS> MOD(0)\n{writes(1, 2)}").passed
    first, second = published(folder, 1), published(folder, 2)
    assert "x" in (first["ab",], second["a", "T"]) and "x" in (first["cd",], second["bc", "T"], second["d", "T"])


def test_a_new_code_that_is_the_total_is_refused(folder):
    (folder / "all.grc").write_text("T: a-d\n")
    with pytest.raises(PlanError, check=refused("located.command")):
        run(folder, LINE_AND_PLANE + '<RECODE> 2, "x", "all.grc"\n')


def test_counts_that_a_file_tells_beside_its_values_are_attacked_with_others(folder):
    write_records(folder, [(x, y, z, 50) for x in "abcd" for y in "12" for z in "pq" for _ in range(4)][:-7])
    counts, sums = (f'<SPECIFYTABLE> "x""y"|{what}||\n<SAFETYRULE> {rule}\n' for what, rule in COUNTS_AND_SUMS)
    text = f"{OPEN}{counts}{sums}<READMICRODATA>\n{ALONE}"
    assert run(folder, text + writes(1, 2)).passed
    leaky = run(folder, text + writes(1) + '<WRITETABLE> (2, 4, , "2.csv")\n')
    assert not leaky.passed and TOGETHER in leaky.warnings[0]


COUNTS_AND_SUMS = (("<freq>", "FREQ(3,10)"), ('"v"', "FREQ(1,10)"))


@pytest.mark.parametrize(("rule", "needed"), [("P(10,100)", 101), ("NK(100,50)", 100), ("P(10,10)", 11)])
def test_a_rule_about_more_contributions_than_are_kept_is_named(folder, rule, needed):
    with pytest.raises(
        PlanError, match=rf"needs the {needed} largest contributions of each cell, and 10 are"
    ) as caught:
        run(folder, OPEN + specified(('"x"', rule)))
    assert rule in caught.value.message and "table.contributions" not in caught.value.hint


def test_what_is_not_used_of_a_line_is_said(folder):
    text = OPEN + specified(('"x""y"', "P(20,1)")) + '<SUPPRESS> GH(1,75,1,1)\n<WRITETABLE> (1, 4, AS+, "4.csv")\n'
    log = run(folder, text).log
    assert any("GH: only the first 1 numbers are used" in line for line in log)
    assert any("4.csv: option AS says nothing in output 4" in line for line in log)


def test_levels_whose_digits_are_not_those_of_the_codes_are_refused(folder):
    (folder / "m.asc").write_text("101;5\n102;6\n201;7\n")
    tags = "<HIERARCHICAL>\n<HIERLEVELS> 1 3\n"
    (folder / "m.rda").write_text(f'<SEPARATOR> ";"\nx\n{VARIABLE}{tags}v\n<NUMERIC>\n')
    with pytest.raises(DataError, check=refused("located.command")):
        run(folder, OPEN + specified(('"x"', "FREQ(1,10)")))


LINE = "x,v,st\nT,1000,s\na,300,u\nb,400,s\nc,100,s\nd,200,s\n"
PLANE = "x,z,v,st\nT,T,1000,s\nT,p,600,s\nT,q,400,s\nP,T,700,s\nP,p,400,s\nP,q,300,s\nQ,T,300,s\nQ,p,200,s\nQ,q,100,s\n"


def test_tables_of_a_plan_know_what_codes_are_made_of_that_others_have(folder):
    """The second table has P alone, and its hierarchy says that P is a and b."""
    (folder / "line.csv").write_text(LINE)
    (folder / "plane.csv").write_text(PLANE)
    flat, tree = {"column": "x", "total": "T"}, {"column": "x", "total": "T", "hierarchy": "x.hrc"}
    plan = {
        "version": 1,
        "table": {"value": "v"},
        "tables": [
            {"name": "line", "source": "line.csv", "dimensions": {"x": flat}},
            {"name": "plane", "source": "plane.csv", "dimensions": {"x": tree, "z": {"column": "z", "total": "T"}}},
        ],
        "primary": [{"rule": "status", "column": "st"}],
    }
    sf.protect(plan=read_table_plan(plan, folder)).save(folder / "out")
    with (folder / "out" / "line" / "table-external.csv").open(encoding="utf-8", newline="") as file:
        line = {row["x"]: row["v_published"] for row in csv.DictReader(file)}
    # 300 = 700 - 400 otherwise.
    assert line["a"] == line["b"] == "*"


# Tables of random records, with codes as they come, recoded, or recoded otherwise, attacked by programs of their own.
WAYS = ("", "two.grc", "three.grc")


@pytest.mark.parametrize("seed", range(6))
def test_tables_protected_together_withstand_an_attacker_of_their_own(folder, seed):
    draw = random.Random(seed)
    rows = [(x, y, z, int(draw.paretovariate(0.8) * 10)) for x in "abcd" for y in "12" for z in "pq" for _ in range(3)]
    write_records(folder, rows)
    ways = [draw.choice(WAYS) for _ in range(2)]
    text = OPEN + specified(('"x""y"', "P(15,1)"), ('"x""z"', "P(15,1)"))
    text += "".join(f'<RECODE> {place + 1}, "x", "{way}"\n' for place, way in enumerate(ways) if way)
    run(folder, f"{text}<SUPPRESS> MOD(0)\n{writes(1, 2)}")
    assert exact_cells(rows, [published(folder, number) for number in (1, 2)]) == 0


GROUPS = {"T": "abcd12pq", "ab": "ab", "bc": "bc", "cd": "cd"}


def exact_cells(rows, tables):
    """How many masked cells one computes who knows that all cells are sums of what nobody shows."""
    inner = [(x, y, z) for x in "abcd" for y in "12" for z in "pq"]
    sums = {"y": lambda key, at: at[0] in codes(key[0]) and at[1] in codes(key[1])}
    sums["z"] = lambda key, at: at[0] in codes(key[0]) and at[2] in codes(key[1])
    shown, sides, hidden = [], [], []
    for table, other in zip(tables, "yz", strict=True):
        for key, text in table.items():
            line = [float(sums[other](key, at)) for at in inner]
            if text == "x":
                hidden.append(line)
            else:
                shown.append(line)
                sides.append(float(text))
    return sum(width(line, shown, sides, hidden) < 0.5 for line in hidden)


def width(line, shown, sides, hidden):
    def end(sign):
        free = [(None, None)] * len(line)
        answer = linprog(
            sign * np.array(line), -np.array(hidden), np.zeros(len(hidden)), np.array(shown), np.array(sides), free
        )
        return -np.inf if answer.status == 3 else answer.fun

    return -(end(1) + end(-1))


def codes(code):
    return GROUPS.get(code, code)


CELLS = [[27, 40, 31], [52, 61, 70], [85, 35, 90], [24, 66, 45]]
META = '<SEPARATOR> ";"\nr 2\n%s' + VARIABLE + "s 1\n" + VARIABLE + "v 6\n<NUMERIC>\nf 6\n<NUMERIC>\n<FREQUENCY>\n"


def write_cells(folder, name, rows, numbers, tree=""):
    """A table whose rows are sums of others; the first cell has one respondent."""
    (folder / f"{name}.rda").write_text(META.replace("r 2\n%s" + VARIABLE, "r 2\n" + VARIABLE + tree))
    lines = []
    for code, members in rows.items():
        sums = [round(sum(numbers[row][column] for row in members), 1) for column in range(3)]
        single = [8 if column == 0 and 0 in members else 0 for column in range(3)]
        many = [9 * len(members) - one for one in single]
        for column, value, count in zip("Txyz", [round(sum(sums), 1), *sums], [sum(many), *many], strict=True):
            lines.append(f"{code};{column};{value:g};{count}\n")
    (folder / f"{name}.tab").write_text("".join(lines))


ROWS_OF = {"T": (0, 1, 2, 3), "a1": (0,), "a2": (1,), "b1": (2,), "b2": (3,)}


def two_tables(folder, *, between="<SUPPRESS> OPT(1,1)", last="<SUPPRESS> OPT(2,1)"):
    (folder / "1.hst").write_text("a1;y;c;0.1\nb1;x;c;0.1\nb1;y;c;0.1\n")
    (folder / "2.hst").write_text("a1;y;p\nb1;x;p\n")
    text = ""
    for number, way in ((1, between), (2, last)):
        text += f'<OPENTABLEDATA> "t{number}.tab"\n<OPENMETADATA> "t{number}.rda"\n<SPECIFYTABLE> "r""s"|"v"||\n'
        text += f'<SAFETYRULE> FREQ(3,30)\n<READTABLE> 0\n<APRIORI> "{number}.hst", {number}, ";"\n{way}\n'
    return text + writes(1, 2)


@pytest.mark.parametrize("unit", [1, 100])
def test_one_table_in_other_decimals_is_attacked_with_itself(folder, unit):
    exact = [
        [unit * (value + (row - column) / 10) for column, value in enumerate(own)] for row, own in enumerate(CELLS)
    ]
    write_cells(folder, "t1", ROWS_OF, exact)
    write_cells(folder, "t2", ROWS_OF, [[unit * value for value in own] for own in CELLS])
    leaky = run(folder, two_tables(folder))
    assert not leaky.passed and any(TOGETHER in one for one in leaky.warnings)
    with pytest.raises(DataError, match="hold different values"):
        run(folder, two_tables(folder, between="//", last="<SUPPRESS> MOD(0)"))


def test_one_table_in_other_units_promises_nothing(folder):
    write_cells(folder, "t1", ROWS_OF, [[1000 * value + 7 * value % 300 for value in own] for own in CELLS])
    write_cells(folder, "t2", ROWS_OF, CELLS)
    leaky = run(folder, two_tables(folder))
    assert not leaky.passed and any(one.code == "note.other_units" for one in leaky.warnings)


@pytest.mark.parametrize(
    ("amounts", "same"), [((120, 80, 95, 60, 110, 90, 70, 85, 100, 75, 95), False), ((100,) * 11, True)]
)
def test_sums_are_counts_in_other_units_only_where_each_is(folder, amounts, same):
    write_records(folder, [["1" if place < 5 else "2", "p", "q", amount] for place, amount in enumerate(amounts)])
    text = OPEN + specified(('"x"', "FREQ(3,10)"), ('"x"', "FREQ(3,10)")).replace('"v"', '"<freq>"', 1)
    ran = run(folder, f"{text}<SUPPRESS> GH(0)\n{writes(1, 2)}")
    assert any(one.code == "note.other_units" for one in ran.warnings) is same, ran.warnings


@pytest.mark.parametrize("revision", [0, 3])
def test_a_revised_cell_elsewhere_does_not_untie_tables(folder, revision):
    revised = [*CELLS[:3], [24, 66, 45 + revision]]
    (folder / "r.hrc").write_text("A\n@a1\n@a2\nB\n@b1\n@b2\n")
    tree = '<HIERARCHICAL>\n<HIERCODELIST> "r.hrc"\n<HIERLEADSTRING> "@"\n'
    write_cells(folder, "t1", {"T": (0, 1, 2, 3), "A": (0, 1), "B": (2, 3)}, revised, tree)
    write_cells(folder, "t2", ROWS_OF, CELLS)
    text = two_tables(folder)
    (folder / "1.hst").write_text("A;y;c;1\n")
    (folder / "2.hst").write_text("a2;x;p\na2;y;p\na2;z;p\n")
    leaky = run(folder, text)
    assert not leaky.passed and any(TOGETHER in one for one in leaky.warnings)


def test_totals_that_do_not_add_up_are_named_with_a_remedy_of_batch_files(folder):
    write_cells(folder, "t1", ROWS_OF, CELLS)
    write_cells(folder, "t2", ROWS_OF, CELLS)
    off = (folder / "t1.tab").read_text().replace("b2;T;135", "b2;T;195")
    (folder / "t1.tab").write_text(off)
    text = two_tables(folder, between="//", last="<SUPPRESS> MOD(0)").replace("READTABLE> 0", "READTABLE> 2", 1)
    with pytest.raises(DataError, check=refused("located.command")) as caught:
        run(folder, text)
    assert "tolerance" not in caught.value.hint


def test_masks_that_an_a_priori_file_takes_back_are_not_taken_for_masked_together(folder):
    (folder / "u.hst").write_text("a;T;u\n")
    (folder / "c.hst").write_text("b;1;c;5\n")
    text = OPEN + specified(('"x""y"', "FREQ(1,30)"), ('"x""z"', "FREQ(1,30)|MAN(20)"))
    text += '<APRIORI> "u.hst", 2, ";"\n<SUPPRESS> MOD(0)\n'
    assert run(folder, text + writes(1, 2)).passed
    leaky = run(folder, text + '<APRIORI> "c.hst", 1, ";"\n' + writes(1, 2))
    assert not leaky.passed and TOGETHER in leaky.warnings[-1]


@pytest.mark.parametrize(
    ("line", "what"),
    [("<SAFETYRULE> P(20,1)", "was read already"), ('<RECODE> 1, "x", "two.grc"', "after an a priori file")],
)
def test_what_comes_too_late_to_be_heeded_is_refused(folder, line, what):
    (folder / "u.hst").write_text("a;T;u\n")
    text = OPEN + specified(('"x""y"', "FREQ(1,30)")) + '<APRIORI> "u.hst", 1, ";"\n'
    with pytest.raises(PlanError, match=what):
        run(folder, f"{text}{line}\n{writes(1)}")


def test_reading_records_again_keeps_what_is_known_of_tables(folder):
    (folder / "u.hst").write_text("a;T;u\n")
    text = OPEN + specified(('"x""y"', "FREQ(1,30)")) + '<APRIORI> "u.hst", 1, ";"\n'
    run(folder, f'{text}<SPECIFYTABLE> "x"|"v"||\n<READMICRODATA>\n<SUPPRESS> OPT(1,1)\n{writes(1)}')
    assert published(folder, 1)["a", "T"] == "x"


@pytest.mark.parametrize("way", ["OPT(1,1)", "GH(1)", "MOD(0)"])
def test_three_masked_counts_below_a_total_of_three_are_three_ones(folder, way):
    counts = {"ap": 9, "aq": 8, "bp": 7, "bq": 12, "cp": 1, "cq": 1, "cr": 1, "ar": 6, "br": 11}
    write_records(folder, [[key[0], "1", key[1], 1] for key, many in counts.items() for _ in range(many)])
    table = '<SPECIFYTABLE> "x""z"|"<freq>"||\n<SAFETYRULE> FREQ(2,10)\n<READMICRODATA>\n'
    run(folder, OPEN + table + f"<SUPPRESS> {way}\n" + writes(1))
    cells = published(folder, 1)
    assert {cells["c", one] for one in "pqr"} == {"x"}
    assert cells["c", "T"] == "x"


def test_cells_are_named_as_tables_have_them_and_others_by_what_they_are_made_of(tmp_path):
    """x determines z: v is c and d, and another table of x has c by itself, so that d is what is left of v."""
    rows = [(x, y, "u" if x in "ab" else "v", 20) for x in "abc" for y in "12" for _ in range(5)]
    write_records(tmp_path, [*rows, ("d", "1", "v", 3)])
    (tmp_path / "x.grc").write_text("abd:a,b,d\nc:c\n")
    tables = specified(('"z""y"', "FREQ(3,10)"), ('"x"', "FREQ(3,10)"))
    done = run(tmp_path, f'{OPEN}{tables}<RECODE> 2, "x", "x.grc"\n{ALONE}{writes(1, 2)}')
    told = next(warning for warning in done.warnings if TOGETHER in warning)
    assert "a cell that no table shows (x d)" in told
    write_records(tmp_path, [*(row for row in rows if row[:2] != ("b", "2")), ("b", "2", "u", 3)])
    tables = specified(('"z""y"', "FREQ(30,10)"), ('"x""y"', "FREQ(1,10)"))
    done = run(
        tmp_path, f"{OPEN}{tables}{ALONE}{writes(1, 2)}".replace('"1.csv"', '"3.csv"').replace('"2.csv"', '"4.csv"')
    )
    told = next(warning for warning in done.warnings if TOGETHER in warning)
    assert "z u, y 2" in told and "x u" not in told
