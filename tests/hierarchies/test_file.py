"""Hierarchy files: read in the layout of ARX, refused with their place, and the same again after saving."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import PlanError
from sfumato.hierarchies.dates import Dates
from sfumato.hierarchies.hierarchy import hierarchy_csv, make_hierarchy
from sfumato.hierarchies.intervals import Intervals
from sfumato.hierarchies.lists import CharacterMasking, HierarchyFile
from sfumato.schema.paths import PlanPath


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
        ("a;x;*\nb;x;*\na;y;*\n", "duplicate", "line 3"),
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


def test_a_separator_is_one_character():
    with pytest.raises(ValueError, match="separator"):
        HierarchyFile("x.csv", "||")


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
