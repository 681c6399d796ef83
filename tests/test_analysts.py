"""The benchmark of analysts' questions judges answers as it says."""

import numpy as np
import pandas as pd
import pytest
from bench.analysts import roles
from bench.answers import judged
from bench.published_labels import number, span

QUESTIONS = {
    "model": {"kind": "ols", "formula": "score ~ age + C(town)", "key_terms": ["age", "C(town)[T.Ulm]"]},
    "table": {"kind": "table", "formula": 'mean of (town == "Ulm") by cut(age, [20, 40, 60])'},
}


def rows(sign=1):
    """600 persons: the score grows with age and is higher in Ulm, where the old live; all cells are texts."""
    draw = np.random.default_rng(1)
    age = draw.integers(20, 60, 600)
    town = np.where(draw.random(600) * 40 < age - 20, "Ulm", "Bonn")
    town = np.where(draw.random(600) < 0.2, "Kiel", town)
    score = sign * (age / 4 + 5 * (town == "Ulm")) + draw.normal(0, 3, 600)
    return pd.DataFrame({"age": age, "town": town, "score": score.round(2)}).astype(str).astype(object)


@pytest.mark.parametrize("kind", QUESTIONS)
def test_raw_rows_answer_the_same_and_shuffled_ones_do_not(kind):
    raw = rows()
    assert judged(QUESTIONS[kind], raw, raw)[0] == "same"
    shuffled = raw.apply(lambda cells: cells.sample(frac=1, random_state=len(cells.name)).to_numpy())
    assert judged(QUESTIONS[kind], raw, shuffled)[0] in ("partial", "wrong")


def test_ranges_are_midpoints_and_merged_categories_are_partial():
    raw = rows()
    tens = raw.assign(age=[f"[{age[0]}0–{age[0]}9]" for age in raw["age"]])
    assert judged(QUESTIONS["model"], raw, tens)[0] == "same"
    merged = raw.assign(town=raw["town"].replace({"Ulm": "{Kiel, Ulm}", "Kiel": "{Kiel, Ulm}"}))
    assert judged(QUESTIONS["model"], raw, merged)[0] == "partial"


def test_turned_signs_are_wrong_and_removed_columns_impossible():
    raw = rows()
    assert judged(QUESTIONS["model"], raw, raw.assign(score=rows(-1)["score"]))[0] == "wrong"
    for column in raw:
        assert judged(QUESTIONS["model"], raw, raw.assign(**{column: None}))[0] == "impossible"
    assert judged(QUESTIONS["model"], raw, None)[0] == "impossible"


@pytest.mark.parametrize(
    ("label", "ends"),
    [("80-119", (80, 119)), ("[1–3]", (1, 3)), ("<5", (-np.inf, 5)), ("60+", (60, np.inf)), ("$1,000", (1000, 1000))],
)
def test_labels_have_ends(label, ends):
    assert span(label)[:2] == ends
    assert number("{1, 3}") == 2


def test_roles_are_counted(tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("columns: {a: {role: identifier}, b: {role: insensitive}, c: {role: sensitive}, d: {role: weight}}")
    counts = roles(plan, {"columns": {"a": "S", "b": "Q", "d": "WH"}, "default": "SH"})
    assert dict(counts) == {"right": 2, "lost": 1, "unsafe": 1}
