"""Which columns of records determine others, alone or together, and what follows for their tables."""

import random
from pathlib import Path

import numpy as np
import pytest

from refusals import codes_of
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
from surveys import HIERARCHIES, SURVEYS

GEM = {"a": ("1", "town"), "b": ("1", "village"), "c": ("2", "town"), "d": ("3", "village")}
UNITS = [("N", "1", "x"), ("N", "2", "y"), ("S", "1", "y"), ("S", "2", "z")]


def of_rows(names, rows, counts=1.0):
    columns = {name: tuple(column) for name, column in zip(names.split(), zip(*rows, strict=True), strict=True)}
    return RecordCodes(columns, np.full(len(rows), counts))


def unrelated(seed, several):
    """Columns at random; two of many codes nearly name a record."""
    rng = np.random.default_rng(seed)
    codes = {name: tuple(map(str, rng.integers(0, many, 300))) for name, many in several.items()}
    return RecordCodes(codes, np.ones(300))


RARE = RecordCodes({"x": tuple("abcd" * 50), "rare": ("r",) * 3 + ("n",) * 197}, np.ones(200))
# Records, the columns of each dimension, those that tables cross, and the columns of each chain that is found.
CHAINS = {
    "nothing in common": (unrelated(1, dict.fromkeys("xyz", 4)), "x y z x,y", "", []),
    "a rare code": (RARE, "x rare", "", []),
    # Two firms in each Kreis, all of one Land but for a single one: by chance not one record would be off.
    "no exception, however few could be": (
        of_rows("kreis land", [*((f"k{place // 2}", "v") for place in range(12)), ("k9", "u")]),
        "kreis land",
        "",
        ["kreis land"],
    ),
    "one record a code": (of_rows("id sex", [(str(place), "mw"[place % 2]) for place in range(50)]), "id sex", "", []),
    "codes that are unique in a unit only": (
        of_rows("Land number Kreis", UNITS, 9.0),
        "Land,number Kreis",
        "",
        ["Kreis Land number"],
    ),
    # Kreis 1 has a large and a small Gemeinde, the others one each: no record is wrong.
    "a unit that is mostly one of its parts": (
        of_rows("gem kreis", [(gem, GEM[gem][0]) for gem in "a" * 96 + "b" * 4 + "c" * 100 + "d" * 100]),
        "gem kreis",
        "",
        ["gem kreis"],
    ),
    # The Gemeinden of Kreis 1 are of two types: nearly every Kreis tells the type, and no record is wrong.
    "columns that a third determines": (
        of_rows("gem kreis type", [(gem, *GEM[gem]) for gem in "a" * 50 + "b" * 2 + "c" * 100 + "d" * 100]),
        "gem kreis type",
        "",
        ["gem kreis type"],
    ),
    **{
        f"columns that nearly name a record {seed}": (
            unrelated(seed, {"a": 15, "b": 15, "c": 3, "d": 10}),
            "a b c d",
            "abd",
            [],
        )
        for seed in range(5)
    },
}


@pytest.mark.parametrize("case", CHAINS)
def test_columns_are_linked_where_one_determines_another(case):
    records, dimensions, crossed, found = CHAINS[case]
    tables = [frozenset(crossed)] if crossed else []
    chains = determined_chains(records, [tuple(own.split(",")) for own in dimensions.split()], tables=tables)
    assert [" ".join(sorted(chain.columns)) for chain in chains] == found
    assert not any(chain.inconsistent for chain in chains)


def plan(folder, survey, *tables, **more):
    """The plan of tables of a survey, whose records are written: those of `surveys`, or names and records."""
    names, counts = SURVEYS[survey] if isinstance(survey, str) else survey
    lines = [record for record, count in counts.items() for _ in range(count)]
    (folder / "c.csv").write_text("\n".join([",".join(names.split()), *lines]) + "\n")
    (folder / "gem.hrc").write_text(HIERARCHIES["gem"])
    named = [
        {
            "name": table.replace(" ", "_").replace("*", ""),
            "dimensions": {
                name: {"column": name.rstrip("*")} | ({"hierarchy": "gem.hrc"} if "*" in name else {})
                for name in table.split()
            },
        }
        for table in tables
    ]
    table = {"microdata": "c.csv", "value": "count", "group_disclosure": False}
    rules = {"primary": [{"rule": "frequency", "min": 3}], "method": "fast"}
    return read_table_plan({"version": 1, "table": table, **rules, "tables": named, **more}, folder)


def test_a_wrong_record_is_a_residual_of_the_sums_that_it_violates(tmp_path):
    part, joint = joint_part(*sheets_of(plan(tmp_path, "parts, one wrong", "gem size", "kreis size")))
    # Kreis 1 and Kreis 3 by t are one record off, and so are their totals, by the relations of their table.
    assert len(joint.inconsistent) == 2
    tied = with_inconsistent_records(part, joint.inconsistent).table
    assert tied.values[len(part.table) :].tolist() == [1.0] * 2
    assert np.abs(tied.constraints.residuals(tied.values)).max() == 0


def test_a_wrong_record_does_not_hide_what_two_columns_determine(tmp_path):
    names, counts = SURVEYS["numbered"]
    own = plan(tmp_path, (names, counts | {"W,3,y,t": 1}), "land kreis size", "typ size")
    (chain,) = sheets_of(own)[1][0].chains
    assert chain.columns == ("kreis", "land", "typ")
    assert chain.inconsistent == {("3", "W", "y")}


def test_a_hierarchy_lies_in_the_folder_of_a_plan_that_is_called_from_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path)
    assert protect(None, plan(Path("in"), "parts", "gem* size")).tables


def test_a_table_that_crosses_both_columns_shows_their_relation_itself(tmp_path):
    crossed = plan(tmp_path, "regions", "kreis size", "region size", "kreis region")
    assert all(not sheet.chains for sheet in sheets_of(crossed)[1])


def test_combinations_of_codes_are_linked_with_what_they_lie_in(tmp_path):
    draw = random.Random(5)
    records = [
        f"{part},{size},{'q' if (part, size) == ('w', 's') else draw.choice('pqr')},{draw.choice('ABCD')}"
        for part in "ew"
        for size in "stu"
        for _ in range(40)
    ]
    counts = {record: records.count(record) for record in records}
    own = plan(tmp_path, ("part size risk n", counts), "part size n", "risk n")
    assert [set(chain.columns) for chain in sheets_of(own)[1][0].chains] == [{"part", "size", "risk"}]


@pytest.mark.parametrize("seed", range(5))
def test_unrelated_columns_are_not_linked(tmp_path, seed):
    draw = random.Random(seed)
    codes = ("abcdefgh", "stu", "mf", "123456789")
    records = [",".join(map(draw.choice, codes)) for _ in range(draw.choice([30, 200, 1500]))]
    counts = {record: records.count(record) for record in records}
    own = plan(tmp_path, ("region size sex age", counts), "region size", "sex age")
    assert not sheets_of(own)[1][0].chains


def test_a_cross_that_is_too_large_to_be_attacked_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(implicit_cells, "MOST_CROSSED", 5)
    own = plan(tmp_path, "three", "gem branch", "kreis size", "region size", "typ size")
    done = protect(None, own)
    names = "gem/kreis/region/typ by size"
    (warning,) = [one for one in done.report["warnings"] if "note.cross_left_out" in codes_of(one)]
    assert warning in summary(done.report) and names in warning
    done.save(tmp_path / "out")
    files = [tmp_path / "out" / name / "table-external.csv" for name in done.tables]
    codes = [(what.code, what.values["names"]) for what in audit(files, own).not_audited]
    assert ("note.cross_left_out", names) in codes
