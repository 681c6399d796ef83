"""Level columns beside the same columns by themselves: which codes of several tables are one."""

import pytest

from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.batch.run import run_batch
from sfumato.pipelines.tables.protect import protect
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.dimensions import file_tree, flat_tree, level_tree
from sfumato.tables.linked.codes import axes_of
from sfumato.tables.linked.from_plan import InputTable, is_cyclic, join
from sfumato.tables.noise.cell_key import keys_by_codes
from sfumato.tables.noise.perturbed import perturbed_parts
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.plan.table_plan import read_table_plan

T = "Total"
# How many records there are of Land, Kreis, sex and age. Apart, one table masks W by sex, the other S, and N,m is told.
COUNTS = {
    "N,N1,m,a": 1, "N,N1,m,y": 1, "N,N1,w,a": 7, "N,N1,w,y": 8, "S,S1,m,a": 9, "S,S1,m,y": 9, "S,S1,w,a": 1,
    "S,S1,w,y": 9, "S,S2,m,a": 9, "S,S2,w,y": 9, "W,W1,m,y": 12, "W,W1,w,a": 19, "W,W1,w,y": 9, "W,W2,m,a": 2,
    "W,W2,w,y": 5,
}  # fmt: skip
AREA, LAND, SEX, AGE = {"levels": ["Land", "Kreis"]}, {"column": "Land"}, {"column": "sex"}, {"column": "age"}
OTHERS = {"column": LAND, "levels": {"levels": ["Land"]}, "parts": {"levels": ["Land", "Kreis", "age"]}}


@pytest.fixture
def folder(tmp_path):
    """Records in a file."""
    lines = [record for record, count in COUNTS.items() for _ in range(count)]
    (tmp_path / "c.csv").write_text("Land,Kreis,sex,age\n" + "\n".join(lines) + "\n")
    return tmp_path


def plan(folder, *tables, **more):
    listed = [{"name": f"t{place}", "dimensions": own} for place, own in enumerate(tables)]
    rules = {
        "primary": [{"rule": "frequency", "min": 3}],
        "table": {"microdata": "c.csv", "value": "count", "group_disclosure": False},
        "method": "fast",
    }
    return read_table_plan({"version": 1, **rules, **({"tables": listed} if listed else {}), **more}, folder)


def margin(columns, column="count_published"):
    """What is published of Land by sex, over all else."""
    others = [columns.text(name) for name in ("Kreis", "age") if name in columns]
    rows = [row for row in range(len(columns)) if all(own[row] == T for own in others)]
    return {(columns.text("Land")[row], columns.text("sex")[row]): columns.text(column)[row] for row in rows}


@pytest.mark.parametrize("name", OTHERS)
def test_tables_of_levels_and_of_the_column_mask_the_same(folder, name):
    second = {"land": OTHERS[name], "sex": SEX} | ({} if name == "parts" else {"age": AGE})
    done = protect(None, plan(folder, {"area": AREA, "sex": SEX}, second, attackers={"persons": False}))
    one, two = (margin(table.columns) for table in done.tables.values())
    assert one == two
    assert len(one) == 12


def test_adjusted_tables_show_the_same(folder):
    tables = {"area": AREA, "sex": SEX}, {"land": LAND, "sex": SEX, "age": AGE}
    done = protect(None, plan(folder, *tables, method={"name": "adjustment"}))
    one, two = (margin(table.columns) for table in done.tables.values())
    assert one == two


def test_an_audit_of_both_finds_what_each_alone_hides(folder):
    tables = {"area": AREA, "sex": SEX}, {"land": LAND, "sex": SEX, "age": AGE}
    alone = [protect(None, plan(folder, own)).tables["t0"].columns for own in tables]
    assert not audit(alone, plan(folder, *tables)).passed


def test_a_release_of_before_counts_for_the_column_too(folder):
    before = protect(None, plan(folder, {"area": AREA, "sex": SEX}))
    before.save(folder / "before")
    after = protect(None, plan(folder, dimensions={"land": LAND, "sex": SEX}, previous=["before"]))
    assert margin(before.tables["t0"].columns) == margin(after.tables["table"].columns)


def sheet(name, dimensions, texts):
    return InputTable(name, dimensions, TextColumns({column: tuple(codes) for column, codes in texts.items()}))


def test_a_ring_through_a_level_is_a_cycle(tmp_path):
    land, area = Dimension(column="Land"), Dimension(levels=("Land", "Kreis"))
    sex, age = Dimension(column="sex"), Dimension(column="age")
    rows = {"Land": [T, "N", T, "N"], "sex": [T, T, "m", "m"]}
    levels = {"Land": [T, "N", "N"] * 2, "Kreis": [T, T, "N1"] * 2, "age": [T] * 3 + ["y"] * 3}
    last = {"sex": [T, "m", T, "m"], "age": [T, T, "y", "y"]}
    ring = [sheet("1", {"land": land, "sex": sex}, rows), sheet("2", {"area": area, "age": age}, levels)]
    assert not is_cyclic(join(ring, tmp_path))
    assert is_cyclic(join([*ring, sheet("3", {"sex": sex, "age": age}, last)], tmp_path))


LEVELS = level_tree("area", [("N", "1"), ("N", "2"), ("S", "1")], ("Land", "Kreis"), T)
FINER = level_tree("area", [("N", "1", "a"), ("N", "2", "b"), ("S", "1", "a")], ("Land", "Kreis", "Gem"), T)


def names(*trees):
    return [axis.names for (axis,) in axes_of([(tree,) for tree in trees])]


def test_prefixes_of_levels_are_one_code():
    land, levels, finer = names(flat_tree("Land", ["N", "S"], T), LEVELS, FINER)
    assert land["N",] == levels["N", T] == finer["N", T, T]
    assert levels["N", "1"] == finer["N", "1", T]
    assert levels["N", "1"] != levels["S", "1"]


def test_a_lower_column_is_the_level_where_its_code_lies_in_one_unit():
    kreis, levels = names(flat_tree("Kreis", ["1", "2"], T), LEVELS)
    assert kreis["2",] == levels["N", "2"]
    assert kreis["1",] not in (levels["N", "1"], levels["S", "1"])


def test_a_unit_with_one_part_is_not_that_part():
    (levels,) = names(level_tree("area", [("N", "1"), ("S", "2")], ("Land", "Kreis"), T))
    land, both = names(flat_tree("Land", ["N", "S"], T), level_tree("a", [("N", "1")], ("Land", "Kreis"), T))
    assert levels["N", T] != levels["N", "1"]
    assert land["N",] == both["N", T] != both["N", "1"]


def test_a_hierarchy_above_the_lower_column_is_the_upper_column(tmp_path):
    (tmp_path / "kreis.hrc").write_text("N\n@1\n@2\nS\n@3\n@4\n")
    levels = level_tree("area", [("N", "1"), ("N", "2"), ("S", "3"), ("S", "4")], ("Land", "Kreis"), T)
    tree = file_tree("Kreis", tmp_path / "kreis.hrc", T, "1234")
    kreis, area, land = names(tree, levels, flat_tree("Land", ["N", "S"], T))
    assert kreis["N",] == area["N", T] == land["N",]
    assert kreis["3",] == area["S", "3"]


def test_a_lower_column_is_the_sum_of_its_codes_in_all_units(tmp_path):
    area, kreis = Dimension(levels=("Land", "Kreis")), Dimension(column="Kreis")
    codes = [(T, T), ("N", T), ("N", "1"), ("N", "2"), ("S", T), ("S", "1"), ("S", "3")]
    first = sheet("1", {"a": area}, dict(zip(("Land", "Kreis"), zip(*codes, strict=True), strict=True)))
    joint = join([first, sheet("2", {"k": kreis}, {"Kreis": [T, "1", "2", "3"]})], tmp_path)
    rows = [set(joint.relations.row(place)[0].tolist()) for place in range(len(joint.relations))]
    total, one, two, three = joint.sections[1].cells.tolist()
    assert (total, two, three) == (0, 3, 6)
    assert {one, 2, 5} in rows


def test_columns_crossed_with_one_another_are_the_levels(tmp_path):
    land, kreis = Dimension(column="Land"), Dimension(column="Kreis")
    area = {"Land": [T, "N", "N", "N"], "Kreis": [T, T, "1", "2"]}
    crossed = {"Land": [T, T, T, "N", "N", "N"], "Kreis": [T, "1", "2", T, "1", "2"]}
    first = sheet("1", {"a": Dimension(levels=("Land", "Kreis"))}, area)
    joint = join([first, sheet("2", {"l": land, "k": kreis}, crossed)], tmp_path)
    rows = [set(joint.relations.row(place)[0].tolist()) for place in range(len(joint.relations))]
    own = joint.sections[1].cells.tolist()
    assert own[:4] == [0, 2, 3, 1]
    assert {own[4], 2} in rows


def test_keys_by_codes_are_those_of_the_column(tmp_path):
    entries = {"version": 1, "table": {"value": "count"}, "method": {"name": "rounding", "base": 3}}
    level = TextColumns({"Land": (T, "N", "N"), "Kreis": (T, T, "N1"), "count": ("9", "9", "9")})
    keys = []
    for dimension, columns in ((AREA, level), (LAND, level.rows([0, 1])), ({"column": "Kreis"}, level.rows([0, 2]))):
        own = read_table_plan({**entries, "dimensions": {"d": dimension}}, tmp_path)
        keys.append(keys_by_codes("secret", perturbed_parts(own, columns)[0]))
    assert keys[0][:2] == keys[1]
    assert keys[0][2] == keys[2][1]


HIERARCHY = "N\n@N1\n@N9\nS\n@S1\n@S2\nW\n@W1\n@W2\n"


def test_a_column_that_is_a_level_of_a_hierarchy_in_the_records_is_that_level(folder):
    (folder / "kreis.hrc").write_text(HIERARCHY)
    tables = {"kreis": {"column": "Kreis", "hierarchy": "kreis.hrc"}, "sex": SEX}, {"land": LAND, "sex": SEX}
    one, two = (table.columns for table in protect(None, plan(folder, *tables)).tables.values())
    texts = (one.text(name) for name in ("Kreis", "sex", "count_published"))
    units = {(unit, sex): text for unit, sex, text in zip(*texts, strict=True)}
    shown = margin(two)
    assert {cell: units[cell] for cell in shown} == shown
    assert units["N", "m"] == "*"


def test_variables_of_a_batch_file_that_are_levels_are_masked_alike(folder):
    (folder / "kreis.hrc").write_text(HIERARCHY)
    lines = [record.replace(",", ";") for record, count in COUNTS.items() for _ in range(count)]
    (folder / "m.asc").write_text("\n".join(lines) + "\n")
    total, tree = (
        '<RECODEABLE>\n<TOTCODE> "Total"\n',
        '<HIERARCHICAL>\n<HIERCODELIST> "kreis.hrc"\n<HIERLEADSTRING> "@"\n',
    )
    variables = "".join(
        f"{name} 2\n{total}{tree if name == 'kreis' else ''}" for name in ("land", "kreis", "sex", "age")
    )
    (folder / "m.rda").write_text(f'<SEPARATOR> ";"\n{variables}')
    tables = "".join(
        f'<SPECIFYTABLE> "{name}""sex"|"<freq>"||\n<SAFETYRULE> FREQ(3,20)\n' for name in ("kreis", "land")
    )
    head = f'<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda"\n{tables}<READMICRODATA>\n<SUPPRESS> MOD(0)\n'
    (folder / "b.arb").write_text(head + "".join(f'<WRITETABLE> ({n}, 3, AS+, "{n}.csv")\n' for n in (1, 2)))
    run_batch(folder / "b.arb", folder / "out")
    one, two = (
        {
            line.rsplit(",", 2)[0]: line.rsplit(",", 2)[1:]
            for line in (folder / "out" / f"{n}.csv").read_text().split("\n")
        }
        for n in (1, 2)
    )
    assert len(two) > 9
    assert {cell: one[cell] for cell in two} == two
