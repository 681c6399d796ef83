"""From columns to tables: hierarchies, relations, bad input, groups, tables given by cells and relations."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError, PlanError, UnattainableError
from sfumato.pipelines.tables.protect import run
from sfumato.tables.build import build
from sfumato.tables.cells.columns import TextColumns, read_columns
from sfumato.tables.cells.dimensions import file_tree
from sfumato.tables.cells.system import CellStatus
from sfumato.tables.plan.sections import AttackerModel
from sfumato.tables.plan.table_plan import read_table_plan
from sfumato.values import replace


def changed(columns, row, **texts):
    return TextColumns(
        {
            name: tuple(texts.get(name, text) if place == row else text for place, text in enumerate(column))
            for name, column in columns.texts.items()
        }
    )


def without(columns, row):
    return TextColumns({name: (*column[:row], *column[row + 1 :]) for name, column in columns.texts.items()})


@pytest.mark.parametrize("method", ["intervals", "optimal", "fast", "ranges"])
def test_wrong_total_names_level_and_unit(known, make_plan, method):
    with pytest.raises(DataError, check=coded("data.totals")) as caught:
        run(make_plan(method), changed(known, 3, Wert="6"))
    assert caught.value.code == "data.totals"
    assert 2 in caught.value.rows


def test_missing_parent_is_named(known, make_plan):
    with pytest.raises(DataError, check=coded("data.missing-parent.no_parent")):
        build(make_plan(), without(known, 1))


def test_total_above_a_unit_is_refused(known, make_plan):
    with pytest.raises(DataError) as caught:
        build(make_plan(), changed(known, 3, Kreis="0"))
    assert caught.value.code == "data.missing-parent"
    assert caught.value.rows == (4,)


def test_duplicate_cells_are_refused(known, make_plan):
    twice = TextColumns({name: (*column, column[3]) for name, column in known.texts.items()})
    with pytest.raises(DataError, check=coded("data.duplicate-cell.same_cell")):
        build(make_plan(), twice)


@pytest.mark.parametrize("text", ["sieben", "", "nan", "inf", "1–3"])
def test_text_in_the_value_column_is_refused_without_showing_it(known, make_plan, text):
    with pytest.raises(DataError) as caught:
        build(make_plan(), changed(known, 3, Wert=text))
    assert (caught.value.code, caught.value.column, caught.value.rows) == ("data.not-a-number", "Wert", (4,))
    assert not text or text not in str(caught.value)


@pytest.mark.parametrize("method", ["intervals", "optimal", "fast", "ranges"])
def test_chain_of_single_parts_is_unattainable(make_city, make_plan, method):
    with pytest.raises(UnattainableError):
        run(make_plan(method), make_city({"1": [2]}))


def test_missing_column_says_which(known):
    plan = read_table_plan(
        {
            "version": 1,
            "table": {"value": "Wetr"},
            "dimensions": {"area": {"levels": ["Kreis", "Quartier"], "total": 0}},
            "primary": [{"rule": "range", "min": 1, "max": 3}],
        }
    )
    with pytest.raises(PlanError, check=coded("plan.no-column.no_column")):
        build(plan, known)


HRC = "A\n@1\n@2\nB\n@@3\n"


def test_hrc_file(tmp_path):
    path = tmp_path / "area.hrc"
    path.write_text("A\n@ 1\n@ 2\nB\n@3\n@@31\n@@32\n")
    tree = file_tree("area", path, "Total", ["1", "31", "B", "Total"])
    assert tree.parents == {
        ("A",): ("Total",),
        ("1",): ("A",),
        ("2",): ("A",),
        ("B",): ("Total",),
        ("3",): ("B",),
        ("31",): ("3",),
        ("32",): ("3",),
    }
    with pytest.raises(DataError, check=coded("data.unknown-code.unknown_codes")):
        file_tree("area", path, "Total", ["9"])
    path.write_text(HRC)
    with pytest.raises(PlanError, check=coded("plan.hierarchy.hierarchy")):
        file_tree("area", path, "Total", [])


@pytest.mark.parametrize("text", ["child;parent\n1;A\n2;A\nA;Total\n", "1,A\n2,A\nA,\n", "1,A\n2,A\n"])
def test_child_parent_file(tmp_path, text):
    path = tmp_path / "area.csv"
    path.write_text(text)
    assert file_tree("area", path, "Total", ["1"]).parents[("1",)] == ("A",)
    assert file_tree("area", path, "Total", ["1"]).parents[("A",)] == ("Total",)


def test_circle_is_refused(tmp_path):
    path = tmp_path / "area.csv"
    path.write_text("1,2\n2,1\n")
    with pytest.raises(PlanError, check=coded("plan.hierarchy.ladder_circle")):
        file_tree("area", path, "Total", [])


def two_way(tmp_path, **method):
    (tmp_path / "nace.hrc").write_text("A\n@1\n@2\nB\n")
    cells = [
        ("Total", "Total", 100), ("Total", "s", 40), ("Total", "l", 60),
        ("A", "Total", 30), ("A", "s", 12), ("A", "l", 18),
        ("1", "Total", 14), ("1", "s", 2), ("1", "l", 12),
        ("2", "Total", 16), ("2", "s", 10), ("2", "l", 6),
        ("B", "Total", 70), ("B", "s", 28), ("B", "l", 42),
    ]  # fmt: skip
    columns = TextColumns(
        {name: tuple(str(cell[place]) for cell in cells) for place, name in enumerate(("NACE", "Size", "n"))}
    )
    plan = {
        "version": 1,
        "table": {"value": "n"},
        "dimensions": {"nace": {"column": "NACE", "hierarchy": "nace.hrc"}, "size": {"column": "Size"}},
        "primary": [{"rule": "range", "min": 1, "max": 3}],
        "method": {"name": "optimal", **method},
    }
    return read_table_plan(plan, tmp_path), columns


def test_two_dimensions_give_all_relations(tmp_path):
    plan, columns = two_way(tmp_path)
    (part,) = build(plan, columns)
    assert len(part.table.constraints) == 2 * 3 + 5
    assert (part.table.constraints.residuals(part.table.values) == 0).all()
    assert run(plan, columns).report["masked"] == 4


def test_costs(tmp_path):
    columns = two_way(tmp_path)[1]
    for cost, expected in {"unit": 1.0, "value": 100.0, "log": np.log(101), "frequency": 100.0, "n": 100.0}.items():
        plan, _ = two_way(tmp_path, cost=cost)
        assert build(plan, columns)[0].table.costs[0] == pytest.approx(expected)
    plan, _ = two_way(tmp_path, cost="unit", level_factor=2)
    assert build(plan, columns)[0].table.costs.tolist() == [8, 4, 4, 4, 2, 2, 2, 1, 1, 2, 1, 1, 4, 2, 2]


def test_groups_are_tables_of_their_own(known, make_plan):
    both = TextColumns(
        {name: column * 2 for name, column in known.texts.items()} | {"Jahr": ("2024",) * 9 + ("2025",) * 9}
    )
    plan = make_plan("intervals", table={"value": "Wert", "group_by": ["Jahr"]})
    protected = run(plan, both)
    assert protected.report["groups"] == 2
    published = protected.columns.text("Wert_published")
    assert published[:9] == published[9:] == run(make_plan("intervals"), known).columns.text("Wert_published")


def test_group_that_is_the_total_of_others_is_refused(known, make_plan):
    numbers = [int(text) for text in known.text("Wert")]
    columns = TextColumns(
        {name: known.text(name) * 3 for name in ("Kreis", "Quartier")}
        | {
            "Wert": tuple(str(number * factor) for factor in (1, 2, 3) for number in numbers),
            "Sex": ("m",) * 9 + ("w",) * 9 + ("m+w",) * 9,
        }
    )
    with pytest.raises(DataError, check=coded("data.group-is-total.column")):
        build(make_plan(table={"value": "Wert", "group_by": ["Sex"]}), columns)
    plan = make_plan(
        table={"value": "Wert"},
        dimensions={"area": {"levels": ["Kreis", "Quartier"], "total": 0}, "sex": {"column": "Sex", "total": "m+w"}},
    )
    assert run(plan, columns).passed


CELLS = """id,value,status,cost,lb,ub,lpl,upl
0,20.5,s,20.5,0,100,0,0
1,10.5,s,10.5,0,100,0,0
2,10,s,10,0,100,0,0
3,0,z,0.001,0,100,0,0
"""
RELATIONS = "relation,cell_id,coef\nr,0,-1\nr,1,1\nr,2,1\nr,3,1\n"


def given(tmp_path, cells=CELLS, **more):
    (tmp_path / "cells.csv").write_text(cells)
    (tmp_path / "relations.csv").write_text(RELATIONS)
    plan = {"version": 1, "table": {"cells": "cells.csv", "relations": "relations.csv"}, **more}
    return read_table_plan(plan, tmp_path), read_columns(tmp_path / "cells.csv")


def test_cells_and_relations(tmp_path):
    plan, columns = given(tmp_path, CELLS.replace("1,10.5,s,10.5,0,100,0,0", "1,10.5,u,10.5,0,100,2,2"))
    (part,) = build(plan, columns)
    assert part.table.status.tolist() == [CellStatus.SAFE, CellStatus.SENSITIVE, CellStatus.SAFE, CellStatus.PUBLISH]
    protected = run(plan, columns)
    assert protected.columns.text("value_published") == ("20.5", "*", "*", "0")
    assert protected.report["cost"] == 10


def test_rules_come_on_top_of_given_statuses(tmp_path):
    plan, columns = given(tmp_path, primary=[{"rule": "range", "min": 9.5, "max": 10.2}], protection={"percent": 10})
    assert build(plan, columns)[0].table.sensitive.tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("2,10,s", "1,10,s", "duplicate-cell"),
        ("2,10,s", "2,11,s", "totals"),
        ("2,10,s", "2,10,q", "status"),
        ("2,10,s", "7,10,s", "missing-parent"),
    ],
)
def test_faulty_cells_are_refused(tmp_path, old, new, code):
    plan, columns = given(tmp_path, CELLS.replace(old, new))
    with pytest.raises(DataError) as caught:
        build(plan, columns)
    assert caught.value.code == f"data.{code}"


LINKED = "id,value,status,cost,lpl,upl\n1,45,s,60,0,0\n2,1,s,5,0,0\n3,4,s,15,0,0\n4,40,s,40,0,0\n"
LINKS = "relation,cell_id,coef\na,1,-1\na,2,1\na,3,1\na,4,1\n"
SMALL = [{"rule": "range", "min": 1, "max": 3}]


def linked(tmp_path, cells=LINKED, links=LINKS, **more):
    plan, columns = given(tmp_path, cells, **more)
    (tmp_path / "relations.csv").write_text(links)
    return plan, columns


def test_linked_tables_withstand_one_who_knows_the_cases(tmp_path):
    plan, columns = linked(tmp_path, primary=SMALL, attacker={"rule": True})
    (part,) = build(plan, columns)
    assert part.table.bounds.low.tolist() == [9, 1, 4, 4]
    assert part.public.low.tolist() == [1, 1, 1, 1]
    assert run(plan, columns).columns.text("value_published") == ("45", "*", "4", "*")
    careless, _ = linked(tmp_path, primary=SMALL)
    assert run(careless, columns).columns.text("value_published") == ("45", "*", "*", "40")


def test_linked_tables_withstand_one_who_is_shown_the_primaries(tmp_path):
    plan, columns = linked(tmp_path, primary=SMALL, method={"name": "ranges"})
    (part,) = build(plan, columns)
    assert part.table.bounds.low[2] == 4
    assert run(plan, columns).passed


def test_linked_tables_know_the_bounds_of_the_attacker(tmp_path):
    cells = LINKED.replace("2,1,s,5,0,0", "2,1,u,5,0,9").replace("4,40,s", "4,40,z")
    plan, columns = linked(tmp_path, cells, attacker={"lower": 1, "upper": 45})
    (part,) = build(plan, columns)
    assert part.table.bounds.low.tolist() == [1] * 4
    assert part.table.bounds.high.tolist() == [45] * 4


@pytest.mark.parametrize("attacker", [{"lower": 2}, {"upper": 40}])
def test_linked_values_outside_the_bounds_of_the_attacker_are_refused(tmp_path, attacker):
    with pytest.raises(DataError) as caught:
        build(*linked(tmp_path, primary=SMALL, attacker=attacker))
    assert caught.value.code == "data.bounds"


@pytest.mark.parametrize("bounds", ["20,100", "0,9"])
def test_values_outside_their_own_bounds_are_refused(tmp_path, bounds):
    with pytest.raises(DataError) as caught:
        build(*given(tmp_path, CELLS.replace("2,10,s,10,0,100", f"2,10,s,10,{bounds}")))
    assert caught.value.code == "data.bounds"
    assert caught.value.rows == (3,)


@pytest.mark.parametrize("more", ["a,4,1\n", "b,2,0\nb,3,0\n", "b,3,0\n"])
def test_odd_relations_are_refused(tmp_path, more):
    cells = LINKED.replace("4,40,s", "4,0,s").replace("1,45,", "1,5,")
    with pytest.raises(DataError) as caught:
        build(*linked(tmp_path, cells, LINKS + more, primary=SMALL))
    assert caught.value.code == "data.relation"


def test_negative_costs_of_cells_are_refused(tmp_path):
    with pytest.raises(DataError) as caught:
        build(*linked(tmp_path, LINKED.replace("1,45,s,60", "1,45,s,-60"), primary=SMALL))
    assert caught.value.code == "data.costs"


def test_an_identity_given_in_both_directions_ends(tmp_path):
    cells = "id,value,status,cost,lpl,upl\n1,5,s,5,0,0\n2,5,u,5,2,2\n"
    plan, columns = linked(tmp_path, cells, "relation,cell_id,coef\na,1,-1\na,2,1\nb,2,-1\nb,1,1\n")
    assert run(plan, columns).columns.text("value_published") == ("*", "*")


def test_rounded_sums_need_a_tolerance(make_plan, known):
    off = changed(known, 0, Wert="28.4")
    with pytest.raises(DataError):
        build(make_plan(), off)
    rounded = make_plan(table={"value": "Wert", "tolerance": 0.5})
    assert run(rounded, off).passed


def test_negative_values_have_no_floor(make_plan):
    cells = TextColumns({"area": ("Total", "a", "b", "c"), "profit": ("-3", "2", "-15", "10")})
    plan = make_plan(
        table={"value": "profit", "contributions": ["profit"]},
        dimensions={"area": {"column": "area"}},
        primary=[{"rule": "dominance", "n": 1, "k": 75}],
        protection={"percent": 20},
    )
    (part,) = build(plan, cells)
    assert np.isneginf(part.table.bounds.low).all()
    with pytest.raises(DataError, check=coded("data.hidden-negative")):  # for none is published
        run(plan, cells)
    assert run(replace(plan, attacker=AttackerModel(lower=-100)), cells).passed


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "empty"), ("a,b\n", "empty"), ("a,b\n1\n", "ragged"), ("a,a\n1,2\n", "duplicate-columns")],
)
def test_faulty_files_are_refused(tmp_path, text, code):
    path = tmp_path / "cells.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_columns(path)
    assert caught.value.code == f"data.{code}"


def test_separator_and_mark_of_order(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_bytes("\ufeffKreis;Wert\n'Höngg';3\n".encode())
    assert read_columns(path).texts == {"Kreis": ("'Höngg'",), "Wert": ("3",)}


def test_attacker_who_knows_the_rule_is_withstood_too(make_city, make_plan):
    cells = make_city({"1": [2, 4], "2": [30, 44]})
    plain = run(make_plan(), cells)
    wary = run(make_plan(attacker={"rule": True}), cells)
    assert build(wary.plan, cells)[0].table.bounds.low[3] == 4
    assert wary.passed
    assert wary.report["cost"] > plain.report["cost"]


def test_unprotectable_cell_is_named_with_its_row(make_plan):
    cells = TextColumns({"area": ("a", "b", "Total"), "n": ("2", "7", "9"), "keep": ("", "z", "z"), "Jahr": ("1",) * 3})
    plan = make_plan(
        table={"value": "n"},
        dimensions={"area": {"column": "area"}},
        primary=[{"rule": "range", "min": 1, "max": 3}, {"rule": "status", "column": "keep"}],
    )
    with pytest.raises(UnattainableError, check=coded("part.of_cells")) as caught:
        run(plan, cells)
    assert caught.value.rows == (1,)
