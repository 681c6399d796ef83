"""No file that people open holds a cell that a spreadsheet would compute, and all of them are read back."""

import csv
import re

import pytest

import sfumato as sf
from sfumato.delimited.records import delimited_text, plain_cell, quoted_cell
from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.protect import protect, run_plan
from sfumato.tables.plan.table_plan import read_table_plan

LINK = '=HYPERLINK("https://evil.example","click")'
CODES = (LINK, "-1+1", "@sum", "＝1", "'=x", "south")
COMPUTED = re.compile(r"[=+\-@\t\r＝＋－＠]")
PLAN = {
    "version": 1,
    "table": {"value": "n"},
    "dimensions": {"area": {"column": "area"}, "sex": {"column": "sex"}},
    "primary": [{"rule": "range", "min": 1, "max": 3}],
}


def computed(path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as stream:
        cells = [cell for line in csv.reader(stream) for cell in line]
    return [cell for cell in cells if COMPUTED.match(cell) and not re.fullmatch(r"[+-]?[\d.,]+|[+-]", cell)]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table whose codes are formulas, protected and saved."""
    folder = tmp_path_factory.mktemp("formulas")
    counts = {code: (2 + place, 9 + 3 * place) for place, code in enumerate(CODES)}
    rows = [(code, sex, n) for code, pair in counts.items() for sex, n in zip("fm", pair, strict=True)]
    rows += [(code, "Total", sum(pair)) for code, pair in counts.items()]
    rows += [("Total", sex, sum(n for _, own, n in rows if own == sex)) for sex in ("f", "m", "Total")]
    with (folder / "cells.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("area", "sex", "n"), *rows])
    protect(folder / "cells.csv", PLAN).save(folder / "out")
    return folder / "out"


def test_every_file_of_a_table_is_quoted(table) -> None:
    files = sorted(table.glob("*.csv"))
    assert {file.name for file in files} == {"published.csv", "table.csv", "table-external.csv"}
    for file in files:
        assert computed(file) == [], file.name
        assert "'=HYPERLINK" in file.read_text(encoding="utf-8")


def test_the_audit_reads_the_codes_back(table) -> None:
    for name in ("table-external.csv", "published.csv"):
        found = audit(table / name, table / "plan.yaml")
        assert found.passed, name


def test_a_later_table_reads_the_codes_of_an_earlier_one(table) -> None:
    again = {**PLAN, "table": {"value": "n", "source": "cells.csv"}, "previous": ["out"]}
    assert run_plan(read_table_plan(again, table.parent)).passed


@pytest.mark.parametrize(
    "text", [*CODES, "-5", "+1.5e3", "-1,234.5", "-1.234.567", "-", "", "'", "''=x", " =x", "\t=x"]
)
def test_what_was_quoted_is_had_back_and_nothing_else_is_changed(text) -> None:
    assert plain_cell(quoted_cell(text)) == text
    assert (quoted_cell(text) == text) == (
        not re.match(r"'*[=+\-@\t＝]", text) or bool(re.fullmatch(r"[+-]?[\d.,e]*", text))
    )


def test_programs_get_cells_as_they_are() -> None:
    assert delimited_text([[LINK]], formulas="keep") != delimited_text([[LINK]])


def test_several_files_are_quoted_where_the_plan_asks_for_it(tmp_path) -> None:
    people = "".join(f"{number},=1+1\n" for number in range(6))
    (tmp_path / "people.csv").write_text("id,town\n" + people, encoding="utf-8")
    (tmp_path / "visits.csv").write_text("id,ward\n" + "".join(f"{n % 6},@A\n" for n in range(12)), encoding="utf-8")
    plan = {
        "version": 1,
        "files": {
            "people": {"source": "people.csv", "key": "id"},
            "visits": {"source": "visits.csv", "parent": "people"},
        },
        "columns": {
            "town": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "ward": {"role": "insensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "output": {"formulas": "quote"},
    }
    sf.anonymize(None, sf.read_plan(plan, tmp_path)).save(tmp_path / "out")
    for name in ("people", "visits"):
        assert computed(tmp_path / "out" / f"{name}.csv") == []
    assert "'@A" in (tmp_path / "out" / "visits.csv").read_text(encoding="utf-8")
    assert sf.verify(tmp_path / "out").satisfied
