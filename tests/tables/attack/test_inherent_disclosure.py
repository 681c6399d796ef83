"""What is known whatever is masked is not promised, and every report says that it is not."""

import re
from functools import cache

import pytest

import sfumato as sf
from sfumato.localization.messages import Message, words_in
from sfumato.report.tables.report import review_figures, review_lines, summary
from sfumato.tables.attack.findings import EVERYONE

# Records of three columns; crossed two by two, empty cells or one's own part tell the least that a cell can be.
RECORDS = {
    "everyone": "112 222 221 122",
    "the one person of a 1, c 2": "212 122 211 111 111 222",
}


@cache
def protected(who, language="en"):
    frame = pytest.importorskip("polars").DataFrame(
        [dict(zip("abc", record, strict=True)) for record in RECORDS[who].split()]
    )
    plan = {
        "version": 1,
        "table": {"value": "count", "group_disclosure": False},
        "tables": [{"name": pair, "dimensions": {key: {"column": key} for key in pair}} for pair in ("ab", "bc", "ac")],
        "primary": [{"rule": "frequency", "min": 3}],
        "output": {"language": language},
    }
    return sf.protect(frame, plan)


def told(path):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", path.read_text(encoding="utf-8").partition("<body>")[2]))


@pytest.mark.parametrize("who", RECORDS)
def test_the_report_lists_the_cells_with_who_knows_which_end(who):
    done = protected(who)
    assert done.passed
    listed = done.report["inherent_disclosure"]
    wanted = {"end": "lower", "requested": 1, "guaranteed": 0, "attacker": who}.items()
    assert any(wanted <= one.items() for one in listed)
    assert {one["attacker"] for one in listed} >= {who}
    cells = len({one["cell"] for one in listed})
    assert Message("note.known_cells_count", count=cells) in summary(done.report)
    assert not done.report["warnings"]


def test_the_table_keeps_no_wider_promise_than_its_audit():
    done = protected("everyone")
    whole, (part,) = done.joint, done.joint.parts
    for end in whole.audit.inherently_disclosed:
        reach = (
            part.part.table.protection_levels.lower if end.end == "lower" else part.part.table.protection_levels.upper
        )
        assert end.attacker or reach[end.cell] == end.promised < end.requested
    assert any(not end.attacker for end in whole.audit.inherently_disclosed)
    own = [end.name for table in done.tables.values() for end in table.parts[0].audit.inherently_disclosed]
    assert {*own} == {end.name for end in whole.audit.inherently_disclosed}


def test_what_stays_open_as_asked_is_listed_nowhere():
    frame = pytest.importorskip("polars").DataFrame({"area": ["Total", "a", "b", "c"], "n": [24, 2, 9, 13]})
    done = sf.protect(
        frame, value="n", dimensions={"area": {"column": "area"}}, primary=[{"rule": "frequency", "min": 3}]
    )
    assert done.report["inherent_disclosure"] == []
    assert words_in()["note.known_cells_count"].rpartition("}")[2] not in summary(done.report)


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_house_is_told_of_how_many_cells_and_others_that_it_may_be(tmp_path, language):
    """How many there are would tell which masked cells are unsafe: what is handed out says the same of all tables."""
    words = words_in(language)
    done = protected("the one person of a 1, c 2", language)
    done.save(tmp_path / "out")
    count = len({one["cell"] for one in done.report["inherent_disclosure"]})
    less = words["tabled.less_promised"].format(count=count)
    house, outside = told(tmp_path / "out" / "report.html"), told(tmp_path / "out" / "ab" / "report-external.html")
    assert words["tabled.not.known_anyway"] in house
    assert less in house
    assert words["tabled.known_anyway"] in house
    insiders = {one["attacker"] for one in done.report["inherent_disclosure"]} - {EVERYONE}
    assert insiders and all(words.text(one) in house for one in insiders)
    assert words["tabled.not.known_anyway"] in outside
    assert less not in outside
    assert words["tabled.known_anyway"] not in outside


@pytest.mark.parametrize("who", RECORDS)
def test_an_audit_says_it_too(who):
    done = protected(who)
    review = sf.audit(done)
    assert review.passed
    assert review_figures(review)["inherent_disclosure"] == done.report["inherent_disclosure"]
    assert any(f"(lower end, to {who})" in line for line in review_lines(review))


def test_where_the_one_end_that_was_promised_is_known_a_step_to_the_other_one_is(tmp_path):
    """Cell 2 is 1 + 1, each at least 1: that it is no less than 2 all know, and no more was asked than that it is."""
    cells = [(1, "u", 0, 2), (1, "u", 2, 0), (2, "u", 1, 0), *((value, "s", 0, 0) for value in (2, 5, 7, 3, 6, 9))]
    lines = [
        f"{place},{value},{status},{value},1,1000,{low},{up}" for place, (value, status, low, up) in enumerate(cells)
    ]
    (tmp_path / "cells.csv").write_text("\n".join(["id,value,status,cost,lb,ub,lpl,upl", *lines]))
    sums = [(2, 0, 1), (5, 3, 4), (8, 6, 7), (6, 0, 3), (7, 1, 4), (8, 2, 5)]
    parts = [f"{at},{cell},{-1 if cell == sum_[0] else 1}" for at, sum_ in enumerate(sums) for cell in sum_]
    (tmp_path / "relations.csv").write_text("\n".join(["relation,cell_id,coef", *parts]))
    files = {"cells": str(tmp_path / "cells.csv"), "relations": str(tmp_path / "relations.csv")}
    done = sf.protect(plan={"version": 1, "table": files, "method": "optimal"})
    assert done.passed
    assert [(end["cell"], end["end"], end["guaranteed"]) for end in done.report["inherent_disclosure"]] == [
        ("cell 1", "lower", 0),
        ("cell 2", "lower", 0),
    ]
