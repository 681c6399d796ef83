"""Tables of different responses of the same records: where one shows that there is nothing, all have nothing."""

import json

import pytest

from batch_files import OPEN, published, specified, write_records, writes
from batch_files import run as run_text
from refusals import coded
from sfumato.errors import DataError
from sfumato.pipelines.tables.audit import audit
from sfumato.pipelines.tables.batch.run import run_batch

# Of a only 1 is in p and q, and only 2 and 3 in r: what is in p is what is in 1 and not in q.
VALUES = {
    "a1p": (900, 5, 3), "a1q": (500, 510, 520), "a2r": (20, 21, 22), "a3r": (23, 24, 25),
    "b1p": (30, 31, 32), "b2q": (400, 410, 420), "b3r": (26, 27, 28),
    "c1r": (60, 61, 62), "c2p": (40, 41, 42), "c3q": (300, 310, 320),
}  # fmt: skip
SUMS = (('"x""y"|"v"', "P(10,1)"), ('"x""z"|"v"', "P(10,1)"))
COUNTS, OTHER_SUMS = ('"x""y""z"|"<freq>"', "FREQ(3,20)"), ('"x""y""z"|"w"', "FREQ(1,20)")


@pytest.fixture
def folder(tmp_path):
    rows = [(*key, value, 7 + place) for key, values in VALUES.items() for place, value in enumerate(values)]
    write_records(tmp_path, rows, "vw")
    return tmp_path


def run(folder, tables, way=None):
    numbers = range(1, len(tables) + 1)
    ways = [way] if way else [f"OPT({number},1)" for number in numbers]
    return run_text(folder, OPEN + specified(*tables), *(f"<SUPPRESS> {one}" for one in ways), writes(*numbers))


@pytest.mark.parametrize("third", [COUNTS, OTHER_SUMS])
def test_empty_cells_that_a_table_of_something_else_shows_are_known_to_the_attacker(folder, third):
    assert run(folder, SUMS).passed
    leaky = run(folder, (*SUMS, third))
    assert not leaky.passed
    assert (
        "together they disclose 1 sensitive cell that" in leaky.warnings[0] and ": x a, z p. 3.csv" in leaky.warnings[0]
    )


@pytest.mark.parametrize("way", ["MOD(0)", "GH(0)"])
@pytest.mark.parametrize("third", [COUNTS, OTHER_SUMS])
def test_tables_of_different_responses_are_protected_together(folder, way, third):
    done = run(folder, (*SUMS, third), way)
    assert done.passed and not done.warnings
    by_y, by_z = published(folder, 1), published(folder, 2)
    assert by_z["a", "p"] == "x" and "x" in (by_z["a", "q"], by_y["a", "1"])


def test_a_table_as_fine_as_the_sums_changes_nothing(folder):
    done = run(folder, (*SUMS, ('"x""y"|"<freq>"', "FREQ(3,20)"), ('"x""z"|"<freq>"', "FREQ(3,20)")))
    assert done.passed and not done.warnings


PLANS = [
    {
        "version": 1,
        "table": {"value": value},
        "dimensions": {name: {"column": name, "total": "T"} for name in names},
        "primary": [rule],
    }
    for value, names, rule in (
        ("v", "xy", {"rule": "p-percent", "p": 10}),
        ("v", "xz", {"rule": "p-percent", "p": 10}),
        ("n", "xyz", {"rule": "frequency", "min": 3}),
    )
]


def test_an_audit_of_files_without_headers_reads_each_by_its_own_plan(folder, sfumato):
    run(folder, (*SUMS, COUNTS))
    files = [folder / "out" / f"{number}.csv" for number in (1, 2, 3)]
    assert audit(files[:2], PLANS[:2]).passed
    together = audit(files, PLANS)
    assert {finding.name for finding in together.leaks} >= {"v: x a, z p"}
    for place, plan in enumerate(PLANS):
        (folder / f"{place}.yaml").write_text(json.dumps(plan))
    named = [part for place in range(3) for part in ("--plan", folder / f"{place}.yaml")]
    ran = sfumato("audit", *files, *named)
    assert ran.code == 1 and "v: x a, z p: exact" in ran.out


def test_a_plan_of_several_tables_reads_files_without_headers(folder):
    run(folder, SUMS)
    tables = [{"name": str(place), "dimensions": plan["dimensions"]} for place, plan in enumerate(PLANS[:2])]
    plan = {"version": 1, "table": {"value": "v"}, "tables": tables, "primary": PLANS[0]["primary"]}
    assert audit([folder / "out" / "1.csv", folder / "out" / "2.csv"], plan).passed


def test_a_quote_that_is_not_closed_is_said_with_its_place(folder):
    (folder / "one.arb").write_text('<OPENMICRODATA> "m.asc"\n<OPENMETADATA> "m.rda\n')
    with pytest.raises(DataError, check=coded("data.batch.quote 2:16")):
        run_batch(folder / "one.arb", folder / "out")


def test_a_negative_response_is_said_with_its_line(folder):
    (folder / "m.asc").write_text((folder / "m.asc").read_text().replace(";510;", ";-510;"))
    assert "m.asc, line 5: v is negative" in run(folder, SUMS[:1]).warnings[0]
