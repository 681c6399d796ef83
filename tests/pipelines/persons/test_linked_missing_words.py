"""What means missing in several files: a word of few persons may be a remark on somebody, and is no value of any."""

from pathlib import Path

import polars as pl
import pytest

from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify

REMARK = "see Mr. Kowalczyk"
PLAN = {
    "version": 1,
    "seed": 1,
    "files": {
        "people": {"source": "people.csv", "key": "pid"},
        "visits": {"source": "visits.csv", "parent": "people"},
    },
    "columns": {
        "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
        "ill": {"role": "sensitive"},
    },
    "privacy": [
        {"model": "k-anonymity", "k": 5},
        {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "ill"},
    ],
}
# What the last persons have at their second visit, the words that mean missing, and what stays of them.
CASES = {
    "a remark of one": ([REMARK], [REMARK], {}),
    "remarks of one person": ([REMARK], [REMARK], {}),
    "two words": (["n/a", REMARK], ["n/a", REMARK], {}),
    "a usual word": (["n/a"], ["n/a"], {"n/a": 1}),
    "a word of many": (["refused"] * 6, ["refused"], {"refused": 6}),
}


def frames(last: list[str]) -> dict[str, pl.DataFrame]:
    """Sixty persons with two visits each, who have the same illness at both but for the last ones."""
    ill = ["flu", "cold", "none"] * 40
    ill[120 - len(last) :] = last
    people = pl.DataFrame({"pid": range(60), "sex": ["f", "m"] * 30})
    return {"people": people, "visits": pl.DataFrame({"pid": [*range(60)] * 2, "ill": ill})}


@pytest.mark.parametrize("case", CASES)
def test_a_remark_is_published_in_no_file(case: str, tmp_path: Path) -> None:
    last, missing, stays = CASES[case]
    rows = frames(last)
    if case == "remarks of one person":  # six rows are no crowd
        more = pl.DataFrame({"pid": [*range(60)] * 6, "ill": (["flu"] * 59 + last) * 6})
        rows["visits"] = pl.concat([rows["visits"], more])
    for name, frame in rows.items():
        frame.write_csv(tmp_path / f"{name}.csv")
    sources = {name: tmp_path / f"{name}.csv" for name in rows}
    asked = PLAN | {"data": {"missing": missing}}
    for data, options in ((sources, {}), (rows, {}), (sources, {"engine": "frames"})):
        release = anonymize(data, asked, **options)
        folder = release.save(tmp_path / f"out-{len([*tmp_path.iterdir()])}")
        published = pl.read_csv(folder / "visits.csv", infer_schema=False)["ill"]
        assert {word: published.to_list().count(word) for word in missing if word in published} == stays
        assert published.null_count() == rows["visits"]["ill"].is_in(missing).sum() - sum(stays.values())
        assert len(published) == len(rows["visits"])
        assert ("published as" in str(release.figures["remarks"])) == (not stays)
        assert verify(folder).satisfied


def test_spellings_may_be_kept(tmp_path: Path) -> None:
    release = anonymize(frames([REMARK]), PLAN | {"data": {"missing": [REMARK], "spellings": "keep"}})
    folder = release.save(tmp_path / "out")
    assert REMARK in pl.read_csv(folder / "visits.csv")["ill"]
