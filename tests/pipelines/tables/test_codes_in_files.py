"""Codes and totals in files of offices: signs that need quotes come back, those that no file holds are refused."""

import csv

import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import DataError, PlanError
from sfumato.tables.formats.metadata import parse_metadata
from sfumato.tables.plan.table_plan import read_table_plan

PLAN = """
version: 1
table: {source: SOURCE, value: v, frequency: f}
dimensions: {a: {column: a, hierarchy: a.hrc, total: T}, b b: {column: b b, total: T}}
primary: [{rule: frequency, min: 3}]
method: {name: optimal}
output: {files: [FILES]}
"""
ALL = "px, sdmx, xlsx, pivot, code-value, sbs, jj, hst, tab"


def released(folder, codes, files):
    with (folder / "t.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["a", "b b", "v", "f"])
        for a, members in {"T": 3, "Ä": 2, "Ä1": 1, "Ä2": 1, "B": 1}.items():
            for b, factor in {"T": 6, **dict(zip(codes, (1, 2, 3), strict=True))}.items():
                few = a != "B" and b == codes[0]
                rows.writerow([a, b, members * factor * 10.5, members * factor if few else members * factor * 3])
    (folder / "a.hrc").write_text("Ä\n@Ä1\n@Ä2\nB\n", encoding="utf-8")
    (folder / "p.yaml").write_text(PLAN.replace("SOURCE", "t.csv").replace("FILES", files))
    done = sf.protect(plan=folder / "p.yaml")
    done.save(folder / "out" / files[:3])
    return done


def test_signs_that_separate_fields_come_back(tmp_path):
    done = released(tmp_path, ["x y", "ö;z", "w=q,DATA="], ALL)
    masked = int((done.data["v_published"] == "*").sum())
    plan = read_table_plan(tmp_path / "p.yaml")
    for file in [
        *("table.px", "table-sdmx.csv", "table-pivot.csv", "internal/table.tab"),
        *("internal/table-code-value.txt", "internal/table-sbs.txt"),
    ]:
        # Of suppressed cells an SBS file shows how many respondents they have.
        audit = sf.audit(tmp_path / "out" / ALL[:3] / file, plan, harmless=["Freq"] if "sbs" in file else [])
        assert audit.passed and len(audit.findings) == masked > 0, file


def test_quotes_are_doubled_where_that_is_defined_and_refused_elsewhere(tmp_path):
    codes = ["x y", 'ö;"z', 'w"q']
    released(tmp_path, codes, "sdmx, xlsx, pivot, code-value, sbs")
    for file in ("table-sdmx.csv", "table-pivot.csv", "internal/table-code-value.txt", "internal/table-sbs.txt"):
        harmless = ["Freq"] if "sbs" in file else []
        assert sf.audit(tmp_path / "out" / "sdm" / file, tmp_path / "p.yaml", harmless=harmless).passed
    for kind in ("px", "tab", "hst"):
        with pytest.raises(PlanError, check=coded("plan.unwritable.a_name_or_code_has_a_quote")):
            released(tmp_path, codes, kind)


def test_metadata_name_totals_where_the_plan_does_not(tmp_path):
    (tmp_path / "c.tab").write_text("T;60;19\nx;20;1\ny;40;9\nz;0;9\n")
    (tmp_path / "c.rda").write_text(
        '<SEPARATOR> ";"\na 1\n<RECODEABLE>\n<TOTCODE> "T"\nv 6\n<NUMERIC>\nf 6\n<FREQUENCY>\n'
    )
    plan = {
        "version": 1,
        "table": {"source": "c.tab", "value": "v", "frequency": "f"},
        "dimensions": {"a": {"column": "a"}},
        "primary": [{"rule": "frequency", "min": 3}],
    }
    made = read_table_plan(plan, tmp_path)
    done = sf.protect(plan=made)
    done.save(tmp_path / "out")
    assert read_table_plan(tmp_path / "out" / "plan.yaml").dimensions["a"].total == "T"
    assert sf.audit(tmp_path / "c.tab", made).findings[0].published
    with pytest.raises(DataError) as caught:
        other = {**plan, "dimensions": {"a": {"column": "a", "total": "all"}}}
        sf.protect(plan=read_table_plan(other, tmp_path))
    assert '"all"' in caught.value.hint


@pytest.mark.parametrize(
    "line", ["<NUMERIC> more", '<TOTCODE> "T" "U"', "<DECIMALS> 1 2", "<HIERCODELIST> my codes.hrc", '<SAFE> "s" "t"']
)
def test_more_than_belongs_behind_a_tag_is_refused(line):
    with pytest.raises(DataError, match="line 2, column 3"):
        parse_metadata(["a 1", "  " + line])
