"""What else could be released: the release at hand among the points, and why a method was not run, in one sentence."""

import pytest

from sfumato.errors import PlanError
from sfumato.localization.messages import words_in
from sfumato.microdata.plan.read import read_plan
from sfumato.web.microdata.method_choice import fixed_levels, free_columns
from sfumato.web.microdata.result.alternatives import HERE_SERIES, frontier_chart, frontier_legend, short_reason
from sfumato.web.microdata.result.result_figures import Point

PINNED = {
    name: {"role": "quasi-identifier", "hierarchy": {"type": "any"}, "min_level": 1, "max_level": 1} for name in "abc"
}


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_release_at_hand_is_one_of_the_points(language) -> None:
    words = words_in(language)
    points = [Point({"age": 2}, 0.5, 0, best=True), Point({"age": 1}, 0.6, 3)]
    drawn = frontier_chart(points, 100, words, Point({}, 0.2, 1))
    here = drawn["series"][HERE_SERIES]
    assert (here["name"], here["data"][0]["value"]) == (words["node_here"], [1.0, 20.0])
    assert words["node_here"] in frontier_legend(words)
    assert words.percent(0.2) in here["data"][0]["name"]


def test_chosen_levels_are_no_part_of_the_goal() -> None:
    plan = {"columns": PINNED | {"d": {"max_level": 2}}}
    assert fixed_levels(plan) == {"a": 1, "b": 1, "c": 1}
    free = free_columns(plan)
    assert free["d"] == {"max_level": 2}
    goal = {"version": 1, "privacy": [{"model": "k-anonymity", "k": 2}], "method": {"name": "mondrian"}}
    assert read_plan(goal | {"columns": {name: free[name] for name in "abc"}})


def test_why_a_method_was_not_run_is_one_sentence_without_places() -> None:
    plan = {"version": 1, "columns": PINNED, "privacy": [{"model": "k-anonymity", "k": 2}]}
    with pytest.raises(PlanError) as refused:
        read_plan(plan | {"method": {"name": "mondrian"}})
    said = short_reason(words_in(), str(refused.value))
    assert said in str(refused.value)
    assert ("columns." in said, said.count(".")) == (False, 1)
