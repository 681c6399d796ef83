"""Which codes of several tables are one, and which of their variables form a cycle."""

import pytest

from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.dimensions import file_tree, flat_tree, level_tree
from sfumato.tables.linked.codes import axes_of
from sfumato.tables.linked.cross import variable_cycles
from sfumato.tables.linked.from_plan import InputTable, is_cyclic, join
from sfumato.tables.noise.cell_key import keys_by_codes
from sfumato.tables.noise.perturbed import perturbed_parts
from sfumato.tables.plan.sections import Dimension
from sfumato.tables.plan.table_plan import read_table_plan

T = "Total"
AREA, LAND = {"levels": ["Land", "Kreis"]}, {"column": "Land"}


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


@pytest.mark.parametrize(
    ("tables", "cycles"),
    [
        ("ab bc", []),
        ("ab bc ac", ["abc"]),
        ("ab bc ac abc", []),
        ("ab bc acd", ["abc"]),
        ("ab bc cd", []),
        ("ab bc cd ad", ["abcd"]),
        ("ab bc cd ad ac", ["abcd"]),
        ("abc cde aef", ["ace"]),
        ("abc cde aef ace", []),
        ("ab bc ac xy yz xz", ["abc", "xyz"]),
        ("ab bc ac ad", ["abc"]),
        ("ab ab", []),
        ("a b c", []),
    ],
)
def test_cycles(tables, cycles):
    found = variable_cycles(frozenset(table) for table in tables.split())
    assert ["".join(sorted(own)) for own in found] == cycles
