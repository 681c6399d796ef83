"""Hierarchy builders for texts, and the registry that plans and functions make them from."""

import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.hierarchies.dates import Dates
from sfumato.hierarchies.hierarchy import hierarchy_csv, make_hierarchy
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.lists import MAX_LENGTH, CharacterMasking, HierarchyFile, Order, SuppressAll, Tree
from sfumato.hierarchies.registry import HIERARCHY, TYPES
from sfumato.schema.composite import read
from sfumato.schema.paths import PlanPath

MARITAL = Tree(
    {
        "Never-married": "NM",
        "Married-civ-spouse": "Married",
        "Married-AF-spouse": "Married",
        "Divorced": "leave",
        "Separated": "leave",
        "Widowed": "alone",
        "Married-spouse-absent": "alone",
    }
)
DISEASES = Tree({"I10.0": "I10", "I10.9": "I10", "I10": "Heart"})
LONG = "9" * (MAX_LENGTH + 1)

# A builder, the values of a column, the rows of its hierarchy (None where others prove them), and the rejected values.
KNOWN = {
    "the six levels of a postcode": (
        CharacterMasking(5),
        ["1234", "12345", "123456", ""],
        [("12345", "1234*", "123**", "12***", "1****", "*****")],
        ["1234", "123456", ""],
    ),
    "masked from the left": (CharacterMasking(3, "left"), ["abc"], [("abc", "*bc", "**c", "***")], []),
    "shorter values count as masked already": (
        CharacterMasking(),
        ["AB123", "AB1"],
        [("AB1", "AB1**", "AB1**", "AB***", "A****", "*****"), ("AB123", "AB12*", "AB1**", "AB***", "A****", "*****")],
        [],
    ),
    "also from the left": (
        CharacterMasking(side="left"),
        ["123", "3"],
        [("123", "*23", "**3", "***"), ("3", "**3", "**3", "***")],
        [],
    ),
    "the root is of stars whatever masks": (CharacterMasking(2, character="x"), ["12"], [("12", "1x", "**")], []),
    "texts too long for a code": (CharacterMasking(), [LONG, "12"], [("12", "1*", "**")], [LONG]),
    "codes of unequal spelling are one place": (
        CharacterMasking(shown=(5, 3)),
        ["27511", "27511-1234", "2751"],
        [("27511", "27511", "275**", "*****"), ("27511-1234", "27511", "275**", "*****")],
        ["2751"],
    ),
    "higher leaves repeat their label": (
        Tree({"Bonn": "Rhein", "Rhein": "NRW", "NRW": "Germany", "Ulm": "Germany", "Wien": "*"}),
        [],
        [
            ("Bonn", "Rhein", "NRW", "Germany", "*"),
            ("Ulm", "Ulm", "Ulm", "Germany", "*"),
            ("Wien", "Wien", "Wien", "Wien", "*"),
        ],
        [],
    ),
    "inner labels are values if the data have them": (
        DISEASES,
        ["I10"],
        [("I10.0", "I10", "Heart", "*"), ("I10.9", "I10", "Heart", "*"), ("I10", "I10", "Heart", "*")],
        [],
    ),
    "one top that is no star is below it": (
        Tree({"a": "x", "b": "x"}),
        [],
        [("a", "x", "*"), ("b", "x", "*")],
        [],
    ),
    "values outside a tree": (MARITAL, ["Divorced", "single", "*"], None, ["single", "*"]),
    "a listed order is the domain": (
        Order(size=2, values=("low", "medium", "high")),
        ["high", "other"],
        [("low", "low..medium", "*"), ("medium", "low..medium", "*"), ("high", "high", "*")],
        ["other"],
    ),
    "any": (SuppressAll(), ["m", "f"], [("f", "*"), ("m", "*")], []),
    "any of a domain": (SuppressAll(("m", "f")), ["f", "x"], [("m", "*"), ("f", "*")], ["x"]),
}


@pytest.mark.parametrize(("builder", "column", "rows", "rejected"), KNOWN.values(), ids=KNOWN)
def test_known_hierarchies(builder, column, rows, rejected):
    binding = builder.fit(column)
    assert list(binding.rejected) == rejected
    assert rows is None or binding.hierarchy.rows() == rows


def test_labels_above_the_values():
    assert CharacterMasking(5).fit(["72062", "72021", "63331"]).hierarchy.labels[2:4] == (
        ("633**", "720**"),
        ("63***", "72***"),
    )
    assert CharacterMasking(shown=(4,), side="left").fit(["A-1234", "1234"]).hierarchy.published("A-1234", 1) == "1234"
    assert MARITAL.fit(["Divorced"]).hierarchy.labels[1:] == (("NM", "Married", "leave", "alone"), ("*",))
    assert DISEASES.fit(["Heart"]).hierarchy.published("Heart", 1) == "Heart"
    powers = Order(size=2).fit(list("gfedcba")).hierarchy
    assert powers.labels[1:] == (("a..b", "c..d", "e..f", "g"), ("a..d", "e..g"), ("*",))
    groups = Order(groups=(3, 6)).fit(list("abcdefg")).hierarchy
    assert groups.labels[1:] == (("a..c", "d..f", "g"), ("a..f", "g"), ("*",))


def test_numbers_are_in_order_of_size_and_texts_of_letters():
    numeric = Order(size=2).fit(["10", "9", "2.5"]).hierarchy
    assert (numeric.values, numeric.numbers.tolist()) == (("2.5", "9", "10"), [2.5, 9, 10])
    mixed = Order(size=2).fit(["10", "9", "x"]).hierarchy
    assert (mixed.values, mixed.numbers) == (("10", "9", "x"), None)


@pytest.mark.parametrize("builder", [CharacterMasking(), Order(size=2)])
@pytest.mark.parametrize("column", [[], ["7"], [""]])
def test_short_domains(builder, column):
    assert builder.fit(column).hierarchy.height == 2


@pytest.mark.parametrize(
    ("builder", "parameters", "code"),
    [
        (Tree, {"parents": {}}, "no_child"),
        (Tree, {"parents": {"*": "a"}}, "root"),
        (Tree, {"parents": {"a": "a"}}, "cycle"),
        (Tree, {"parents": {"a": "b", "b": "c", "c": "a"}}, "cycle"),
        (Order, {}, "groups_or_size"),
        (Order, {"groups": (2,), "size": 2}, "groups_or_size"),
        (Order, {"groups": (2, 3)}, "no_nesting"),
        (Order, {"groups": (2, 2)}, "no_nesting"),
        (Order, {"size": 2, "values": ("a", "a")}, "duplicate_values"),
        (SuppressAll, {"values": ("m", "m")}, "duplicate_values"),
        (HierarchyFile, {"path": "x.csv", "separator": "||"}, "one_sign"),
    ],
)
def test_faults_of_parameters(builder, parameters, code):
    with pytest.raises(ValueError) as caught:
        builder(**parameters)
    assert getattr(caught.value.args[0], "code", None) == (code and f"error.value.{code}")


@pytest.mark.parametrize("entry", [{"length": 0}, {"length": 5, "from": "middle"}, {"character": "**"}, {"lenght": 5}])
def test_faults_of_plans(entry):
    with pytest.raises(PlanError):
        read(TYPES["digits"], entry)


# Hierarchy files: read in the layout of ARX, refused with their place, and the same again after saving.


@pytest.fixture
def written(tmp_path):
    def write(content, separator=";"):
        path = tmp_path / "ladder.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return HierarchyFile(PlanPath(path), separator)

    return write


def test_values_stand_in_the_order_of_the_file(written):
    binding = written("b;x;*\na;x;*\nc;y;*\n").fit(["a", "z"])
    assert binding.hierarchy.rows() == [("b", "x", "*"), ("a", "x", "*"), ("c", "y", "*")]
    assert binding.rejected == ("z",)


def test_a_root_is_added_when_it_is_not_there(written):
    assert written("a;x\nb;y\n").fit([]).hierarchy.labels[-1] == ("*",)
    assert written("a\nb\n").fit([]).hierarchy.rows() == [("a", "*"), ("b", "*")]


def test_quotes_marks_and_blank_lines(written):
    ladder = written('\ufeff"a;1";"say ""x""";*\r\n\r\nb;y;*\r\n'.encode()).fit([]).hierarchy
    assert ladder.rows() == [("a;1", 'say "x"', "*"), ("b", "y", "*")]
    assert written("a,x\n", ",").fit([]).hierarchy.rows() == [("a", "x", "*")]


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ("", "empty", "empty"),
        ("a;x;*\nb;y\n", "ragged", "line 2"),
        ("a;x;*\nb;x;*\na;y;*\n", "duplicate", "lines 3"),
        ("a;x;1\nb;y;2\nc;x;2\n", "not-monotone", "lines 1, 3"),
        (b"\xe4;x\n", "encoding", "UTF-8"),
        ('a;"x\n', "quotes", "line"),
    ],
)
def test_faults_name_their_place(written, content, code, words):
    with pytest.raises(PlanError) as caught:
        written(content).fit([])
    assert caught.value.code == f"plan.hierarchy-{code}"
    assert "ladder.csv" in caught.value.message
    assert words in caught.value.message


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(PlanError) as caught:
        HierarchyFile(PlanPath("nothing.csv")).resolve_paths(tmp_path).fit([])
    assert caught.value.code == "plan.hierarchy-unreadable"


def test_paths_are_located_from_a_folder_unless_absolute(tmp_path):
    assert HierarchyFile(PlanPath("x.csv")).resolve_paths(tmp_path).path == str(tmp_path / "x.csv")
    absolute = str(tmp_path / "y.csv")
    assert HierarchyFile(PlanPath(absolute)).resolve_paths(tmp_path / "other").path == absolute


def same(ladder, path):
    path.write_text(hierarchy_csv(ladder), encoding="utf-8", newline="")
    again = HierarchyFile(PlanPath(path)).fit([]).hierarchy
    assert (again.values, again.labels) == (ladder.values, ladder.labels)
    assert [codes.tolist() for codes in again.codes] == [codes.tolist() for codes in ladder.codes]
    assert [level.tolist() for level in again.penalties] == [level.tolist() for level in ladder.penalties]


@pytest.mark.parametrize(
    "ladder",
    [
        Dates("%Y%m%d").fit(["20170110", "19780808", "19780809"]).hierarchy,
        CharacterMasking(side="left").fit(["123", "223", "45"]).hierarchy,
        CharacterMasking(3, character="x").fit(["123", "124"]).hierarchy,
        Intervals(16, 95, widths=(5, 10, 20), top=80).fit(["99"]).hierarchy,
    ],
    ids=["dates", "left digits", "masked digits", "coded intervals"],
)
def test_built_ladders_are_the_same_after_saving(ladder, tmp_path):
    same(ladder, tmp_path / "ladder.csv")


def test_the_missing_value_is_left_out_when_saving():
    assert hierarchy_csv(make_hierarchy(["a"], []).with_missing()) == "a;*\n"


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(texts, texts), unique_by=lambda row: row[0], min_size=1, max_size=8))
def test_any_texts_survive_saving(tmp_path_factory, rows):
    values, groups = zip(*rows, strict=True)
    same(make_hierarchy(values, [groups]), tmp_path_factory.mktemp("ladder") / "ladder.csv")


# All kinds of hierarchy: read from a plan, bound to any values, monotone with one root.

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
    return [column["hierarchy"] for entry in columns for column in entry.values() if "hierarchy" in column]


def test_documented_examples_are_read_and_cover_every_type():
    examples = documented()
    assert {example["type"] for example in examples} == set(TYPES)
    for example in examples:
        read(HIERARCHY, example)


def test_two_texts_of_one_number_have_an_order_of_their_own() -> None:
    hierarchy = read(HIERARCHY, {"type": "intervals", "start": 0, "end": 10, "widths": [2.5], "bottom": 0.25})
    one, other = (hierarchy.fit(texts).hierarchy.rows() for texts in (["-1", "-1.00", "3"], ["3", "-1.00", "-1"]))
    assert one == other
