"""Codes that lie wholly within a code of another column, though their columns do not determine it."""

import random

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.pipelines.tables.protect import protect
from sfumato.pipelines.tables.protect_linked import sheets_of
from sfumato.tables.plan.table_plan import read_table_plan

# k3 lies in y alone and k4, k5 in x, while k1 is in both: what x and y have in q tells k3 to k5 there.
CELLS = [
    *(("k1", "x", "r", 20), ("k1", "y", "r", 20), ("k3", "y", "q", 10), ("k3", "y", "r", 30)),
    *(("k4", "x", "q", 1), ("k4", "x", "r", 30), ("k5", "x", "q", 40), ("k5", "x", "r", 50)),
]
RECORDS = [(kreis, typ, size) for kreis, typ, size, count in CELLS for _ in range(count)]


def plan(folder, records, *tables, columns=("kreis", "typ", "size")):
    (folder / "c.csv").write_text("\n".join(map(",".join, [columns, *records])) + "\n")
    listed = [
        {"name": f"t{place}", "dimensions": {name: {"column": name} for name in own}}
        for place, own in enumerate(tables)
    ]
    entries = {
        "version": 1,
        "table": {"microdata": "c.csv", "value": "count", "group_disclosure": False},
        "tables": listed,
    }
    return read_table_plan(entries | {"primary": [{"rule": "frequency", "min": 3}]}, folder)


def test_an_unsafe_cell_is_not_what_included_codes_leave(tmp_path):
    done = protect(None, plan(tmp_path, RECORDS, ("typ", "size"), ("kreis", "size")))
    texts = {}
    for table, name in (("t0", "typ"), ("t1", "kreis")):
        own = done.tables[table].external
        texts |= dict(zip(zip(own.text(name), own.text("size"), strict=True), own.text("count_published"), strict=True))
    assert texts["k4", "q"] == "*"
    # Were k5 or x in q published too, k4 would be the rest of x; were k3 alone masked beside it, the rest of all.
    assert texts["k5", "q"] == "*" or texts["x", "q"] == "*"
    assert not (texts["k3", "q"] == "*" and texts["y", "q"] != "*" and texts["k5", "q"] != "*")


def test_combinations_of_codes_are_linked_with_what_they_lie_in(tmp_path):
    draw = random.Random(5)
    records = [
        (part, size, "q" if (part, size) == ("w", "s") else draw.choice("pqr"), draw.choice("ABCD"))
        for part in "ew"
        for size in "stu"
        for _ in range(40)
    ]
    own = plan(tmp_path, records, ("part", "size", "n"), ("risk", "n"), columns=("part", "size", "risk", "n"))
    chains = sheets_of(own)[1][0].chains
    assert [set(chain.columns) for chain in chains] == [{"part", "size", "risk"}]


def test_combinations_that_no_further_column_divides_tell_nothing(tmp_path):
    """What is of N and u is of r, and of S and u of q: the cell of q and v is attacked by programs of its own."""
    counts = {"Npv": 120, "Nqv": 2, "Nru": 60, "Spv": 150, "Squ": 70, "Srv": 80}
    records = [tuple(record) for record, count in counts.items() for _ in range(count)]
    columns = ("land", "size", "risk")
    done = protect(None, plan(tmp_path, records, ("land", "risk"), ("size", "risk"), columns=columns))
    rows, sides = [], []
    for table, names in (("t0", ("land", "risk")), ("t1", ("size", "risk"))):
        own = done.tables[table].external
        for *codes, text in zip(*map(own.text, (*names, "count_published")), strict=True):
            if text.isdigit():
                at = [(columns.index(name), code) for name, code in zip(names, codes, strict=True)]
                rows.append([all(code in ("Total", record[place]) for place, code in at) for record in counts])
                sides.append(float(text))
    unsafe = np.array([record == "Nqv" for record in counts], float)
    low, high = (sign * linprog(sign * unsafe, A_eq=np.array(rows, float), b_eq=sides).fun for sign in (1.0, -1.0))
    assert high - low >= 1


@pytest.mark.parametrize("seed", range(5))
def test_unrelated_columns_are_not_linked(tmp_path, seed):
    draw = random.Random(seed)
    records = [
        (draw.choice("abcdefgh"), draw.choice("stu"), draw.choice("mf"), draw.choice("123456789"))
        for _ in range(draw.choice([30, 200, 1500]))
    ]
    own = plan(tmp_path, records, ("region", "size"), ("sex", "age"), columns=("region", "size", "sex", "age"))
    assert not sheets_of(own)[1][0].chains
