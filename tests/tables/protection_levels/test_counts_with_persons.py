"""Counts with the persons behind them beside: a masked one is as little 0 as without that column."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.pipelines.tables.protect import run_plan
from sfumato.tables.plan.table_plan import read_table_plan

CODES = ("x", "y", "z", "w")
# Counts of the parts, persons, and whether the values count what every person has.
TABLES = {
    "one small": ((1, 3, 50, 20), (1, 3, 50, 20)),
    "several rows of a person": ((1, 3, 50, 20), (1, 2, 31, 13)),
    "two small": ((1, 2, 4, 30), (1, 2, 4, 30)),
    "a published zero": ((1, 3, 0, 20), (1, 3, 0, 20)),
}


def bounds(folder: Path, counts: Sequence[float], persons: Sequence[int], beside: bool) -> dict[str, tuple[str, ...]]:
    rows = [("Total", sum(counts), sum(persons)), *zip(CODES, counts, persons, strict=True)]
    lines = "".join(f"{code},{count},{number}\n" for code, count, number in rows)
    (folder / "cells.csv").write_text("area,count,persons\n" + lines, encoding="utf-8")
    plan = {
        "version": 1,
        "table": {"source": "cells.csv", "value": "count"} | ({"frequency": "persons"} if beside else {}),
        "dimensions": {"area": {"column": "area"}},
        "primary": [{"rule": "frequency", "min": 3}],
        "protection": {"lower": 1, "upper": 3},
        "attackers": {"persons": False, "respondents": False},
    }
    columns = run_plan(read_table_plan(plan, folder)).external.texts
    return {code: ends for code, *ends in zip(*columns.values(), strict=True)}


@pytest.mark.parametrize("name", TABLES)
def test_the_same_counts_have_the_same_ranges(tmp_path: Path, name: str) -> None:
    counts, persons = TABLES[name]
    with_persons, without = (bounds(tmp_path, counts, persons, beside) for beside in (True, False))
    if counts == persons:
        assert with_persons == without
    masked = [code for code in CODES if with_persons[code][0] == "*"]
    assert masked
    for code in masked:
        assert [float(end) for end in with_persons[code][1:]] == pytest.approx(ends_of(code, masked, counts))


def ends_of(code: str, masked: Sequence[str], counts: Sequence[int]) -> list[float]:
    """What a reader computes who knows that none of the masked counts is 0."""
    value = dict(zip(CODES, counts, strict=True))
    one = np.array([1.0 if other == code else 0.0 for other in masked])
    left = [sum(value[other] for other in masked)]
    ends = [
        linprog(sign * one, A_eq=np.ones((1, len(masked))), b_eq=left, bounds=[(1, None)] * len(masked))
        for sign in (1, -1)
    ]
    return [ends[0].fun, -ends[1].fun]


def test_a_sum_with_respondents_may_be_zero(tmp_path: Path) -> None:
    ends = bounds(tmp_path, (0, 3, 50, 20), (1, 3, 50, 20), beside=True)
    assert ends["x"][:2] == ["*", "0"]
    ends = bounds(tmp_path, (1.5, 3, 50, 20), (1, 3, 50, 20), beside=True)
    assert ends["x"][:2] == ["*", "0"]
