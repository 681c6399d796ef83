"""Spellings of one sensitive value are one: to promises, to the written file, and to whoever verifies it."""

import random

import pandas as pd
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import UnattainableError
from sfumato.localization.messages import words_in
from sfumato.pipelines.release_stages.build_report import merged_remarks

SPELLED = ["HIV", "hiv ", "H.I.V.", "Hiv"]


def plan(*promises, **data):
    return {
        "version": 1,
        "data": data,
        "columns": {
            "age": {
                "role": "quasi-identifier",
                "type": "integer",
                "hierarchy": {"type": "intervals", "start": 0, "end": 99, "widths": [10]},
            },
            "ill": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 2}, *promises],
        "method": {"name": "optimal", "suppression": 0.5},
        "output": {"order": "keep"},
    }


L = {"model": "l-diversity", "variant": "distinct", "l": 2, "column": "ill"}


def rows(values, count=80):
    draw = random.Random(1)
    return pl.DataFrame(
        {"age": [str(20 + place % 60) for place in range(count)], "ill": [draw.choice(values) for _ in range(count)]}
    )


@pytest.mark.parametrize(
    "values",
    [SPELLED, ["0", "0.0", "0.00"], ["no", "NO", " no"], ["type-2", "Type 2", "type 2."], ["I10.90", "I1090", "i1090"]],
)
def test_spellings_alone_are_no_diversity(values):
    with pytest.raises(UnattainableError):
        sf.anonymize(rows(values), plan(L))


@pytest.mark.parametrize(
    "promise",
    [
        L,
        {"model": "t-closeness", "t": 0.6, "column": "ill"},
        {"model": "alpha-k-anonymity", "alpha": 0.9, "k": 2, "column": "ill", "values": ["hiv"]},
    ],
)
def test_every_engine_writes_one_spelling(promise, tmp_path):
    frame = rows([*SPELLED, "flu"])
    frame.write_csv(tmp_path / "rows.csv")
    release = sf.anonymize(frame, plan(promise))
    assert {*release.data["ill"]} == {"HIV", "flu"}
    assert any("other spellings of one value" in remark for remark in release.report.notes)
    of_pandas = sf.anonymize(pd.DataFrame(frame.to_dict(as_series=False)), plan(promise))
    of_file = sf.anonymize(tmp_path / "rows.csv", plan(promise))
    assert of_file.data.read_text(encoding="utf-8") == release.data.write_csv()
    assert [*of_pandas.data["ill"]] == [*release.data["ill"]]
    of_file.save(tmp_path / "out")
    assert sf.verify(tmp_path / "out").satisfied


def test_verify_does_not_take_spellings_for_diversity(tmp_path):
    file = tmp_path / "handed.csv"
    file.write_text("age,ill\n20-29,HIV\n20-29,hiv \n30-39,HIV\n30-39,flu\n", encoding="utf-8")
    verdict = sf.verify(file, plan(L))
    assert [promise.achieved for promise in verdict.promises if "l-diversity" in str(promise)] == [1]
    assert not verdict.satisfied
    assert sf.verify(file, plan(L, spellings="keep")).satisfied


def test_the_plan_may_keep_them():
    frame = rows(["A", "a"])
    release = sf.anonymize(frame, plan(L, spellings="keep"))
    assert {*release.data["ill"]} == {"A", "a"}


def test_codes_and_signs_stay_apart():
    values = ["01", "1", "A+", "A-", "1.5 mg", "15 mg"]
    assert {*sf.anonymize(rows(values), plan(L)).data["ill"]} == {*values}


def test_persons_with_several_spellings(tmp_path):
    frame = rows(SPELLED).with_columns(who=pl.Series([str(place // 2) for place in range(80)]))
    asked = plan(L)
    asked["columns"]["who"] = {"role": "person"}
    with pytest.raises(UnattainableError):
        sf.anonymize(frame, asked)


@pytest.mark.parametrize(("count", "german"), [(1, "Ein Text in"), (2, "2 Texte in")])
def test_one_text_is_told_of_as_one(count, german):
    sentence = merged_remarks({"ill": count})[0]
    assert ("texts" in sentence) == (count > 1)
    assert words_in("de").text(sentence).startswith(german)
