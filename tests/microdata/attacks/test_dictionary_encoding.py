"""Columns that hold each text once are read as lists of texts are."""

import numpy as np
import pytest

from sfumato.microdata.attacks import inference as learned_inference
from sfumato.microdata.attacks.coded_rows import CodedTexts, coded_rows
from sfumato.microdata.attacks.inference import Trees

TEXTS = ["b", None, "a", "b", "c", "a", None, "d"]


def test_rows_are_taken_joined_and_changed() -> None:
    column = CodedTexts.of(TEXTS)
    assert [*column] == TEXTS and column[3] == "b" and [*column[2:4]] == ["a", "b"]
    some = column.taken(np.array([5, 4, 0]))
    assert [*some] == ["a", "c", "b"]
    assert [*some.joined(CodedTexts.of(["z", "a"]))] == ["a", "c", "b", "z", "a"]
    assert [*column.mapped(lambda texts: [None if text == "a" else text for text in texts])] == [
        None if text == "a" else text for text in TEXTS
    ]


def test_different_texts_come_as_the_rows_do() -> None:
    """What is drawn by chance depends on it: the same rows give the same attacks, however they were read."""
    some = CodedTexts.of(TEXTS).taken(np.array([5, 4, 0, 5]))
    texts, codes = some.distinct
    assert texts == ("a", "c", "b") and codes.tolist() == [0, 1, 2, 0]


def test_trees_learn_from_some_of_very_many_rows(monkeypatch) -> None:
    pytest.importorskip("sklearn")
    monkeypatch.setattr(learned_inference, "MOST_ROWS", 100)
    columns = {"ward": ["x", "y"] * 200, "kind": ["a", "b"] * 200}
    rows = coded_rows(columns, columns, columns, ["ward"], ["kind"])
    said = Trees(rows["kind"], [rows["ward"]], 1).answers({"raw": np.arange(6, dtype=np.int32)})
    assert [rows["kind"].labels[code] for code in said["raw"]] == ["a", "b"] * 3
