"""Primary rules: which cells they call unsafe and how far the ranges must reach."""

import numpy as np
import pytest

from refusals import coded
from sfumato.errors import DataError, PlanError
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.plan import rules as primary
from sfumato.tables.plan.rules import GroupDisclosure

COLUMNS = TextColumns({"mark": ("u", "z", "s", ""), "ask": ("1", "no", "yes", "")})


def facts(**changes):
    given = {
        "values": np.array([100.0, 50.0, 20.0, 0.0]),
        "frequency": np.array([10.0, 3.0, 2.0, 0.0]),
        "holdings": np.array([5.0, 1.0, 2.0, 0.0]),
        "contributions": (np.array([80.0, 20.0, 15.0, 0.0]), np.array([15.0, 20.0, 5.0, 0.0])),
        "finest": np.array([False, True, True, True]),
        "counts": False,
        "columns": COLUMNS,
    }
    return primary.RuleInputs(**(given | changes))


CASES = {
    "range counts finest cells only": (primary.RangeRule(20, 100), [0, 1, 1, 0], [0, 30, 0, 0], [0, 50, 80, 0]),
    "frequency": (primary.Frequency(3), [0, 0, 1, 0], [0, 0, 2, 0], [0, 0, 2, 0]),
    "zero unsafe": (primary.ZeroUnsafe(4), [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 4]),
    "dominance": (primary.Dominance(1, 75), [1, 0, 0, 0], [80 / 0.75 - 100, 0, 0, 0], [80 / 0.75 - 100, 0, 0, 0]),
    "p percent": (primary.PriorPosterior(10), [1, 0, 1, 0], [3, 0, 1.5, 0], [3, 0, 1.5, 0]),
    "pq": (primary.PriorPosterior(10, 50), [1, 0, 1, 0], [11, 0, 3, 0], [11, 0, 3, 0]),
    "holdings": (primary.Holdings(2), [0, 1, 0, 0], [0, 5, 0, 0], [0, 5, 0, 0]),
    "request": (primary.Request("ask"), [1, 0, 1, 0], [10, 0, 2, 0], [10, 0, 2, 0]),
    "request of the large": (primary.Request("ask", 78), [1, 0, 0, 0], [10, 0, 0, 0], [10, 0, 0, 0]),
    "status": (primary.StatusColumn("mark"), [1, 0, 0, 0], [10, 0, 0, 0], [10, 0, 0, 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_rules(name):
    rule, unsafe, down, up = CASES[name]
    found = rule.apply(facts())
    assert found.unsafe.tolist() == [bool(flag) for flag in unsafe]
    assert found.reach.lower == pytest.approx(down)
    assert found.reach.upper == pytest.approx(up)


def test_range_makes_its_bounds_public():
    found = primary.RangeRule(1, 60).apply(facts())
    assert found.bounds.low.tolist() == [-np.inf, 1, 1, -np.inf]
    assert found.bounds.high.tolist() == [np.inf, 60, 60, np.inf]


def test_statuses_of_offices_are_known():
    found = primary.StatusColumn("mark").apply(facts(columns=TextColumns({"mark": ("1", "3", "9", "11")})))
    assert found.unsafe.tolist() == [False, True, True, False]


def test_status_says_what_must_be_published():
    assert primary.StatusColumn("mark").apply(facts()).published.tolist() == [False, True, False, False]


def test_waiver_overrules_and_the_widest_reach_counts():
    rules = (primary.Holdings(3), primary.Frequency(4), primary.Waiver("mark", ("z",)))
    found = primary.combine([rule.apply(facts()) for rule in rules], 4)
    assert found.unsafe.tolist() == [False, False, True, False]
    both = primary.combine([primary.PriorPosterior(10).apply(facts()), primary.Frequency(11).apply(facts())], 4)
    assert both.reach.upper == pytest.approx([10, 5, 2, 0])


@pytest.mark.parametrize(
    ("rule", "missing"),
    [
        (primary.Dominance(3, 75), {}),
        (primary.PriorPosterior(10), {"contributions": ()}),
        (primary.Frequency(3), {"frequency": None}),
        (primary.Holdings(2), {"holdings": None}),
        (primary.Request("nobody"), {}),
    ],
)
def test_rules_say_what_they_miss(rule, missing):
    with pytest.raises(PlanError):
        rule.apply(facts(**missing))


@pytest.mark.parametrize("rule", [primary.PriorPosterior(10), primary.Dominance(1, 75), primary.Dominance(2, 85)])
def test_losses_are_as_telling_as_profits(rule):
    """A single respondent with a loss, one who outweighs another, and many of like size."""
    values = np.array([-100.0, -90.0, -500.0, 0.0])
    largest = np.array([-100.0, 10.0, -60.0, 50.0]), np.array([0.0, -100.0, -55.0, -50.0])
    found = rule.apply(facts(values=values, contributions=largest, frequency=np.array([1.0, 2.0, 12.0, 2.0])))
    assert found.unsafe.tolist() == [True, True, False, True]
    assert (found.reach.upper[[0, 1, 3]] > 0).all()


def test_levels_of_respondents_and_holdings_are_judged_beside_each_other():
    both = facts(singles=(np.array([40.0, 20.0, 15.0, 0.0]), np.array([40.0, 20.0, 5.0, 0.0])))
    assert primary.Dominance(1, 75).apply(both).unsafe.tolist() == [True, False, False, False]
    assert primary.Dominance(1, 60, "respondent").apply(both).unsafe.tolist() == [False, False, True, False]
    with pytest.raises(PlanError, check=coded("plan.no-contributions")) as error:
        primary.PriorPosterior(10, level="respondent").apply(facts())
    assert error.value.code == "plan.no-contributions"


LINES = {"sex": np.array([-1, 0, 0, 0])}


@pytest.mark.parametrize(
    ("values", "rule", "unsafe", "up"),
    [
        ([10.0, 10.0, 0.0, 0.0], GroupDisclosure("sex"), [0, 0, 1, 0], 1),
        ([10.0, 9.0, 1.0, 0.0], GroupDisclosure("sex"), [0, 0, 0, 0], 0),
        ([10.0, 9.0, 1.0, 0.0], GroupDisclosure("sex", 90), [0, 0, 1, 0], 1),
        ([20.0, 19.0, 1.0, 0.0], GroupDisclosure("sex", 90), [0, 0, 1, 0], 2),
        ([10.0, 9.0, 1.0, 0.0], GroupDisclosure("sex", 100, 2), [0, 0, 0, 1], 1),
        ([10.0, 9.0, 1.0, 0.0], GroupDisclosure("sex", 100, 3), [0, 0, 0, 0], 0),
        ([0.0, 0.0, 0.0, 0.0], GroupDisclosure("sex"), [0, 0, 0, 0], 0),
    ],
)
def test_a_group_that_is_in_few_categories_is_disclosed(values, rule, unsafe, up):
    judgment = rule.apply(facts(values=np.array(values), counts=True, lines=LINES))
    assert judgment.unsafe.tolist() == [bool(flag) for flag in unsafe]
    assert judgment.reach.upper.max() == up


def test_group_disclosure_is_for_counts_with_that_dimension():
    for wrong in (facts(lines=LINES), facts(counts=True)):
        with pytest.raises(PlanError) as error:
            GroupDisclosure("sex").apply(wrong)
        assert error.value.code == "plan.no-dimension"


def test_a_mark_that_nobody_gave_a_meaning_is_refused():
    """A cell with a misspelt mark would be published as if it were safe."""
    marks = TextColumns({"mark": ("s", "u", "weird", "")})
    with pytest.raises(DataError, check=coded("data.status-mark.unknown_marks")) as caught:
        primary.StatusColumn("mark").apply(facts(columns=marks))
    assert list(caught.value.values) == ["weird"]
    assert primary.StatusColumn("mark", safe=("s", "", "weird")).apply(facts(columns=marks)).unsafe.sum() == 1


def test_marks_that_no_cell_has_are_refused():
    marks = TextColumns({"mark": ("s", "s", "s", "s")})
    with pytest.raises(DataError, check=coded("data.status-mark.no_sensitive_mark")):
        primary.check_marks([primary.StatusColumn("mark", sensitive=("3",))], marks)
    primary.check_marks([primary.StatusColumn("mark")], marks)
