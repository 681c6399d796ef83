"""What a stranger changes in a release folder besides its rows: the reports for publication, further files."""

import json
import shutil

import polars as pl
import pytest

import sfumato as sf
from sfumato.pipelines.attack import attack
from sfumato.pipelines.report_folder import add_to_folder

FRAME = pl.DataFrame([{"sex": "mf"[row % 2], "town": f"t{row // 2 % 4}", "ill": f"i{row % 3}"} for row in range(120)])
KNOWN = {"role": "quasi-identifier", "hierarchy": {"type": "any"}}
PLAN = {
    "version": 1,
    "columns": {"sex": KNOWN, "town": KNOWN, "ill": {"role": "sensitive"}},
    "privacy": [{"model": "k-anonymity", "k": 5}],
    "method": {"name": "optimal"},
    "seed": 1,
}


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    return sf.anonymize(FRAME, PLAN).save(tmp_path_factory.mktemp("fresh") / "release")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("report-external.json", '"requested": 5', '"requested": 50'),
        ("report-external.json", "at least 5 rows", "at least 50 rows"),
        ("report-external.html", "at least 5 rows", "at least 50 rows"),
    ],
)
def test_a_report_for_publication_that_promises_more_is_found(released, tmp_path, name, old, new) -> None:
    folder = shutil.copytree(released, tmp_path / "changed")
    assert sf.verify(folder).satisfied
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), encoding="utf-8")
    verdict = sf.verify(folder)
    assert not verdict.satisfied
    assert [name in fault for fault in verdict.faults] == [True]


def test_raw_rows_beside_the_published_ones_are_found(released, tmp_path) -> None:
    folder = shutil.copytree(released, tmp_path / "changed")
    FRAME.write_parquet(folder / "data.parquet")
    assert sf.verify(folder).faults == ("data.parquet is no file of this release.",)


def test_a_folder_holds_after_an_attack_was_added_to_its_reports(released, tmp_path) -> None:
    folder = shutil.copytree(released, tmp_path / "attacked")
    add_to_folder(folder, attack(folder, FRAME, control=FRAME.with_columns(town=pl.lit("t9")), attempts=5))
    assert "attack" in json.loads((folder / "report-external.json").read_text(encoding="utf-8"))
    assert sf.verify(folder).satisfied
