"""A column that only two others together determine, which stand side by side in a table: attacked by own programs."""

import json

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.protect import protect
from sfumato.pipelines.tables.protect_linked import sheets_of
from sfumato.tables.linked.dependencies import determined_chains
from sfumato.tables.linked.records import RecordCodes
from sfumato.tables.plan.table_plan import read_table_plan

# Each Land counts its Kreise from 1 on; what type one is, Land and number tell together.
TYPES = {"N1": "x", "N2": "y", "N3": "y", "S1": "y", "S2": "x", "S3": "y", "W1": "y", "W2": "y", "W3": "x"}
COUNTS = {"N1": (9, 5), "N2": (4, 8), "N3": (7, 7), "S1": (6, 9), "S2": (2, 6), "S3": (8, 5), "W1": (5, 7),
          "W2": (9, 4), "W3": (6, 8)}  # fmt: skip
PLAIN, TYPED = ("land", "kreis", "size"), ("typ", "size")
CELLS = [(unit[0], unit[1], typ, size) for unit, typ in TYPES.items() for size in "st"]
NAMES = ("land", "kreis", "typ", "size")


def folder_of(path, wrong=()):
    lines = [
        f"{unit[0]},{unit[1]},{TYPES[unit]},{size}"
        for unit, counts in COUNTS.items()
        for size, count in zip("st", counts, strict=True)
        for _ in range(count)
    ]
    (path / "c.csv").write_text("\n".join([",".join(NAMES), *lines, *wrong]) + "\n")
    return path


def plan(folder, *tables, **more):
    named = [{"name": "_".join(own), "dimensions": {name: {"column": name} for name in own}} for own in tables]
    rules = {
        "primary": [{"rule": "frequency", "min": 3}],
        "table": {"microdata": "c.csv", "value": "count", "group_disclosure": False},
    }
    own = {"version": 1, **rules, "method": "fast", "tables": named, **more}
    (folder / "plan.json").write_text(json.dumps(own))
    return read_table_plan(own, folder)


def range_of_s2(tables):
    """What the published cells of all tables leave of S2 by s, by linear programs over Land, Kreis, type and size."""
    rows, sides = [], []
    for table in tables:
        columns = table.columns
        names = [name for name in NAMES if name in columns.texts]
        for place in range(len(columns)):
            if columns.text("count_published")[place].isdigit():
                codes = {NAMES.index(name): columns.text(name)[place] for name in names}
                rows.append([all(code in ("Total", cell[own]) for own, code in codes.items()) for cell in CELLS])
                sides.append(float(columns.text("count_published")[place]))
    own = np.array([cell[:2] == ("S", "2") and cell[3] == "s" for cell in CELLS], float)
    ends = [linprog(sign * own, A_eq=np.array(rows, float), b_eq=sides, method="highs") for sign in (1.0, -1.0)]
    return ends[0].fun, -ends[1].fun


def test_tables_that_are_protected_apart_tell_it(tmp_path):
    """So that the programs here find what there is to be found."""
    folder = folder_of(tmp_path)
    apart = [one for own in (PLAIN, TYPED) for one in protect(None, plan(folder, own)).tables.values()]
    low, high = range_of_s2(apart)
    assert high - low < 0.5


def test_tables_of_one_plan_do_not(tmp_path):
    low, high = range_of_s2(protect(None, plan(folder_of(tmp_path), PLAIN, TYPED)).tables.values())
    assert high - low >= 1


def test_a_table_after_a_release_does_not(tmp_path):
    folder = folder_of(tmp_path)
    first = protect(None, plan(folder, TYPED))
    first.save(folder / "before")
    second = protect(None, plan(folder, PLAIN, previous=["before"]))
    low, high = range_of_s2([*first.tables.values(), *second.tables.values()])
    assert high - low >= 1


def test_the_audit_that_names_the_records_finds_it(tmp_path):
    folder = folder_of(tmp_path)
    for own in (PLAIN, TYPED):
        (table,) = protect(None, plan(folder, own)).tables.values()
        table.save(folder / own[0])
    audited = audit([folder / own[0] / "table.csv" for own in (PLAIN, TYPED)], plan(folder, PLAIN, TYPED))
    assert any("S" in finding.name and "s" in finding.name for finding in audited.leaks)


def test_a_wrong_record_does_not_hide_it(tmp_path):
    _, sheets = sheets_of(plan(folder_of(tmp_path, ["W,3,y,t"]), PLAIN, TYPED))
    (chain,) = sheets[0].chains
    assert chain.columns == ("kreis", "land", "typ")
    assert chain.inconsistent == {("3", "W", "y")}


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_nearly_name_a_record_determine_nothing(seed):
    rng = np.random.default_rng(seed)
    codes = {name: tuple(map(str, rng.integers(0, many, 300))) for name, many in (("a", 15), ("b", 15), ("c", 3))}
    codes["d"] = tuple(map(str, rng.integers(0, 10, 300)))
    dimensions = [(name,) for name in codes]
    assert determined_chains(RecordCodes(codes, np.ones(300)), dimensions, tables=[frozenset("abd")]) == ()
