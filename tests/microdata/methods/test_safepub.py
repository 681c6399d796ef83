"""SafePub: what is drawn is drawn as the promise needs it, and the plan may not tell more."""

from collections import Counter
from csv import DictReader
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import PlanError, UnattainableError
from sfumato.microdata.methods import safepub

COLUMNS = {
    "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any", "values": ["f", "m"]}},
    "age": {
        "role": "quasi-identifier",
        "type": "integer",
        "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [10, 50]},
    },
    "name": {"role": "identifier"},
}


def plan_of(**changes: Any) -> dict[str, Any]:
    plan = {
        "version": 1,
        "columns": COLUMNS,
        "privacy": [{"model": "differential-privacy", "epsilon": 1.0, "delta": 1e-4, "search": 0}],
        "method": {"name": "safepub", "levels": {"sex": 0, "age": 1}},
    }
    return plan | changes


def rows(number: int = 4000) -> Any:
    pandas = pytest.importorskip("pandas")
    draw = np.random.default_rng(3)
    return pandas.DataFrame(
        {
            "sex": draw.choice(["f", "m"], number),
            "age": draw.integers(0, 100, number).astype(str),
            "name": [f"p{place}" for place in range(number)],
        }
    )


@pytest.fixture(scope="module")
def frame() -> Any:
    return rows()


def test_rows_are_drawn_by_chance_and_classes_are_large(frame: Any) -> None:
    release = sf.anonymize(frame, plan_of())
    figures = release.report.details["differential_privacy"]
    data = release.data
    assert Counter(zip(data["sex"], data["age"], strict=True)).most_common()[-1][1] >= figures["k"] == 47
    deviation = (4000 * 0.6321 * 0.3679) ** 0.5
    assert abs(figures["sampled_rows"] - 4000 * 0.6321) < 4 * deviation
    assert figures["published_rows"] == len(data) == figures["sampled_rows"]
    assert set(data["name"]) == {"*"}


def test_two_releases_draw_other_rows(frame: Any) -> None:
    first, second = (sf.anonymize(frame, plan_of()).data for _ in range(2))
    assert len(first) != len(second) or not first.equals(second)


def test_a_named_seed_repeats_and_is_warned_about(frame: Any) -> None:
    first, second = (sf.anonymize(frame, plan_of(seed=5)) for _ in range(2))
    assert first.data.equals(second.data)
    assert any("which rows were drawn" in remark for remark in first.report.notes)


def test_levels_are_drawn_where_none_are_named(frame: Any) -> None:
    plan = plan_of(
        privacy=[{"model": "differential-privacy", "epsilon": 3.0, "delta": 1e-4}], method={"name": "safepub"}, seed=1
    )
    release = sf.anonymize(frame, plan)
    assert release.report.nodes == {"total": 8, "checked": 9}
    assert set(release.report.levels) == {"sex", "age"}


def test_good_nodes_are_drawn_more_often(frame: Any) -> None:
    plan = plan_of(
        privacy=[{"model": "differential-privacy", "epsilon": 2.0, "delta": 1e-3, "search": 0.5}],
        method={"name": "safepub"},
    )
    nodes = Counter(tuple(sf.anonymize(frame, {**plan, "seed": seed}).report.levels.values()) for seed in range(12))
    assert nodes.most_common(1)[0][0] != (1, 3)
    assert nodes[(1, 3)] <= 2


def test_large_lattices_are_walked(frame: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safepub, "MOST_NODES", 1)
    plan = plan_of(
        privacy=[{"model": "differential-privacy", "epsilon": 3.0, "delta": 1e-4}],
        method={"name": "safepub", "steps": 4},
        seed=5,  # where the walk draws a fine node, too few rows are alike
    )
    release = sf.anonymize(frame, plan)
    assert 1 < release.report.nodes["checked"] <= 9


def test_the_file_is_verified_with_its_folder_alone(frame: Any, tmp_path: Any) -> None:
    folder = sf.anonymize(frame, plan_of()).save(tmp_path / "out")
    assert not (folder / "report-external.html").exists()
    assert sf.verify(folder).satisfied
    alone = sf.verify(folder / "data.csv", folder / "plan.yaml")
    assert not alone.satisfied
    assert "drawn" in alone.faults[0]


def test_engines_publish_the_same(frame: Any, tmp_path: Any) -> None:
    source = tmp_path / "rows.csv"
    frame.to_csv(source, index=False)
    by_file = sf.anonymize(source, plan_of(seed=5)).save(tmp_path / "out")
    by_frame = sf.anonymize(frame, plan_of(seed=5)).save(tmp_path / "other")
    assert (by_file / "data.csv").read_bytes() == (by_frame / "data.csv").read_bytes()


@pytest.mark.parametrize("odd", [{"age": "unknown"}, {"sex": "?"}, {"age": "100"}])
def test_a_value_that_does_not_fit_drops_its_row_and_changes_nothing_else(tmp_path: Path, frame: Any, odd: Any) -> None:
    """A refusal would reveal the row as surely as its publication."""
    plan = plan_of(seed=5)
    one = frame.iloc[:1].assign(**odd)
    more = type(frame)({name: [*one[name], *frame[name]] for name in frame})
    (tmp_path / "rows.csv").write_text(more.to_csv(index=False))
    expected = counted(sf.anonymize(frame, plan).save(tmp_path / "expected"))
    for data in (more, tmp_path / "rows.csv"):
        release = sf.anonymize(data, plan)
        assert release.report.dropped_rows == 1
        folder = release.save(tmp_path / type(data).__name__)
        assert counted(folder) == expected
        assert sf.verify(folder).satisfied


def test_values_that_do_not_fit_may_be_missing_values(tmp_path: Path, frame: Any) -> None:
    odd = frame.assign(age=["unknown"] * 500 + [*frame["age"][500:]])
    release = sf.anonymize(odd, plan_of(data={"on_invalid": "missing"}))
    assert release.report.dropped_rows == 0
    assert sum(rows for (_, age), rows in counted(release.save(tmp_path / "out")).items() if age == "") > 100


def counted(folder: Path) -> Counter[tuple[str, str]]:
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        return Counter((row["sex"], row["age"]) for row in DictReader(file))


def test_too_few_rows_are_refused() -> None:
    with pytest.raises(UnattainableError):
        sf.anonymize(rows(30), plan_of())


WRONG = {
    "an exact column": {"columns": {**COLUMNS, "name": {"role": "insensitive"}}},
    "a sensitive column": {"columns": {**COLUMNS, "name": {"role": "sensitive"}}},
    "persons": {"columns": {**COLUMNS, "name": {"role": "person"}}},
    "star rows": {"output": {"suppressed": "star"}},
    "raw order": {"output": {"order": "keep"}},
    "a second promise": {"privacy": [*plan_of()["privacy"], {"model": "k-anonymity", "k": 5}]},
    "another method": {"method": {"name": "optimal"}},
    "another promise": {"privacy": [{"model": "k-anonymity", "k": 5}]},
    "a level too few": {"method": {"name": "safepub", "levels": {"sex": 0}}},
    "a level too high": {"method": {"name": "safepub", "levels": {"sex": 9, "age": 0}}},
    "a least level too high": {"columns": {**COLUMNS, "sex": {**COLUMNS["sex"], "min_level": 2}}},
    "a greatest level too high": {"columns": {**COLUMNS, "sex": {**COLUMNS["sex"], "max_level": 2}}},
    "levels of no price": {"method": {"name": "safepub"}},
    "a refusal because of one row": {"data": {"on_invalid": "error"}},
    "no mapping": {"data": [1]},
    "a hierarchy by the data": {
        "columns": {**COLUMNS, "age": {**COLUMNS["age"], "hierarchy": {"type": "intervals", "widths": [10]}}}
    },
}


@pytest.mark.parametrize("changes", WRONG.values(), ids=WRONG)
def test_plans_that_would_tell_more_are_refused(frame: Any, changes: dict[str, Any]) -> None:
    with pytest.raises(PlanError):
        sf.anonymize(frame, plan_of(**changes))
