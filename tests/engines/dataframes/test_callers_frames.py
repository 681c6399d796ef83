"""Frames of callers, as notebooks hold them: changed before and after, named twice, of types that pandas alone has."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, SfumatoError

ROWS = 60


def people() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "name": [f"person {row}" for row in range(ROWS)],
            "age": [20 + row % 30 for row in range(ROWS)],
            "sex": ["f", "m"] * (ROWS // 2),
            "pay": [1000 + 10 * row for row in range(ROWS)],
            "note": [f"note {row % 4}" for row in range(ROWS)],
        }
    )


def plan(order: str = "keep") -> sf.Plan:
    output = sf.OutputPlan(order=order)  # type: ignore[arg-type]
    begun = sf.Plan(sf.KAnonymity(3), method=sf.Local(), other="insensitive", output=output)
    return begun.identifiers("name").quasi("sex", age=sf.intervals(5, 10, 20))


def test_what_is_changed_in_the_callers_frame_later_is_not_changed_in_the_release() -> None:
    frame = people()
    release = sf.anonymize(frame, plan())
    frame.loc[:9, "pay"] = -1
    assert release.data["pay"].tolist() == people()["pay"].tolist()


def test_what_is_changed_in_the_published_frame_is_not_changed_in_the_callers() -> None:
    frame = people()
    data = sf.anonymize(frame, plan()).data
    data.loc[:9, "pay"] = -1
    assert frame.equals(people())


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("order", ["keep", "shuffle"])
def test_a_release_is_saved_as_it_was_judged_whatever_became_of_its_frame(kind, order, tmp_path) -> None:
    frame = people() if kind == "pandas" else pl.from_pandas(people())
    release = sf.anonymize(frame, plan(order))
    data = release.data
    if isinstance(data, pl.DataFrame):
        data.replace_column(0, frame["name"])
        data[0, "note"] = "note to myself"
    else:
        data["name"] = frame["name"]
        data.loc[0, "note"] = "note to myself"
    written = (release.save(tmp_path / "release") / "data.csv").read_text()
    assert "person" not in written
    assert "myself" not in written
    assert sf.verify(tmp_path / "release").satisfied


TWICE = [
    pd.DataFrame([["a", "b"], ["c", "d"]], columns=["place", "place"]),
    pa.table([pa.array(["a", "c"]), pa.array(["b", "d"])], names=["place", "place"]),
]
USES = {
    "suggest": sf.suggest,
    "anonymize": lambda frame: sf.anonymize(frame, sf.Plan(sf.KAnonymity(2)).quasi("place")),
    "risk": lambda frame: sf.risk(frame, quasi_identifiers=["place"]),
    "verify": lambda frame: sf.verify(frame, sf.Plan(sf.KAnonymity(2)).quasi("place")),
    "tabulate": lambda frame: sf.tabulate(frame, ["place"]),
    "suppress": lambda frame: sf.suppress(frame, policy="cms-11"),
}


@pytest.mark.parametrize("frame", TWICE, ids=["pandas", "arrow"])
@pytest.mark.parametrize("use", USES)
def test_columns_of_one_name_are_refused_by_their_places(use, frame) -> None:
    with pytest.raises(DataError, match="columns 1 and 2 have the same name") as refused:
        USES[use](frame)
    assert refused.value.code == "data.duplicate-columns"


def test_cut_numbers_and_periods_have_texts() -> None:
    frame = people().assign(
        band=pd.cut(people()["age"], [0, 30, 40, 99]),
        month=pd.period_range("2024-01", periods=6, freq="M").repeat(ROWS // 6),
    )
    release = sf.anonymize(frame, plan().quasi("band"))
    assert {*release.data["band"]} <= {"(0, 30]", "(30, 40]", "(40, 99]", "*"}
    assert {*release.data["month"]} == {f"2024-0{month}" for month in range(1, 7)}


def test_suggest_withholds_what_has_no_text_whatever_its_type() -> None:
    frame = people().assign(
        wave=np.arange(ROWS) + 1j,
        kind=pd.Categorical([(row % 2, row % 2) for row in range(ROWS)]),
    )
    proposal = sf.suggest(frame)
    assert [proposal.columns[name].role for name in ("wave", "kind")] == ["identifier"] * 2
    assert {*sf.anonymize(frame, proposal).data["wave"]} == {"*"}


@pytest.mark.parametrize("rows", [0, 3])
def test_a_crosstab_without_cells_is_refused(rows) -> None:
    empty = pd.DataFrame(index=range(rows)) if rows else pd.DataFrame({"a": []})
    with pytest.raises(SfumatoError, match="no cells"):
        sf.suppress(empty, policy="cms-11")


def test_levels_of_an_index_that_the_plan_names_are_columns() -> None:
    frame = people()
    kept = sf.anonymize(frame.set_index(["name", "age"]), plan())
    assert set(kept.data.columns) == set(frame.columns)
    assert sorted(kept.data["age"]) == sorted(sf.anonymize(frame, plan()).data["age"])
    assert set(kept.data["name"]) == {"*"} and kept.data.index.names == [None]
    assert sf.risk(frame.set_index("age"), ["age"]).to_dict() == sf.risk(frame[["age"]], ["age"]).to_dict()


def test_other_levels_of_an_index_are_left_out_aloud() -> None:
    frame = people().set_index(["note", "pay"])
    release = sf.anonymize(frame, plan())
    assert list(release.data.columns) == ["name", "age", "sex"] and frame.index.names == ["note", "pay"]
    said = "The index of the frame is not published, since the plan does not name it: note, pay."
    assert said in release.report.notes
    assert not any("index" in text for text in sf.anonymize(people().set_axis([3] * ROWS), plan()).report.notes)


def test_suggest_and_verify_see_an_index_that_has_a_name() -> None:
    frame = people().set_index(["name", "age"])
    proposed = sf.suggest(frame)
    assert set(proposed.columns) == {*people().columns} and proposed.columns["name"].role == "identifier"
    assert set(sf.anonymize(frame, proposed).data["name"]) == {"*"}
    published = sf.anonymize(people(), plan()).data
    assert sf.verify(published.set_index("age"), plan()).satisfied
    published["age"] = people()["age"]
    assert not sf.verify(published.set_index("age"), plan()).satisfied


def test_an_index_with_the_name_of_a_column_is_refused() -> None:
    twice = people().set_index("age", drop=False)
    assert len(sf.anonymize(twice, plan()).data) == ROWS  # the same values: the index is the column
    twice["age"] += 1
    with pytest.raises(DataError, match="name of a column"):
        sf.anonymize(twice, plan())
