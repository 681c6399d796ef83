"""δ-presence: the subset alone is published, and its share of each class among the persons of the list is bounded."""

import random
from collections import Counter

import polars as pl
import pytest

import sfumato as sf
from refusals import coded
from sfumato.errors import PlanError, UnattainableError
from sizes import size


def rows(seed: int, many: int = 120) -> pl.DataFrame:
    draw = random.Random(seed)
    areas = [draw.choice("ab") + draw.choice("123") for _ in range(many)]
    return pl.DataFrame(
        {
            "area": areas,
            "age": [str(draw.randint(1, 4)) for _ in areas],
            "study": ["yes" if draw.random() < 0.3 else draw.choice(["no", "never", ""]) for _ in areas],
            "illness": [draw.choice(["flu", "hiv"]) for _ in areas],
        }
    )


def plan(lower: float = 0.0, upper: float = 0.5, privacy=(), **more) -> dict:
    return {
        "version": 1,
        "columns": {
            "area": {"role": "quasi-identifier", "hierarchy": {"type": "digits", "length": 2}},
            "age": {"role": "quasi-identifier", "hierarchy": {"type": "any"}},
            "study": {"role": "sensitive"},
            "illness": {"role": "sensitive"},
        },
        "privacy": [
            {"model": "delta-presence", "lower": lower, "upper": upper, "subset": {"column": "study", "value": "yes"}},
            *privacy,
        ],
        "method": {"name": "optimal", "suppression": 0.2},
        "output": {"order": "keep"},
    } | more


def label(recoding, name: str, text: str) -> str:
    place = recoding.columns.index(name)
    coding = recoding.codings[place]
    return recoding.labels[place][recoding.label_codes(place)[coding.places[text]]]


@pytest.mark.parametrize("seed", range(size(2, 6)))
@pytest.mark.parametrize(("lower", "upper"), [(0.0, 0.4), (0.15, 0.6)])
@pytest.mark.parametrize("method", ["optimal", "samarati", "greedy", "exhaustive"])
def test_the_subset_alone_is_published_and_every_class_is_within_bounds(tmp_path, seed, lower, upper, method) -> None:
    frame = rows(seed)
    asked = plan(lower, upper, [{"model": "k-anonymity", "k": 2}], method={"name": method, "suppression": 0.3})
    try:
        release = sf.anonymize(frame, asked)
    except UnattainableError:
        return
    members = frame.filter(pl.col("study") == "yes")
    assert release.report.rows == len(members)
    assert len(release.data) == len(members) - release.report.suppressed_rows
    assert set(release.data["study"]) == {"*"}
    keys = ("area", "age")
    everyone = Counter(tuple(label(release.recoding, name, row[name]) for name in keys) for row in frame.to_dicts())
    published = Counter(zip(*(release.data[name] for name in keys), strict=True))
    assert all(lower - 1e-9 <= count / everyone[key] <= upper + 1e-9 for key, count in published.items())
    # k counts the rows that a reader sees, not the persons of the list.
    assert min(published.values()) >= 2
    release.save(tmp_path / "out")
    assert sf.verify(tmp_path / "out").satisfied


@pytest.mark.parametrize("engine", ["duckdb", "frames"])
def test_files_and_frames_publish_the_same(tmp_path, engine) -> None:
    rows(1).write_csv(tmp_path / "rows.csv")
    release = sf.anonymize(tmp_path / "rows.csv", plan(), engine=engine)
    release.save(tmp_path / "out")
    text = (tmp_path / "out" / "data.csv").read_text()
    assert "yes" not in text
    assert "never" not in text
    frame = sf.anonymize(rows(1), plan()).data
    assert [line.split(",") for line in text.splitlines()[1:]] == [list(row) for row in frame.rows()]


def test_the_rows_alone_do_not_tell_the_list() -> None:
    verdict = sf.verify(sf.anonymize(rows(1), plan()).data, plan())
    assert not verdict.satisfied
    assert "list of persons" in verdict.faults[0]


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"method": {"name": "auto"}}, "does not go with delta-presence"),
        ({"method": {"name": "local"}}, "does not go with delta-presence"),
        ({"method": {"name": "mondrian"}}, "does not go with delta-presence"),
        ({"data": {"on_missing": "drop"}}, "drop does not go"),
        ({"columns": plan()["columns"] | {"illness": {"role": "person"}}}, "a person column"),
        ({"privacy": [*plan()["privacy"], {"model": "l-diversity", "l": 2, "column": "study"}]}, "not published"),
        ({"privacy": [*plan()["privacy"], {"model": "k-map", "k": 2, "population": "p.csv"}]}, "one list"),
    ],
)
def test_what_it_cannot_be_combined_with_is_refused(more, match) -> None:
    with pytest.raises(PlanError, match=match):
        sf.anonymize(rows(1), plan() | more)


def test_a_subset_that_nobody_is_in_is_refused() -> None:
    with pytest.raises(PlanError, check=coded("plan.named-values.no_row_in_subset")):
        sf.anonymize(rows(1).with_columns(study=pl.lit("no")), plan())
