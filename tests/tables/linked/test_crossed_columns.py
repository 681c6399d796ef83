"""Tables that cross columns which a column of another table determines, or that are finer each in another variable."""

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.pipelines.tables.protect import protect
from sfumato.tables.plan.table_plan import read_table_plan

T = "Total"
# How many records there are of each combination of codes.
GEOGRAPHY = {
    "N,1,u,a,s": 2, "N,1,u,a,t": 9, "N,1,u,b,s": 9, "N,1,u,b,t": 8, "N,1,r,c,s": 7, "N,1,r,c,t": 9, "S,2,u,d,s": 8,
    "S,2,u,d,t": 9, "S,2,r,e,s": 9, "S,2,r,e,t": 7, "S,2,r,f,s": 8, "S,2,r,f,t": 9,
}  # fmt: skip
CHAIN = {
    "N,1,u,a,s": 2, "N,1,u,a,t": 9, "N,1,u,b,s": 9, "N,1,u,b,t": 8, "N,2,u,c,s": 7, "N,2,u,c,t": 9, "N,2,u,d,s": 8,
    "N,2,u,d,t": 9, "S,3,u,e,s": 9, "S,3,u,e,t": 7, "S,3,u,f,s": 8, "S,3,u,f,t": 9,
}  # fmt: skip
BRANCHES = {
    "a,1,N,p,S": 1, "a,1,N,q,S": 1, "a,1,N,r,U": 9, "a,1,N,t,U": 6, "b,1,N,p,S": 7, "b,1,N,q,S": 9, "b,1,N,r,U": 8,
    "b,1,N,t,U": 9, "c,2,N,p,S": 5, "c,2,N,q,S": 9, "c,2,N,r,U": 5, "c,2,N,t,U": 8, "d,2,N,p,S": 7, "d,2,N,q,S": 9,
    "d,2,N,r,U": 6, "d,2,N,t,U": 6, "e,3,S,p,S": 8, "e,3,S,q,S": 9, "e,3,S,r,U": 9, "e,3,S,t,U": 8, "f,3,S,p,S": 8,
    "f,3,S,q,S": 6, "f,3,S,r,U": 6, "f,3,S,t,U": 6,
}  # fmt: skip
PLACES, FIELDS = ("land", "kreis", "typ", "gem", "size"), ("gem", "kreis", "land", "branch", "sector")
GEM, KREIS, LAND, SIZE = {"g": ["gem"]}, {"k": ["kreis"]}, {"l": ["land"]}, {"s": ["size"]}
SECTOR, BRANCH = {"b": ["sector"]}, {"b": ["branch"]}
CASES = {
    "types of a Kreis": (PLACES, GEOGRAPHY, [GEM | SIZE, KREIS | {"t": ["typ"]} | SIZE]),
    "a Kreis and its Land": (PLACES, CHAIN, [GEM | SIZE, LAND | KREIS | SIZE]),
    "each finer in something": (FIELDS, BRANCHES, [GEM | SECTOR, KREIS | BRANCH]),
    "levels of one": (FIELDS, BRANCHES, [{"g": ["land", "gem"]} | SECTOR, KREIS | BRANCH]),
    "levels of both": (FIELDS, BRANCHES, [{"g": ["land", "gem"]} | SECTOR, KREIS | {"b": ["sector", "branch"]}]),
    "a third that is coarse": (FIELDS, BRANCHES, [GEM | SECTOR, KREIS | BRANCH, LAND | SECTOR]),
}
YEARS = {f"2024,{record}": count for record, count in BRANCHES.items()}
ORDERS = {
    "another order": (PLACES, GEOGRAPHY, [GEM | SIZE, SIZE | KREIS]),
    "another order of both": (FIELDS, BRANCHES, [GEM | SECTOR, BRANCH | KREIS]),
    "one more variable": (("year", *FIELDS), YEARS, [GEM | {"y": ["year"]} | SECTOR, KREIS | BRANCH]),
}


def plan(folder, tables, **more):
    listed = [
        {"name": f"t{place}", "dimensions": {name: {"levels": own} for name, own in table.items()}}
        for place, table in enumerate(tables)
    ]
    for one in listed:
        one["dimensions"] = {
            name: own if len(own["levels"]) > 1 else {"column": own["levels"][0]}
            for name, own in one["dimensions"].items()
        }
    rules = {
        "primary": [{"rule": "frequency", "min": 3}],
        "table": {"microdata": "c.csv", "value": "count", "group_disclosure": False},
    }
    return read_table_plan({"version": 1, **rules, "method": "fast", "tables": listed, **more}, folder)


def written(folder, names, counts):
    lines = [record for record, count in counts.items() for _ in range(count)]
    (folder / "c.csv").write_text("\n".join([",".join(names), *lines]) + "\n")


def told(names, counts, tables):
    """Unsafe cells of published tables that these together tell, by linear programs over the records' combinations."""
    records, amounts = [record.split(",") for record in counts], np.array(list(counts.values()), float)
    shown, hidden = [], []
    for columns in tables:
        own = [name for name in names if name in columns]
        for row, text in enumerate(columns.text("count_published")):
            codes = {name: columns.text(name)[row] for name in own}
            inside = [all(code in (T, one[names.index(name)]) for name, code in codes.items()) for one in records]
            (shown if text.isdigit() else hidden).append(np.array(inside, float))
    sums, right = np.array(shown), np.array(shown) @ amounts
    unsafe = [cell for cell in hidden if 0 < cell @ amounts < 3]
    assert unsafe
    ends = [(linprog(cell, A_eq=sums, b_eq=right).fun, -linprog(-cell, A_eq=sums, b_eq=right).fun) for cell in unsafe]
    return [cell for cell, (low, high) in zip(unsafe, ends, strict=True) if high - low < 1e-6]


@pytest.mark.parametrize("case", CASES | ORDERS)
def test_tables_together_tell_no_unsafe_cell(tmp_path, case):
    names, counts, tables = (CASES | ORDERS)[case]
    written(tmp_path, names, counts)
    done = protect(None, plan(tmp_path, tables))
    assert not told(names, counts, [own.columns for own in done.tables.values()])


@pytest.mark.parametrize("case", CASES)
def test_nor_do_releases_one_after_another(tmp_path, case):
    names, counts, tables = CASES[case]
    written(tmp_path, names, counts)
    before = protect(None, plan(tmp_path, tables[1:]))
    before.save(tmp_path / "before")
    folders = [f"before/{name}" for name in before.tables] if len(before.tables) > 1 else ["before"]
    after = protect(None, plan(tmp_path, tables[:1], previous=folders))
    assert not told(names, counts, [own.columns for done in (before, after) for own in done.tables.values()])


def test_a_wrong_record_that_a_table_shows_by_itself_is_not_taken_for_known(tmp_path):
    written(tmp_path, PLACES, CHAIN | {"N,2,u,a,t": 1})
    tables = [GEM | KREIS | SIZE, KREIS | SIZE, LAND | SIZE]
    done = protect(None, plan(tmp_path, tables))
    assert not told(PLACES, CHAIN | {"N,2,u,a,t": 1}, [own.columns for own in done.tables.values()])
