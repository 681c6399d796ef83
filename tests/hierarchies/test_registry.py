"""All kinds of hierarchy: read from a plan, bound to any values, monotone with one root."""

import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.hierarchies.registry import HIERARCHY, TYPES
from sfumato.schema.composite import read

PLANS = {
    "date": {"type": "date", "format": "%Y%m%d", "levels": ["day", "month", "year"]},
    "digits": {"type": "digits", "from": "left"},
    "digits of a length": {"type": "digits", "length": 2},
    "intervals": {"type": "intervals", "start": -20, "end": 20, "widths": [3, 6], "top": 10},
    "decimal intervals": {"type": "intervals", "start": 0, "end": 9, "bounds": [[0.5, 1, 4], [1]], "bottom": 0.25},
    "tree": {"type": "tree", "parents": {"1": "odd", "3": "odd", "2": "even", "odd": "number", "x": "*"}},
    "order": {"type": "order", "size": 3},
    "order of groups": {"type": "order", "groups": [2, 4, 12]},
    "any": {"type": "any"},
    "any of a domain": {"type": "any", "values": [1, 2, "x"]},
}
values = st.one_of(
    st.text(max_size=4),
    st.integers(-30, 30).map(str),
    st.decimals(-1, 10, places=2).map(str),
    st.dates().map(lambda day: day.strftime("%Y%m%d")),
)


def test_all_types_are_there():
    assert set(TYPES) == {"date", "digits", "intervals", "tree", "order", "any", "file"}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_plans_fit_the_schema_and_are_read(plan):
    jsonschema.validate(plan, HIERARCHY.schema())
    hierarchy = read(HIERARCHY, plan)
    assert hierarchy.resolve_paths(Path("elsewhere")) == hierarchy


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(PLANS)), st.lists(values, unique=True, max_size=12), st.randoms())
def test_every_value_is_on_a_ladder_or_rejected(name, column, random):
    hierarchy = read(HIERARCHY, PLANS[name])
    binding = hierarchy.fit(column)
    ladder = binding.hierarchy
    assert set(column) - set(binding.rejected) <= set(ladder.values)
    assert not set(binding.rejected) & set(ladder.values)
    assert len(binding.rejected) <= len(column)
    assert ladder.labels[0] == ladder.values
    assert all(len(set(labels)) == len(labels) for labels in ladder.labels)
    assert set(ladder.labels[-1][0]) == {"*"}
    if ladder.numbers is not None:
        assert bool((np.diff(ladder.numbers) >= 0).all())
    shuffled = random.sample(column, len(column))
    assert hierarchy.fit(shuffled).hierarchy.rows() == ladder.rows()


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"type": "dates"}, 'Did you mean "date"?'),
        ({"type": "date", "levels": ["months"]}, 'Did you mean "month"?'),
        ({"type": "digits", "lenght": 5}, 'Did you mean "length"?'),
        ({"type": "tree"}, "parents: is missing"),
        ({"type": "file", "path": "x.csv", "separator": "ab"}, "separator"),
        ({"length": 5}, "type: is missing"),
    ],
)
def test_faults_come_with_the_way_out(plan, words):
    with pytest.raises(PlanError) as caught:
        read(HIERARCHY, plan, "columns.x.hierarchy")
    assert words in str(caught.value)
    assert str(caught.value).startswith("columns.x.hierarchy")


def documented():
    """The hierarchies in the examples of the documentation."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "hierarchies.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    columns = [yaml.safe_load(line) for block in blocks for line in block.splitlines()]
    return [column["hierarchy"] for entry in columns for column in entry.values()]


def test_documented_examples_are_read_and_cover_every_type():
    examples = documented()
    assert {example["type"] for example in examples} == set(TYPES)
    for example in examples:
        read(HIERARCHY, example)


def test_two_texts_of_one_number_have_an_order_of_their_own() -> None:
    hierarchy = read(HIERARCHY, {"type": "intervals", "start": 0, "end": 10, "widths": [2.5], "bottom": 0.25})
    one, other = (hierarchy.fit(texts).hierarchy.rows() for texts in (["-1", "-1.00", "3"], ["3", "-1.00", "-1"]))
    assert one == other
