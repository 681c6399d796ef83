"""Columns of the same records of which one determines another, in tables that are protected together."""

from pathlib import Path

import numpy as np
import pytest

from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.protect import protect
from sfumato.pipelines.tables.protect_linked import sheets_of
from sfumato.report.tables.report import summary
from sfumato.tables.linked import cross as implicit_cells
from sfumato.tables.linked.dependencies import determined_chains
from sfumato.tables.linked.from_plan import with_inconsistent_records
from sfumato.tables.linked.protection import joint_part
from sfumato.tables.linked.records import RecordCodes
from sfumato.tables.plan.table_plan import read_table_plan

# How many records there are of Part, Land, Kreis, Gemeinde and size: those of g1 and of g2 by s are few.
COUNTS = {
    "A,N,1,g1,s": 2, "A,N,1,g1,t": 9, "A,N,1,g2,s": 9, "A,N,1,g2,t": 8, "A,N,2,g3,s": 7, "A,N,2,g3,t": 9,
    "A,N,2,g4,s": 8, "A,N,2,g4,t": 9, "B,S,3,g5,s": 9, "B,S,3,g5,t": 7, "B,S,3,g6,s": 8, "B,S,3,g6,t": 9,
    "B,W,4,g7,s": 9, "B,W,4,g7,t": 9, "B,W,4,g8,s": 7, "B,W,4,g8,t": 6,
}  # fmt: skip
WRONG = {"A,N,1,g5,t": 1}
HIERARCHY = "N\n@1\n@@g1\n@@g2\n@2\n@@g3\n@@g4\nS\n@3\n@@g5\n@@g6\nW\n@4\n@@g7\n@@g8\n"
GEM, KREIS, TREE = {"column": "Gem"}, {"column": "Kreis"}, {"column": "Gem", "hierarchy": "g.hrc"}
SPELLINGS = {
    "flat columns": (GEM, KREIS),
    "part of several units": (TREE, {"column": "Part"}),
    "lower levels": ({"levels": ["Kreis", "Gem"]}, {"column": "Land"}),
    "levels that differ": ({"levels": ["Land", "Gem"]}, {"levels": ["Land", "Kreis"]}),
    "levels and a hierarchy": ({"levels": ["Land", "Kreis"]}, TREE),
}


def folder_of(path, counts):
    lines = [record for record, count in counts.items() for _ in range(count)]
    (path / "c.csv").write_text("Part,Land,Kreis,Gem,size\n" + "\n".join(lines) + "\n")
    (path / "g.hrc").write_text(HIERARCHY)
    return path


def plan(folder, *geographies, **more):
    tables = [
        {"name": f"t{place}", "dimensions": {"geo": own, "size": {"column": "size"}}}
        for place, own in enumerate(geographies)
    ]
    rules = {
        "primary": [{"rule": "frequency", "min": 3}],
        "table": {"microdata": "c.csv", "value": "count", "group_disclosure": False},
    }
    return read_table_plan({"version": 1, **rules, "method": "fast", "tables": tables, **more}, folder)


def unit(dimension, row):
    """The finest code of a row that is not a total."""
    codes = [row[name] for name in dimension.get("levels", [dimension.get("column")])]
    return next((code for code in reversed(codes) if code != "Total"), "Total")


def told(done, geographies):
    """What tables together tell of g1 by s: the rank of what is published, with and without it."""
    records = sorted(COUNTS)
    rows = []
    for table, dimension in zip(done.tables.values(), geographies, strict=True):
        columns = table.columns
        for place in range(len(columns)):
            row = {name: columns.text(name)[place] for name in columns.texts}
            if row["count_published"].isdigit():
                code = unit(dimension, row)
                rows.append([
                    (code == "Total" or code in record.split(",")) and row["size"] in ("Total", record[-1])
                    for record in records
                ])  # fmt: skip
    matrix = np.array(rows, float)
    own = np.array([["g1,s" in record for record in records]], float)
    return np.linalg.matrix_rank(np.vstack([matrix, own])) == np.linalg.matrix_rank(matrix)


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("before", [False, True])
def test_nothing_is_told_by_two_spellings_of_the_same_geography(tmp_path, name, before):
    folder = folder_of(tmp_path, COUNTS)
    geographies = SPELLINGS[name]
    if not before:
        done = protect(None, plan(folder, *geographies))
        assert not told(done, geographies)
        return
    first = protect(None, plan(folder, geographies[0]))
    first.save(folder / "before")
    second = protect(None, plan(folder, geographies[1], previous=["before"]))
    done = type(first)(first.joint, {"a": first.tables["t0"], "b": second.tables["t0"]})
    assert not told(done, geographies)


def test_a_wrong_record_ends_nothing(tmp_path):
    crossed, sheets = sheets_of(plan(folder_of(tmp_path, COUNTS | WRONG), GEM, KREIS))
    part, joint = joint_part(crossed, sheets)
    # Kreis 1 and Kreis 3 by t are one record off, and so are their totals, by the relations of their table.
    assert len(joint.inconsistent) == 2
    tied = with_inconsistent_records(part, joint.inconsistent).table
    assert tied.values[len(part.table) :].tolist() == [1.0] * 2
    assert np.abs(tied.constraints.residuals(tied.values)).max() == 0


def test_columns_without_anything_in_common_are_not_linked():
    rng = np.random.default_rng(1)
    codes = {name: tuple(rng.choice(list("abcd"), 200)) for name in "xyz"}
    codes["rare"] = tuple("r" if place < 3 else "n" for place in range(200))
    records = RecordCodes(codes, np.ones(200))
    assert determined_chains(records, [("x",), ("y",), ("z",), ("rare",), ("x", "y")]) == ()


def test_a_column_that_another_determines_without_exception_is_linked_however_few_could_be_off():
    """Two firms in each Kreis, all of one Land but for a single one: by chance not one record would be off."""
    kreise = [*(f"k{place // 2}" for place in range(12)), "k9"]
    records = RecordCodes({"kreis": tuple(kreise), "land": ("v",) * 12 + ("u",)}, np.ones(13))
    (chain,) = determined_chains(records, [("kreis",), ("land",)])
    assert set(chain.columns) == {"kreis", "land"}
    assert not chain.inconsistent


def test_a_column_with_one_record_a_code_tells_nothing():
    records = RecordCodes({"id": tuple(map(str, range(50))), "sex": ("m", "w") * 25}, np.ones(50))
    assert determined_chains(records, [("id",), ("sex",)]) == ()


def test_codes_that_are_unique_in_a_unit_only_determine_by_all_levels():
    rows = [("N", "1", "x"), ("N", "2", "y"), ("S", "1", "y"), ("S", "2", "z")]
    land, number, kreis = (tuple(column) for column in zip(*rows, strict=True))
    records = RecordCodes({"Land": land, "number": number, "Kreis": kreis}, np.full(4, 9.0))
    (chain,) = determined_chains(records, [("Land", "number"), ("Kreis",)])
    assert set(chain.columns) == {"Kreis", "Land", "number"}
    assert not chain.inconsistent


def test_a_unit_that_is_mostly_one_of_its_parts_does_not_determine_it():
    """Kreis 1 has a large and a small Gemeinde, the others one each: no record is wrong."""
    gem = ["a"] * 96 + ["b"] * 4 + ["c"] * 100 + ["d"] * 100
    codes = {"gem": gem, "kreis": [{"a": "1", "b": "1", "c": "2", "d": "3"}[code] for code in gem]}
    chains = determined_chains(RecordCodes(codes, np.ones(300)), [("gem",), ("kreis",)])
    assert [chain.inconsistent for chain in chains] == [frozenset()]


def test_a_hierarchy_lies_beside_a_plan_that_is_called_from_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    folder_of(tmp_path / "in", COUNTS)
    monkeypatch.chdir(tmp_path)
    assert protect(None, plan(Path("in"), TREE)).tables


# Of each Gemeinde, which is in no table, the Kreis and the Region: 1 and 2 are p and q, 3 and 4 are r and u.
UNITS = [("1", "p"), ("1", "q"), ("2", "p"), ("2", "q"), ("3", "r"), ("3", "u"), ("4", "r"), ("4", "u")]


def region_plan(folder, tables):
    lines = [
        f"{kreis},{region},{size}"
        for place, (kreis, region) in enumerate(UNITS)
        for size in "st"
        for _ in range(1 if (kreis, size) == ("1", "s") else 5 + place % 3)
    ]
    (folder / "c.csv").write_text("Kreis,Region,size\n" + "\n".join(lines) + "\n")
    named = [{"name": " ".join(own), "dimensions": {name: {"column": name} for name in own}} for own in tables]
    table = {"microdata": "c.csv", "value": "count", "group_disclosure": False}
    rules = {"primary": [{"rule": "frequency", "min": 3}], "method": "fast"}
    return read_table_plan({"version": 1, "table": table, **rules, "tables": named}, folder)


def test_units_of_a_third_column_do_not_tell_each_other(tmp_path):
    done = protect(None, region_plan(tmp_path, [("Kreis", "size"), ("Region", "size")]))
    masked = set()
    for own in done.tables.values():
        codes = [own.columns.text(name) for name in own.columns.texts if name in ("Kreis", "Region", "size")]
        shown = own.columns.text("count_published")
        masked |= {cell for cell, text in zip(zip(*codes, strict=True), shown, strict=True) if not text.isdigit()}
    assert ("1", "s") in masked
    # 1 + 2 is p + q.
    assert masked & {("2", "s"), ("p", "s"), ("q", "s")}


def test_a_table_that_crosses_both_is_attacked_by_the_cross(tmp_path):
    plan = region_plan(tmp_path, [("Kreis", "size"), ("Region", "size"), ("Kreis", "Region")])
    assert all(not sheet.chains for sheet in sheets_of(plan)[1])


def published(table):
    columns = table.columns
    codes = zip(*(columns.text(name) for name in columns.texts if name in ("Kreis", "Gem", "size")), strict=True)
    return dict(zip(codes, columns.text("count_published"), strict=True))


def test_a_wrong_record_that_is_alone_in_its_cells_is_masked_as_others_are(tmp_path):
    done = protect(None, plan(folder_of(tmp_path, COUNTS | {"A,N,1,g5,u": 1}), GEM, KREIS))
    gem, kreis = map(published, done.tables.values())
    assert not gem["g5", "u"].isdigit()
    assert not kreis["1", "u"].isdigit()
    assert not gem["Total", "u"].isdigit()


def test_who_takes_all_records_for_right_computes_nothing_where_they_are(tmp_path):
    """The wrong record is of t: by s the Kreis is the sum of its Gemeinden, as readers think."""
    done = protect(None, plan(folder_of(tmp_path, COUNTS | WRONG), GEM, KREIS))
    assert not told(done, (GEM, KREIS))
    assert not audit(done).leaks


def test_columns_that_a_third_determines_need_not_determine_each_other():
    """The Gemeinden of Kreis 1 are of two types: nearly every Kreis tells the type, and no record is wrong."""
    gem = ["a"] * 50 + ["b"] * 2 + ["c"] * 100 + ["d"] * 100
    types = {"a": "town", "b": "village", "c": "town", "d": "village"}
    codes = {
        "gem": gem,
        "kreis": [{"a": "1", "b": "1", "c": "2", "d": "3"}[code] for code in gem],
        "type": [types[code] for code in gem],
    }
    chains = determined_chains(RecordCodes(codes, np.ones(252)), [("gem",), ("kreis",), ("type",)])
    assert [chain.inconsistent for chain in chains] == [frozenset()]


# Kreis, Region and type of each Gemeinde. Kreis 2 is Regionen p and q without type Y: no two of these columns tell it.
GEMEINDEN = {"a": "2pX", "b": "2qX", "c": "3pY", "d": "4qY", "e": "3rX", "f": "4rX"}
GEOGRAPHY = ("Gem", "Kreis", "Region", "Type")


def geography(folder):
    counts = {
        (gem, *own, size): 1 if own[0] == "2" and size == "s" else 7 + place
        for place, (gem, own) in enumerate(GEMEINDEN.items())
        for size in "st"
    }
    lines = [",".join((*cell, "AB"[own % 2])) for cell, count in counts.items() for own in range(count)]
    (folder / "c.csv").write_text("\n".join([",".join((*GEOGRAPHY, "size", "branch")), *lines]) + "\n")
    tables = [("Gem", "branch"), *((name, "size") for name in GEOGRAPHY[1:])]
    named = [{"name": own[0], "dimensions": {name: {"column": name} for name in own}} for own in tables]
    plain = {
        "table": {"microdata": "c.csv", "value": "count", "group_disclosure": False},
        "primary": [{"rule": "frequency", "min": 3}],
    }
    return counts, read_table_plan({"version": 1, **plain, "method": "fast", "tables": named}, folder)


def test_three_tables_do_not_tell_together_what_no_two_of_them_tell(tmp_path):
    counts, plan = geography(tmp_path)
    done = protect(None, plan)
    assert not done.report["warnings"]
    rows = []
    for name in GEOGRAPHY[1:]:
        columns, place = done.tables[name].columns, GEOGRAPHY.index(name)
        for unit, size, shown in zip(*map(columns.text, (name, "size", "count_published")), strict=True):
            if shown.isdigit():
                rows.append([unit in ("Total", cell[place]) and size in ("Total", cell[4]) for cell in counts])
    matrix, own = np.array(rows, float), np.array([[cell[1] == "2" and cell[4] == "s" for cell in counts]], float)
    assert np.linalg.matrix_rank(np.vstack([matrix, own])) > np.linalg.matrix_rank(matrix)


def test_a_cross_that_is_too_large_to_be_attacked_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(implicit_cells, "MOST_CROSSED", 5)
    _, plan = geography(tmp_path)
    done = protect(None, plan)
    said = "the cross of gem/kreis/region/type by size, which no table shows"
    assert any(said in warning for warning in done.report["warnings"])
    assert said in summary(done.report)
    done.save(tmp_path / "out")
    files = [tmp_path / "out" / name / "table-external.csv" for name in done.tables]
    review = audit(files, plan)
    assert any(said in what for what in review.not_audited)
