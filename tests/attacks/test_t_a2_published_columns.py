"""Under differential privacy nothing but quasi-identifiers is published: all else tells whose row was drawn."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import PlanError
from sfumato.pipelines.apply import apply

AGE = {"role": "quasi-identifier", "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [10, 50]}}


def frame(rows: int = 600) -> pl.DataFrame:
    return pl.DataFrame({"age": [str(row * 7 % 100) for row in range(rows)], "more": [str(row) for row in range(rows)]})


def plan_of(more: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "columns": {"age": AGE, "more": more or {"role": "identifier"}},
        "privacy": [{"model": "differential-privacy", "epsilon": 2, "delta": 0.001, "search": 0}],
        "method": {"name": "safepub", "levels": {"age": 2}},
    } | changes


PUBLISHED = {
    "pseudonyms of one format": {"role": "identifier", "publish": {"pseudonym": "format"}},
    "pseudonyms by a key": {"role": "identifier", "publish": {"pseudonym": "keyed"}},
    "pseudonyms of persons": {"role": "person", "publish": {"pseudonym": "format"}},
    "keys of persons": {"role": "person", "publish": "key"},
    "weights": {"role": "weight"},
    "rounded weights": {"role": "weight", "publish": {"round": 10}},
    "rounded numbers": {"role": "insensitive", "type": "integer", "publish": {"round": 10}},
    "noise": {"role": "sensitive", "type": "integer", "publish": {"noise": 0.1}},
    "shuffled values": {"role": "insensitive", "publish": {"swap": 0.5}},
}


@pytest.mark.parametrize("column", PUBLISHED.values(), ids=PUBLISHED)
def test_a_published_column_that_is_no_quasi_identifier_is_refused(column: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        sf.anonymize(frame(), plan_of(column))


@pytest.mark.parametrize("column", [{"role": "identifier"}, {"role": "household"}])
def test_a_column_of_stars_is_no_channel(column: dict[str, Any]) -> None:
    assert set(sf.anonymize(frame(), plan_of(column)).data["more"]) == {"*"}


FURTHER = {
    "numbers of classes": {"output": {"class_column": "class"}},
    "star rows": {"output": {"suppressed": "star"}},
    "a policy that looks at the rows": {"policy": "hipaa-safe-harbor"},
    "means of groups": {"columns": {"age": {"role": "quasi-identifier", "publish": {"microaggregate": 5}}}},
}


@pytest.mark.parametrize("changes", FURTHER.values(), ids=FURTHER)
def test_whatever_else_would_tell_of_the_raw_rows_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        sf.anonymize(frame(), plan_of(**changes))


def test_a_recoding_by_chance_is_not_applied_to_other_rows(tmp_path: Path) -> None:
    """All of them would be published, and none drawn."""
    pair = pl.DataFrame({"age": [str(row % 2 * 60) for row in range(400)], "more": ["x"] * 400})
    privacy = [{"model": "differential-privacy", "epsilon": 5, "delta": 0.9, "search": 0}]
    folder = sf.anonymize(pair, plan_of(privacy=privacy, seed=3)).save(tmp_path / "out")
    pair.write_csv(tmp_path / "rows.csv")
    with pytest.raises(PlanError, match="differential privacy"):
        apply(folder / "recoding.json", tmp_path / "rows.csv", tmp_path / "again")
