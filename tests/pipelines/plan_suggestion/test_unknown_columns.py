"""Columns of unknown meaning: how they are published, and how many persons are unique by two of them."""

import random

import numpy as np
import pytest

from sfumato.hierarchies.role_detection.profile import Profile
from sfumato.pipelines.plan_suggestion.estimated_classes import KnownRows, estimated_classes
from sfumato.pipelines.plan_suggestion.unknown_columns import forms_of, unique_share
from sfumato.pipelines.suggest import suggest_for_frame

polars = pytest.importorskip("polars")


def loans(rows=2400):
    draw = random.Random(5)
    for _ in range(rows):
        risk = draw.random()
        yield {
            "age": str(draw.randrange(20, 70)),
            "sex": draw.choice("mf"),
            "dny": "yes" if draw.random() < 0.1 + 0.2 * risk else "no",
            "lvq": f"{draw.gauss(0.7, 0.1):.4f}",
            "mhz": str(draw.choice((1, 1, 1, 2, 2, 3, 4))),
            "note": f"called {draw.randrange(10**6)} times, then wrote",
        }


def test_each_published_value_has_enough_persons():
    counts = {f"{number / 100:.2f}": 1 + number % 7 for number in range(300)}
    forms = forms_of(Profile("x", counts, sum(counts.values())), 5)
    for form in forms:
        sizes = np.bincount(form.codes([*counts]), weights=[*counts.values()])
        assert sizes[sizes > 0].min() >= 5
    widths = [len({*form.codes([*counts]).tolist()}) for form in forms]
    assert widths == sorted(widths, reverse=True) and len(widths) > 3


def test_rows_of_one_person_are_unique_together():
    keys = np.array([0, 0, 1, 1, 2])
    rows = KnownRows(np.zeros((5, 1), np.int64), np.ones(1), np.array([7, 7, 7, 8, 9]), np.ones(5, np.int64))
    assert unique_share(keys, rows) == pytest.approx(2 / 3)
    owners, left = estimated_classes(rows, 2)
    assert {*owners.tolist()} == {0} and left == 1


def test_what_nobody_can_place_is_kept_and_texts_are_not():
    proposal = suggest_for_frame(polars.DataFrame([*loans()]))
    roles = {name: entry["role"] for name, entry in proposal.plan["columns"].items()}
    assert (roles["dny"], roles["mhz"]) == ("sensitive", "sensitive") and roles["note"] in ("identifier", "undecided")
    codes = {note.code: note.values for note in proposal.notes}
    assert codes["note.unknown_kept"]["count"] == sum(role == "sensitive" for role in roles.values())
    assert proposal.plan["on_inference"] == "remove"


def test_a_question_keeps_what_it_needs_and_texts_are_refused_with_a_price():
    from sfumato.microdata.questions.question import questions_of

    questions = questions_of(["dny ~ lvq + age", "count by note"])
    proposal = suggest_for_frame(polars.DataFrame([*loans()]), questions)
    columns = proposal.plan["columns"]
    assert (columns["dny"]["role"], columns["lvq"]["role"]) == ("sensitive", "sensitive")
    assert columns["age"].get("weight", 1) == 1 and columns["sex"]["weight"] < 1
    codes = {note.code: note.values for note in proposal.notes}
    assert codes["note.question_without"]["name"] == "note" and codes["note.question_without"]["rows"] > 0
