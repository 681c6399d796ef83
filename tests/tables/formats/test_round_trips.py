"""Office files: what is written is read back as the same table, for small tables and for the instances."""

import csv

import numpy as np
import pytest

import sfumato as sf
from office_tables import are_same, read_instance
from refusals import coded
from sfumato.errors import DataError
from sfumato.tables.argus.office_table import ArgusTable
from sfumato.tables.cells.dimensions import CodeTree, file_tree
from sfumato.tables.formats.apriori_file import apply_apriori, apriori_text
from sfumato.tables.formats.cells_file import read_cells, read_labels, written_cells
from sfumato.tables.formats.delimited_cells import read_sdmx, sdmx_text
from sfumato.tables.formats.hierarchy_files import (
    digits_tree,
    frame_rows,
    hrc_text,
    json_text,
    parse_hrc,
    read_hrc,
    read_recoding,
    tree_of_json,
    tree_of_rows,
)
from sfumato.tables.formats.metadata import metadata_text, parse_metadata, read_metadata
from sfumato.tables.formats.px import px_text, read_px
from sfumato.tables.formats.records_file import read_records, records_text
from sfumato.tables.formats.solver_file import jj_text, read_jj

REGION = CodeTree("region", ("Total",), {("N",): ("Total",), ("n 1",): ("N",), ("n2",): ("N",), ("S",): ("Total",)})
SEX = CodeTree("sex", ("Total",), {("m",): ("Total",), ("w",): ("Total",)})


@pytest.fixture
def table():
    inner = {
        ("n 1", "m"): 1.5,
        ("n 1", "w"): 4.25,
        ("n2", "m"): 0.0,
        ("n2", "w"): 7.0,
        ("S", "m"): 3.0,
        ("S", "w"): 9.0,
    }
    keys, values = [], []
    for region, below in {
        "Total": ("n 1", "n2", "S"),
        "N": ("n 1", "n2"),
        "n 1": ("n 1",),
        "n2": ("n2",),
        "S": ("S",),
    }.items():
        for sex, own in {"Total": ("m", "w"), "m": ("m",), "w": ("w",)}.items():
            keys.append(((region,), (sex,)))
            values.append(sum(inner[one, other] for one in below for other in own))
    statuses = np.array([1, 1, 1, 1, 11, 1, 2, 5, 11, 3, 14, 13, 10, 9, 12])
    return ArgusTable(
        "turnover",
        (REGION, SEX),
        tuple(keys),
        np.array(values),
        statuses,
        frequency=np.arange(15.0),
        largest=(np.array(values) / 2, np.array(values) / 4),
        lower=np.where(statuses == 3, 1.0, 0.0),
        upper=np.where(statuses == 3, 2.0, 0.0),
        costs=np.array(values) + 1,
        labels={"sex": {"m": "male", "w": "female"}},
        decimals=2,
    )


def write(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def test_cells_with_metadata_and_hierarchies(table, tmp_path):
    write(tmp_path, written_cells(table, "t"))
    again = read_cells(tmp_path / "t.tab", read_metadata(tmp_path / "t.rda"))
    assert are_same(again, table)
    assert again.value == "turnover" and again.decimals == 2
    for name in ("frequency", "lower", "upper", "costs"):
        assert np.array_equal(getattr(again, name), getattr(table, name))
    assert np.array_equal(again.largest[1], table.largest[1])


def test_solver_files(table, tmp_path):
    (tmp_path / "t.jj").write_text(jj_text(table))
    again = read_jj(tmp_path / "t.jj")
    assert np.array_equal(again.values, table.values)
    assert np.array_equal(again.relations().matrix(15).toarray(), table.relations().matrix(15).toarray())
    assert np.array_equal(again.lower, table.lower) and np.array_equal(again.costs, table.costs)
    assert jj_text(again) == jj_text(table)


def test_px(table, tmp_path):
    (tmp_path / "house.px").write_text(px_text(table, masked=False, statuses=True))
    again = read_px(tmp_path / "house.px")
    assert are_same(again, table)
    assert again.labels["sex"]["w"] == "female"
    (tmp_path / "out.px").write_text(px_text(table))
    published = read_px(tmp_path / "out.px")
    assert np.isnan(published.values).sum() == 6
    assert "status" not in (tmp_path / "out.px").read_text()


def test_sdmx(table, tmp_path):
    (tmp_path / "house.csv").write_text(sdmx_text(table, house=True))
    assert are_same(read_sdmx(tmp_path / "house.csv", (REGION, SEX)), table)
    (tmp_path / "out.csv").write_text(sdmx_text(table))
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["CONF_STATUS"] for row in rows] == list("FFFFDFFADGFFFMD")
    assert all((row["OBS_STATUS"] == "Q") == (row["OBS_VALUE"] == "") == (row["CONF_STATUS"] != "F") for row in rows)
    assert np.isnan(read_sdmx(tmp_path / "out.csv", (REGION, SEX)).values).sum() == 6


def test_hierarchies():
    text = hrc_text(REGION)
    assert text == "N\n@n 1\n@n2\nS\n"
    assert parse_hrc(text.splitlines(), "r.hrc", "region", "Total").parents == REGION.parents
    assert parse_hrc(["A", "..b"], "r.hrc", "r", "T", "..").parents == {("A",): ("T",), ("b",): ("A",)}
    assert tree_of_rows(frame_rows(REGION), "region").parents == REGION.parents
    assert tree_of_json(json_text(REGION), "region").parents == REGION.parents
    assert digits_tree("n", ["01101"], [2, 1, 2], "T").parents == {
        ("01",): ("T",),
        ("011",): ("01",),
        ("01101",): ("011",),
    }


def test_labels_and_recodings(tmp_path):
    labels = {"1": "North", "2": "South, and East"}
    (tmp_path / "a.cdl").write_text("1,North\n2,South, and East\n")
    assert read_labels(tmp_path / "a.cdl", {"1", "2"}) == labels
    (tmp_path / "a.grc").write_text("A: 1,2\nB: 3-5\nC: 8-\n")
    recoding = read_recoding(tmp_path / "a.grc", [str(code) for code in range(1, 11)])
    assert recoding.codes == {"1": "A", "2": "A", "3": "B", "4": "B", "5": "B", "8": "C", "9": "C", "10": "C"}
    (tmp_path / "c.grc").write_text("<TREERECODE>\nN\n")
    closed = read_recoding(tmp_path / "c.grc", ["N", "S", "n 1"])
    assert closed.of(REGION).parents == {("N",): ("Total",), ("S",): ("Total",)}


def test_the_pattern_goes_into_the_next_run(table, tmp_path):
    (tmp_path / "t.hst").write_text(apriori_text(table))
    fresh = table.with_columns(statuses=np.ones(15, int), lower=None, upper=None)
    again = apply_apriori(tmp_path / "t.hst", fresh, ",").table
    expected = np.where(np.isin(table.statuses, (3, 5, 9)), 9, np.where(np.isin(table.statuses, (11, 12)), 11, 1))
    assert again.statuses.tolist() == expected.tolist()
    assert np.array_equal(again.upper, table.upper)


def test_metadata_of_every_tag():
    text = """<SEPARATOR> ";"
<SAFE> "S"
Region 12 "99"
  <RECODABLE> <HIERARCHICAL>
  <HIERCODELIST> "region.hrc"
  <HIERLEADSTRING> "@"
  <CODELIST> "region.cdl"
  <DISTANCE> 2 4 4
  <TOTCODE> "Total"
  <TRUNCABLE>
Industry
  <RECODEABLE>
  <HIERLEVELS> 3 1 1 0 0
Var2
  <NUMERIC>
  <DECIMALS> 2
  <CKM> T(3)
  <INCLUDEZEROS> N
  <PARITY> N
  <SCALING> F(0.03,0.30)
  <SEPARATION> Y
w
  <WEIGHT>
h
  <HOLDING>
r
  <REQUEST> "1" "2"
k
  <RECORDKEY>
  <PFILE> "p.txt"
  <PFILE_FREQ> "p.txt"
  <PFILE_CONT> "c.txt"
  <PFILE_SEP> "s.txt"
c
  <NUMERIC> <COST>
"""
    metadata = parse_metadata(text.splitlines())
    assert metadata.find("region").has("RECODEABLE")
    assert metadata.find("c").has("COSTVAR")
    assert metadata.find("industry").options["HIERLEVELS"] == ("3", "1", "1", "0", "0")
    assert parse_metadata(metadata_text(metadata).splitlines()) != ()
    again = parse_metadata(metadata_text(metadata).splitlines())
    assert [(one.name, one.flags, one.options) for one in again.variables] == [
        (one.name, one.flags, one.options) for one in metadata.variables
    ]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "spanning"),
    [
        ("enterprise_act_product_test_1", ("act", "product")),
        ("enterprise_act_region_test_2b", ("act", "region")),
        ("counts_vignette168", ("V1", "V2", "V3")),
        ("rtauargus_turnover_nuts_cj", ("NUTS", "CJ")),
        ("tau_size_region", ("Size", "Region")),
    ],
)
def test_the_instances(shared, tmp_path, name, spanning):
    table = read_instance(shared / "tables" / name, spanning)
    write(tmp_path, written_cells(table, "t"))
    assert are_same(read_cells(tmp_path / "t.tab", read_metadata(tmp_path / "t.rda")), table)
    (tmp_path / "t.px").write_text(px_text(table, masked=False, statuses=True))
    assert are_same(read_px(tmp_path / "t.px"), table)
    (tmp_path / "t.csv").write_text(sdmx_text(table, house=True))
    assert are_same(read_sdmx(tmp_path / "t.csv", table.trees), table)
    plain = read_instance(shared / "tables" / name)
    (tmp_path / "t.jj").write_text(jj_text(plain))
    again = read_jj(tmp_path / "t.jj")
    assert are_same(again, plain)
    for column in ("values", "costs", "low", "high", "lower", "upper", "statuses"):
        assert np.array_equal(getattr(again, column), getattr(plain, column))


def test_codes_that_stand_twice_are_told_apart_or_refused(tmp_path):
    lines = ["1", "@11", "@@a", "@@b", "4", "@11", "@@c", "@9", "@@9"]
    tree = parse_hrc(lines, "r.hrc", "region", "T")
    assert tree.parents[("a",)] == ("1/11",) and tree.parents[("c",)] == ("4/11",) and tree.parents[("9",)] == ("4/9",)
    assert parse_hrc(hrc_text(tree).splitlines(), "again", "region", "T").parents == tree.parents
    with pytest.raises(DataError, check=coded("data.twice.the_code_stands_in_line_already 7:3")):
        parse_hrc([*lines[:6], "@@a"], "r.hrc", "region", "T")
    (tmp_path / "r.hrc").write_text("\n".join(lines))
    with pytest.raises(DataError) as caught:
        file_tree("region", tmp_path / "r.hrc", "T", ["a", "11"])
    assert caught.value.hint == "The hierarchy has it 2 times: write 1/11 or 4/11."


def test_negative_values_lie_within_the_bounds_of_their_file(tmp_path):
    keys = ((("Total",),), (("N",),), (("S",),))
    tree = CodeTree("region", ("Total",), {("N",): ("Total",), ("S",): ("Total",)})
    table = ArgusTable("v", (tree,), keys, np.array([-2.0, 3.0, -5.0]), np.array([1, 3, 11]))
    (tmp_path / "t.jj").write_text(jj_text(table))
    again = read_jj(tmp_path / "t.jj")
    assert again.values.tolist() == [-2, 3, -5] and again.low.tolist() == [-7.5] * 3
    assert again.statuses.tolist() == [1, 3, 3]


@pytest.mark.shared
def test_the_hierarchies_of_offices(shared):
    for path in sorted((shared / "tables" / "hrc").glob("*.hrc")):
        tree = read_hrc(path, "code", "Total")
        if path.name == "NUTS.hrc":  # two groups of municipalities have the same code
            assert {tree.parents[("013",)], tree.parents[("001",)]} == {("1/11",), ("2/11",)}
        assert parse_hrc(hrc_text(tree).splitlines(), "again", "code", "Total").parents == tree.parents


FREE = ['<SEPARATOR> ";"', "region 3", "<RECODEABLE>", "v", "<NUMERIC>"]
FIXED = ["region 2 3", "<RECODEABLE>", "v 7 4", "<NUMERIC>"]


@pytest.mark.parametrize(("tags", "text"), [(FREE, "n1;4.5\ns;12\n"), (FIXED, "  n1   4.5\n   s    12\n")])
def test_records_of_free_and_fixed_format(tmp_path, tags, text):
    (tmp_path / "r.asc").write_text(text)
    records = read_records(tmp_path / "r.asc", parse_metadata(tags, "r.rda"))
    assert (records.text("region"), records.text("v")) == (("n1", "s"), ("4.5", "12"))
    assert records_text(records.columns, records.metadata) == text


FREE_FAULTS = {
    "another number of fields": ("n1;4.5;7", "data.length.record 2:1"),
    "too long": ("n1234;4", "data.length.field 2:1"),
}


@pytest.mark.parametrize(("line", "said"), FREE_FAULTS.values(), ids=FREE_FAULTS)
def test_records_of_free_format_that_do_not_fit(tmp_path, line, said):
    (tmp_path / "r.asc").write_text(f"n1;4.5\n{line}\n")
    with pytest.raises(DataError, check=coded(said)):
        read_records(tmp_path / "r.asc", parse_metadata(FREE, "r.rda"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_files_of_any_program_are_read_in_their_encoding(table, encoding, tmp_path):
    own = table.with_columns(labels={"sex": {"m": "männlich", "w": "weiblich"}})
    (tmp_path / "t.px").write_text(px_text(own, masked=False, statuses=True), encoding=encoding)
    assert read_px(tmp_path / "t.px").labels["sex"]["m"] == "männlich"
    lines = ["region\tn", "Total\t3000", "ä\t*", "b\t*", "c\t2995"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding=encoding)
    rule = {"primary": [{"rule": "frequency", "min": 3}]}
    plan = {"version": 1, "table": {"value": "n"}, "dimensions": {"region": {"column": "region"}}, **rule}
    assert [one.name for one in sf.audit(tmp_path / "t.csv", plan).findings] == ["region ä", "region b"]
