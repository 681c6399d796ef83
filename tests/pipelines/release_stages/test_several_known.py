"""What an attacker finds who knows several columns besides the quasi-identifiers: told, and by known answers."""

import json
from itertools import product

import polars as pl
import pytest

from sfumato.pipelines.release import anonymize
from sfumato.pipelines.report_folder import read_dossier

ITEMS = ("a", "b", "c", "d", "e")


def rows(copies: int) -> pl.DataFrame:
    """All answers to five questions of yes and no, each so often, in one class."""
    answers = [*product("yn", repeat=len(ITEMS))] * copies
    return pl.DataFrame({"sex": ["f"] * len(answers)} | dict(zip(ITEMS, zip(*answers, strict=True), strict=True)))


def release_of(frame: pl.DataFrame, items: tuple[str, ...] = ITEMS):
    columns = {"sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}}}
    columns |= {name: {"role": "sensitive"} for name in items}
    promises = [{"model": "l-diversity", "variant": "distinct", "l": 2, "column": name} for name in items]
    plan = {"version": 1, "columns": columns, "privacy": [{"model": "k-anonymity", "k": 5}, *promises]}
    return anonymize(frame.select("sex", *items), plan)


def test_all_answers_together_are_unique_where_no_pair_is() -> None:
    several = release_of(rows(1)).report.disclosure.several
    assert (several.columns, several.known, several.rows, several.all_rows) == (5, 3, 0, 32)
    assert release_of(rows(2)).report.disclosure.several.all_rows == 0


def test_three_known_answers_find_rows_among_those_of_a_class() -> None:
    """Ten rows of each sex, whose answers number them: known answers and the sex single out every one."""
    answers = [str(row // 2) for row in range(20)]
    frame = pl.DataFrame({"sex": ["f", "m"] * 10} | dict.fromkeys(ITEMS, answers))
    several = release_of(frame).report.disclosure.several
    assert (several.rows, several.all_rows) == (20, 0)


def test_the_report_tells_it_and_keeps_it(tmp_path) -> None:
    release = release_of(rows(1))
    release.save(tmp_path / "release")
    kept = json.loads((tmp_path / "release" / "report.json").read_text(encoding="utf-8"))
    assert kept["disclosure"]["column_sets"] == {"columns": 5, "known": 3, "rows": 0, "all_rows": 32}
    assert read_dossier(tmp_path / "release").report.disclosure.several == release.report.disclosure.several
    page = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    assert "3 of the 5 other columns" in page


@pytest.mark.parametrize("items", [("a", "b"), ("a", "b", "c")])
def test_few_columns_are_told_one_by_one(items) -> None:
    assert release_of(rows(1), items).report.disclosure.several is None
