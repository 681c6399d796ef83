"""Answers on one scale: those that go together are opinions and published, with a note; others wait for a decision."""

import random

import polars as pl

from sfumato.pipelines.suggest import suggest_for_frame

ROWS = 1000
DRAW = random.Random(11)
MOODS = [DRAW.gauss(0, 1) for _ in range(ROWS)]


def steps(about: list[float], noise: float) -> list[int]:
    """Answers from 1 to 5 that follow something, save for chance."""
    return [min(max(round(3 + 0.8 * one + DRAW.gauss(0, noise)), 1), 5) for one in about]


def survey(**items: list[int]) -> pl.DataFrame:
    known = {"age": [DRAW.randrange(18, 90) for _ in range(ROWS)], "sex": [DRAW.choice("mf") for _ in range(ROWS)]}
    return pl.DataFrame(known | items)


def test_answers_that_go_together_are_published_and_a_note_says_what_they_tell() -> None:
    items = {f"q3_{number}": steps(MOODS, 0.8) for number in range(1, 31)}
    items["q3_7"] = [99 if row % 50 == 7 else step for row, step in enumerate(items["q3_7"])]
    items["q3_8"] = [6 - step for step in items["q3_8"]]  # asked the other way round
    items["q3_9"] = [2 if step == 1 and row % 20 else step for row, step in enumerate(items["q3_9"])]  # few say 1
    suggestion = suggest_for_frame(survey(**items))
    assert {name for name in items if suggestion.plan["columns"][name]["role"] == "sensitive"} == {*items}
    assert {*items} <= {promise.get("column") for promise in suggestion.plan["privacy"]}
    assert any(note.startswith("30 columns are answers") and "identify a person" in note for note in suggestion.notes)


def test_numbered_facts_on_the_same_scale_are_no_opinions() -> None:
    """Schooling, income, post and district have five codes each; the first three go together, but are few."""
    standing = [DRAW.gauss(0, 1) for _ in range(ROWS)]
    facts = {f"q{number}": steps(standing, 0.5) for number in range(1, 4)}
    facts |= {f"q{number}": [DRAW.randint(1, 5) for _ in range(ROWS)] for number in range(4, 20)}
    items = {f"q{number}": steps(MOODS, 0.8) for number in range(20, 50)}
    suggestion = suggest_for_frame(survey(**facts, **items))
    told = {name for name, reason in suggestion.reasons.items() if "goes up and down with" in reason}
    assert told == {*items}


def test_a_few_answers_need_no_note() -> None:
    assert not suggest_for_frame(survey(**{f"q3_{number}": steps(MOODS, 0.8) for number in range(1, 7)})).notes
