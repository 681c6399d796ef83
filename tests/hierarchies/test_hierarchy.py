"""The ladder refuses what is none, and counts what its labels cover."""

import numpy as np
import pytest

from sfumato.errors import PlanError
from sfumato.hierarchies.hierarchy import Hierarchy, make_hierarchy


def test_a_ladder_that_parts_what_it_had_merged_is_refused_with_the_values():
    with pytest.raises(PlanError) as caught:
        make_hierarchy(["a", "b", "c"], [["x", "x", "y"], ["1", "2", "2"]])
    assert caught.value.code == "plan.hierarchy-not-monotone"
    assert caught.value.values == ("a", "b")
    assert "level 2" in caught.value.message
    assert '"a"' not in str(caught.value)


def test_a_root_is_added_unless_the_last_level_is_one_label_of_stars():
    cases = {
        "no level": ([], ("*",)),
        "two labels": ([["x", "y"]], ("*",)),
        "one label that is a word": ([["x", "x"]], ("*",)),
        "stars": ([["x", "y"], ["***", "***"]], ("***",)),
    }
    for name, (levels, root) in cases.items():
        assert make_hierarchy(["a", "b"], levels).labels[-1] == root, name


def test_an_empty_domain_keeps_its_levels_and_root():
    ladder = make_hierarchy([], [[], []])
    assert (ladder.height, ladder.size, ladder.labels[-1]) == (3, 0, ("*",))
    assert ladder.with_missing().published(None, 2) == "*"


def test_levels_must_have_a_label_for_every_value():
    with pytest.raises(ValueError, match="every level"):
        Hierarchy(("a", "b"), (("a", "b"), ("*",)), (np.arange(2, dtype=np.int32), np.zeros(1, np.int32)))


def test_two_roots_are_refused():
    with pytest.raises(ValueError, match="one root"):
        Hierarchy(("a", "b"), (("a", "b"),), (np.arange(2, dtype=np.int32),))


def test_penalties_are_the_share_of_the_domain_covered():
    ladder = make_hierarchy(["a", "b", "c", "d", "e"], [["x", "x", "x", "y", "y"]])
    assert ladder.penalties[0].tolist() == [0, 0, 0, 0, 0]
    assert ladder.penalties[1].tolist() == [0.5, 0.25]
    assert ladder.penalties[2].tolist() == [1]


def test_the_missing_value_is_no_part_of_the_domain():
    ladder = make_hierarchy(["a", "b", "c"], [["x", "x", "y"]]).with_missing()
    assert ladder.published(None, 1) is None
    assert ladder.published(None, 2) == "*"
    assert ladder.penalties[1].tolist() == [0.5, 0, 0]
    assert ladder.with_missing() is ladder


def test_step_leads_from_labels_to_labels():
    ladder = make_hierarchy(["a", "b", "c", "d"], [["x", "x", "y", "z"], ["u", "u", "u", "v"]])
    assert ladder.step(1, 2).tolist() == [0, 0, 1]
    assert ladder.step(0, 3).tolist() == [0, 0, 0, 0]
