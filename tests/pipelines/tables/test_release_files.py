"""Releases in the files of offices: what they carry, and that audits read each by the plan beside it."""

from typing import get_args

import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import DataError, PlanError
from sfumato.pipelines.tables.table_source import columns_from
from sfumato.tables.plan.table_plan import OfficeFile, read_table_plan

DIMENSIONS = {name: {"column": name} for name in ("region", "sector")}
FIRMS = "\n".join(
    [
        "region,sector,turn",
        "n,a,10.1",
        "n,a,20.2",
        "n,b,700.7",
        "n,b,1.1",
        "n,b,2.2",
        "s,a,33.3",
        "s,a,34.4",
        "s,a,35.5",
    ]
    + [f"{region},{sector},{50 + 7 * place}.3" for region in "ns" for sector in "abc" for place in range(4)]
)


def saved(folder, plan):
    (folder / "firms.csv").write_text(FIRMS + "\n")
    done = sf.protect(plan=read_table_plan({"version": 1, "dimensions": DIMENSIONS, **plan}, folder))
    done.save(folder / "out")
    return done, folder / "out" / "table"


def test_files_of_a_microdata_plan_carry_levels_reasons_and_respondents(tmp_path):
    rules = [{"rule": "frequency", "min": 5}, {"rule": "p-percent", "p": 30}]
    files = {"files": ["hst", "tab", "jj", "sbs", "sdmx"]}
    plan = {"table": {"microdata": "firms.csv", "value": "turn"}, "primary": rules, "output": files}
    done, out = saved(tmp_path, plan)
    levels = dict(
        zip(done.joint.parts[0].part.table.names, done.joint.parts[0].part.table.protection_levels.upper, strict=True)
    )
    unsafe = {name: level for name, level in levels.items() if level > 0}
    assert len(unsafe) == 4
    written = [line.split(",") for line in (out / "internal" / "table.hst").read_text().splitlines()]
    told = {tuple(line[:2]): float(line[4]) for line in written if line[2] == "pl"}
    assert sorted(told.values()) == pytest.approx(sorted(unsafe.values()))
    cells = [line.split(";") for line in (out / "internal" / "table.tab").read_text().splitlines()]
    head = [
        line for line in (out / "internal" / "table.rda").read_text().splitlines() if not line.strip().startswith("<")
    ]
    upper = {tuple(line[:2]): float(line[head.index("UpperPL")]) for line in cells}
    assert {key: level for key, level in upper.items() if level} == pytest.approx(told)
    solver = [line.split() for line in (out / "internal" / "table.jj").read_text().splitlines()[2 : 2 + len(cells)]]
    assert sorted(float(line[7]) for line in solver if float(line[7])) == pytest.approx(sorted(unsafe.values()))
    assert not any(len(part) > 12 for line in [*written, *solver, *cells] for part in line)
    flags = {
        tuple(line[:2]): line[3:]
        for line in (text.split(";") for text in (out / "internal" / "table-sbs.txt").read_text().splitlines())
    }
    assert flags["s", "b"] == ["4", "A"] and flags["n", "b"] == ["7", "B"]
    sdmx = (out / "internal" / "table-sdmx.csv").read_text()
    assert "s,b,243.2,Q,A,5,4" in sdmx.replace("SFUMATO:TABLE(1.0),", "")
    handed_out = [line.split(",") for line in (out / "table-sdmx.csv").read_text().splitlines()[1:]]
    assert {line[-1] for line in handed_out} == {"F", "M"} and all(
        line[3] == "" for line in handed_out if line[-1] == "M"
    )


@pytest.mark.parametrize(
    "method", [{"name": "rounding", "base": 5}, {"name": "rounding", "base": 5, "kind": "small-count", "inner": False}]
)
def test_changed_tables_are_written_in_the_files_of_offices(method, tmp_path):
    files = ["px", "sdmx", "xlsx", "pivot", "code-value", "sbs"]
    plan = {"table": {"microdata": "firms.csv", "value": "count"}, "method": method, "output": {"files": files}}
    done, out = saved(tmp_path, plan)
    published = {(row[0], row[1]): row[2] for row in zip(*done.tables["table"].external.texts.values(), strict=True)}
    for name in ("table.px", "table-sdmx.csv", "table-pivot.csv"):
        value = {"table-sdmx.csv": "OBS_VALUE"}.get(name, "count")
        shape = read_table_plan(
            {
                "version": 1,
                "table": {"value": value},
                "method": {"name": "rounding", "base": 5},
                "dimensions": {"region": {"column": "region"}, "sector": {"column": "sector"}},
            }
        )
        columns = columns_from(out / name, shape, published=True)
        told = dict(
            zip(zip(columns.text("region"), columns.text("sector"), strict=True), columns.text(value), strict=True)
        )
        assert {key: text for key, text in told.items() if text not in ("*", "x")} == published, name
    for name in ("internal/table-code-value.txt", "internal/table-sbs.txt", "table.xlsx"):
        assert (out / name).stat().st_size


def test_a_file_of_changed_numbers_has_their_decimals_and_not_those_of_true_values(tmp_path):
    method = {"name": "rounding", "base": 5}
    plan = {"table": {"microdata": "firms.csv", "value": "turn"}, "method": method, "output": {"files": ["px", "sdmx"]}}
    done, out = saved(tmp_path, plan)
    published = [text for text in done.tables["table"].external.text("turn_published") if text]
    assert not any("." in text for text in published)
    assert "DECIMALS=0;" in (out / "table.px").read_text()


def test_files_of_masks_do_not_go_with_changed_numbers():
    plan = {
        "version": 1,
        "table": {"value": "n"},
        "dimensions": DIMENSIONS,
        "method": {"name": "rounding", "base": 5},
        "output": {"files": ["px", "hst", "jj"]},
    }
    with pytest.raises(PlanError, check=coded("value.cannot_be_written_where")):
        read_table_plan(plan)
    plan |= {"method": {"name": "cell-key"}, "output": {"files": ["sbs"]}}
    with pytest.raises(PlanError, check=coded("value.cannot_be_written_where")):
        read_table_plan(plan)


def test_audit_reads_every_file_of_a_release_by_the_plan_beside_it(tmp_path):
    rules = [{"rule": "frequency", "min": 5}, {"rule": "p-percent", "p": 30}]
    plan = {"table": {"microdata": "firms.csv", "value": "turn"}, "primary": rules}
    done, out = saved(tmp_path, plan | {"output": {"files": list(get_args(OfficeFile))}})
    masked = done.report["masked"]
    reports = {"report.html", "report-external.html", "report.json"}
    others = reports | {"internal/table.hst", "internal/table.rda", "plan.yaml", "internal"}
    names = {str(path.relative_to(out)) for path in out.rglob("*")} - others
    assert len(names) == 12
    for own in (out / "plan.yaml", read_table_plan({"version": 1, "dimensions": DIMENSIONS, **plan}, tmp_path)):
        for name in names:
            audit = sf.audit(out / name, own, harmless=["Freq"] if "sbs" in name else [])
            assert audit.passed and audit.checked == masked, name
    # Cells of few respondents that are published after all are seen.
    leak = (out / "internal" / "table.tab").read_text().replace(";5\n", ";1\n")
    (out / "internal" / "table.tab").write_text(leak)
    assert not sf.audit(out / "internal" / "table.tab", out / "plan.yaml").passed
    with pytest.raises(PlanError, check=coded("plan.no-table")):
        sf.audit(out / "internal" / "table.hst", out / "plan.yaml")


def test_audit_reads_the_metadata_beside_a_file_and_codes_that_are_names_of_columns(tmp_path):
    """The plan's own metadata are those of its source, not of what was written with other columns."""
    cells = ["T;T;60;12", "T;sector;30;6", "T;b;30;6", "n;T;30;6", "n;sector;12;2", "n;b;18;4"]
    cells += ["s;T;30;6", "s;sector;18;4", "s;b;12;2"]
    (tmp_path / "cells.tab").write_text("\n".join(cells) + "\n")
    total = ' <RECODEABLE>\n <TOTCODE> "T"\n'
    variables = f"region\n{total}sector\n{total}turn\n <NUMERIC>\nfreq\n <FREQUENCY>\n"
    (tmp_path / "cells.rda").write_text('<SEPARATOR> ";"\n' + variables)
    table = {"source": "cells.tab", "metadata": "cells.rda", "value": "turn", "frequency": "freq"}
    dimensions = {name: {"column": name, "total": "T"} for name in DIMENSIONS}
    rules, output = [{"rule": "frequency", "min": 3}], {"files": ["tab", "xlsx"]}
    plan = {"version": 1, "table": table, "dimensions": dimensions, "primary": rules, "output": output}
    own = read_table_plan(plan, tmp_path)
    done = sf.protect(plan=own)
    done.save(tmp_path / "out")
    for name in ("internal/table.tab", "table.xlsx"):
        for known in (own, tmp_path / "out" / "plan.yaml"):
            audit = sf.audit(tmp_path / "out" / name, known)
            assert audit.passed and audit.checked == done.report["masked"], name


def test_unknown_flags_of_sdmx_are_refused_with_their_place(tmp_path):
    rules = [{"rule": "frequency", "min": 5}]
    plan = {"table": {"microdata": "firms.csv", "value": "turn"}, "primary": rules, "output": {"files": ["sdmx"]}}
    _, out = saved(tmp_path, plan)
    text = (out / "table-sdmx.csv").read_text()
    for old, new, where in (
        (",A,F\n", ",A,Y\n", "line 2, column 6: this is no flag of confidentiality"),
        (",A,F\n", ",?,F\n", "line 2, column 5: this is no status of an observation"),
    ):
        (tmp_path / "t.csv").write_text(text.replace(old, new, 1))
        with pytest.raises(DataError, match=where):
            sf.audit(tmp_path / "t.csv", out / "plan.yaml")
