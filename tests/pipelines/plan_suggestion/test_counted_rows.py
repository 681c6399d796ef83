"""Rows counted once: the same counts as the engine's, which is asked twice at most."""

import polars
import pytest

from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.engines.engine import MissingRules
from sfumato.pipelines.plan_suggestion import counted_rows
from sfumato.pipelines.plan_suggestion.counted_rows import CountedRows

FRAME = polars.DataFrame({"a": ["x", "y", "x", None], "b": ["1", "1", "2", "2"], "c": ["p", "p", "p", "q"]})


class Asked:
    """An engine that remembers what it was asked for."""

    def __init__(self) -> None:
        self.engine = FrameEngine(FRAME)
        self.questions: list[tuple[str, ...]] = []

    @property
    def columns(self) -> tuple[str, ...]:
        return self.engine.columns

    def count(self, columns, reading):
        self.questions.append(tuple(columns))
        return self.engine.count(columns, reading)


def counted(text_counts):
    texts = [[text_counts.values[place][code] for place, code in enumerate(row)] for row in text_counts.codes.tolist()]
    return sorted(zip(map(repr, texts), text_counts.counts.tolist(), strict=True))


@pytest.mark.parametrize("most", [0, 1_000])
def test_counts_are_those_of_the_engine(monkeypatch, most):
    monkeypatch.setattr(counted_rows, "_MOST_CELLS", most)
    rows, engine = CountedRows(Asked()), FrameEngine(FRAME)
    assert rows.texts["a"] == {"x": 2, "y": 1, None: 1}
    assert rows.texts["c"] == {"p": 3, "q": 1}
    for columns in (("a",), ("c", "a"), ("a", "b", "c")):
        assert counted(rows.count(columns, MissingRules())) == counted(engine.count(columns, MissingRules()))


def test_few_rows_leave_the_engine_once():
    asked = Asked()
    rows = CountedRows(asked)
    assert len(rows.texts) == 3
    rows.count(("b", "c"), MissingRules())
    assert asked.questions == [("a",), ("a", "b", "c")]


def test_no_column_is_counted_for_the_number_of_rows_alone_where_few_are_expected():
    """The first column of a million rows is often their key: to count it costs as much as all others together."""
    asked = Asked()
    asked.expected_rows = lambda: 4
    assert len(CountedRows(asked).texts) == 3
    assert asked.questions == [("a", "b", "c")]


def test_rows_that_are_dropped_are_counted_by_the_engine():
    asked = Asked()
    assert CountedRows(asked).count(("b",), MissingRules(required=("a",))).counts.sum() == 3
    assert asked.questions[-1] == ("b",)
