"""Of several files every column is accounted for as of one: spellings, columns that no plan names, identifiers."""

from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError

PERSONS = 24


def files(mark: str = "") -> dict[str, pl.DataFrame]:
    ids = [f"p{place}" for place in range(PERSONS)]
    wards = ["north" + (mark if place % 2 else "") for place in range(PERSONS)]
    return {
        "patients": pl.DataFrame({"pid": ids, "name": ids, "sex": ["f", "m"] * (PERSONS // 2)}),
        "stays": pl.DataFrame({"pid": ids, "month": ["may"] * PERSONS, "ward": wards}),
    }


def plan() -> dict[str, object]:
    known = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
    return {
        "version": 1,
        "files": {"patients": {"key": "pid"}, "stays": {"parent": "patients"}},
        "columns": {"name": {"role": "identifier"}, "sex": known, "month": known, "ward": {"role": "insensitive"}},
        "privacy": [{"model": "k-anonymity", "k": 3}],
    }


def test_a_trailing_blank_in_a_file_is_refused() -> None:
    """Who has "north " instead of "north" could be told by it; a single file is refused for it, too."""
    with pytest.raises(DataError) as refused:
        sf.anonymize(files(" "), plan())
    assert refused.value.code == "data.spellings" and "stays.ward" in refused.value.message


@pytest.mark.parametrize(
    ("file", "column", "value"), [("stays", "secret", "x"), ("stays", "ward", "north "), ("patients", "name", "p0")]
)
def test_a_changed_file_of_a_folder_is_found_by_its_columns(tmp_path, file, column, value) -> None:
    folder: Path = sf.anonymize(files(), plan()).save(tmp_path / "release")
    assert sf.verify(folder).satisfied
    path = folder / f"{file}.csv"
    written = pl.read_csv(path, infer_schema=False).with_row_index()
    old = pl.col(column) if column in written.columns else pl.lit("y")
    changed = pl.when(pl.col("index") == 0).then(pl.lit(value)).otherwise(old).alias(column)
    written.with_columns(changed).drop("index").write_csv(path)
    verdict = sf.verify(folder)
    named = {one.column for one in verdict.promises if not one.satisfied} | {*"".join(verdict.faults).split('"')}
    assert {f"{file}.{column}", column} & named
