"""Textbook tables, worked by hand; the source of each is named beside it."""

import math

import numpy as np
import pytest

from sfumato.errors import PlanError
from sfumato.hierarchies.lists import Tree
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, histogram
from sfumato.microdata.models.k_anonymity import AlphaKAnonymity, KAnonymity
from sfumato.microdata.models.l_diversity import LDiversity
from sfumato.microdata.models.likeness import BetaLikeness, DeltaDisclosure
from sfumato.microdata.models.population_lists import DeltaPresence, Subset
from sfumato.microdata.models.re_identification_risk import AverageRisk
from sfumato.microdata.models.t_closeness import TCloseness, ranks_of
from sfumato.microdata.models.uniqueness import SampleUniqueness
from sfumato.microdata.recoding.reference import holding_persons


def classes_of(*classes: list[str | None]) -> tuple[EquivalenceClasses, EquivalenceClasses]:
    """Classes with the sensitive values of their rows, and the whole table."""
    rows = [value for held in classes for value in held]
    domain = tuple(sorted(set(rows), key=lambda value: (value is None, value or "")))
    codes = np.array([domain.index(value) for value in rows], np.int32)
    owners = np.repeat(np.arange(len(classes)), [len(held) for held in classes])
    ones = np.ones(len(rows), np.int64)
    held = histogram(owners, codes, ones, len(classes), len(domain))
    sizes = np.array([len(held) for held in classes], np.int64)
    from sfumato.values import replace

    return EquivalenceClasses(sizes, {"s": held}), EquivalenceClasses(sizes, {"s": replace(held, texts=domain)})


# Machanavajjhala et al. (2007), the 4-anonymous inpatient table (zip, age, nationality) and the 3-diverse one.
FOUR_ANONYMOUS = (
    ["heart", "heart", "viral", "viral"],
    ["cancer", "heart", "viral", "viral"],
    ["cancer", "cancer", "cancer", "cancer"],
)
THREE_DIVERSE = (
    ["heart", "viral", "cancer", "cancer"],
    ["cancer", "heart", "viral", "viral"],
    ["heart", "viral", "cancer", "cancer"],
)


def test_the_inpatient_table_is_4_anonymous_and_not_diverse():
    classes, whole = classes_of(*FOUR_ANONYMOUS)
    assert KAnonymity(4).achieved(classes, whole) == 4
    assert LDiversity(2, "s").violating(classes, whole).tolist() == [False, False, True]
    assert LDiversity(2, "s").achieved(classes, whole) == 1


def test_the_second_inpatient_table_is_3_diverse():
    classes, whole = classes_of(*THREE_DIVERSE)
    assert LDiversity(3, "s").achieved(classes, whole) == 3
    # Entropy of shares 1/4, 1/4, 1/2 is 1.5 log 2, so every class is entropy 2^1.5-diverse and no more.
    assert LDiversity(2.8, "s", "entropy").achieved(classes, whole) == pytest.approx(2**1.5)
    assert not LDiversity(2.8, "s", "entropy").violating(classes, whole).any()
    assert LDiversity(2.9, "s", "entropy").violating(classes, whole).all()


@pytest.mark.parametrize(
    ("c", "least", "holds"), [(3, 2, True), (1, 2, False), (1.1, 2, True), (2, 3, False), (2.1, 3, True)]
)
def test_recursive_diversity_compares_the_first_with_the_tail(c, least, holds):
    # Counts 2, 1, 1: for l = 2 the tail is 2, for l = 3 it is 1.
    classes, whole = classes_of(["a", "a", "b", "c"])
    assert LDiversity(least, "s", "recursive", c).violating(classes, whole).tolist() == [not holds]


# Li, Li, Venkatasubramanian (2007), section 4: salaries 3k to 11k, and the classes {3,4,5}k, {6,8,11}k and {7,9,10}k.
SALARIES = (["3", "4", "5"], ["6", "8", "11"], ["7", "9", "10"])


def test_ordered_distance_of_the_salaries():
    classes, whole = classes_of(*SALARIES)
    distances = TCloseness(0.2, "s", "ordered").distances(classes, whole)
    assert distances[:2] == pytest.approx([0.375, 1 / 6])


# Li et al. (2007), the hierarchy of diseases: flu and bronchitis are 1/3 apart, flu and pulmonary embolism 2/3, flu and
# stomach cancer 1.
DISEASES = Tree(
    {
        "flu": "infection",
        "pneumonia": "infection",
        "bronchitis": "infection",
        "pulmonary edema": "lung vessels",
        "pulmonary embolism": "lung vessels",
        "gastric ulcer": "stomach",
        "stomach cancer": "stomach",
        "gastritis": "stomach",
        "colitis": "colon",
        "colon cancer": "colon",
        "infection": "respiratory",
        "lung vessels": "respiratory",
        "stomach": "digestive",
        "colon": "digestive",
    }
)


@pytest.mark.parametrize(("other", "distance"), [("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("colitis", 1)])
def test_hierarchical_distance_between_two_diseases(other, distance):
    # A class of flu alone in a table that is half flu, half another disease: half the mass has to travel.
    classes, whole = classes_of(["flu"], [other])
    found = TCloseness(0.2, "s", "hierarchical", DISEASES).distances(classes, whole)
    assert found == pytest.approx([distance / 2] * 2)


def test_hierarchical_distance_of_a_class_of_three():
    # The table: ulcer 1, gastritis 2, stomach cancer 2, flu 1, bronchitis 2, pneumonia 1 of 9. For the class gastritis,
    # flu, bronchitis: 1/9 moves within the stomach and within the infections (1/3 each), 2/9 from one system to the
    # other: 2/9 + 2/27.
    classes, whole = classes_of(
        ["gastric ulcer", "stomach cancer", "pneumonia"],
        ["gastritis", "flu", "bronchitis"],
        ["gastritis", "bronchitis", "stomach cancer"],
    )
    found = TCloseness(0.3, "s", "hierarchical", DISEASES).distances(classes, whole)
    assert found == pytest.approx([7 / 27, 8 / 27, 5 / 27])


def test_equal_distance_is_the_total_variation():
    classes, whole = classes_of(["a", "a", "a", "b"], ["b", "b", "b", "a"])
    assert TCloseness(0.1, "s").distances(classes, whole) == pytest.approx([0.25, 0.25])


def test_alpha_k_bounds_the_share_of_a_value():
    # A table of our own for the definition of Wong et al. (2006): HIV in half of a class of two is (0.5, 2)-anonymous.
    classes, whole = classes_of(["hiv", "flu"], ["hiv", "fever"], ["flu", "flu"])
    assert AlphaKAnonymity(0.5, 2, "s", ("hiv",)).violating(classes, whole).tolist() == [False, False, False]
    assert AlphaKAnonymity(0.5, 2, "s").violating(classes, whole).tolist() == [False, False, True]
    assert AlphaKAnonymity(0.5, 3, "s").violating(classes, whole).all()
    assert AlphaKAnonymity(0.5, 2, "s").achieved(classes, whole) == 1.0


def test_beta_likeness_bounds_the_relative_gain():
    # Shares in the table: a 1/2, b 1/4, c 1/4. In the first class b has 1/2: gain 1; a has 1/2: none.
    classes, whole = classes_of(["a", "a", "b", "b"], ["a", "a", "c", "c"])
    assert BetaLikeness(1, "s", "basic").achieved(classes, whole) == pytest.approx(1)
    assert not BetaLikeness(1, "s", "basic").violating(classes, whole).any()
    assert BetaLikeness(0.9, "s", "basic").violating(classes, whole).all()
    # Enhanced: -ln(3/4) = 0.288 bounds a value that three of four rows have.
    classes, whole = classes_of(["a"] * 4, ["a", "a", "b", "b"])
    assert BetaLikeness(5, "s", "basic").violating(classes, whole).tolist() == [False, False]
    assert BetaLikeness(5, "s", "enhanced").violating(classes, whole).tolist() == [True, False]


def test_delta_disclosure_bounds_both_sides():
    # Shares in the table: a 1/2, b 1/2. In the first class a has 3/4: ln 1.5; b has 1/4: ln 2.
    classes, whole = classes_of(["a", "a", "a", "b"], ["a", "b", "b", "b"])
    assert DeltaDisclosure(1, "s").achieved(classes, whole) == pytest.approx(math.log(2))
    assert not DeltaDisclosure(0.7, "s").violating(classes, whole).any()
    assert DeltaDisclosure(0.69, "s").violating(classes, whole).all()


def test_delta_presence_bounds_the_share_of_the_study():
    # A table of our own for the definition of Nergiz et al. (2007):
    # with 1 of 2, 2 of 3 and 2 of 4 persons in the study, the release is (1/2, 2/3)-present.
    classes = whole = holding_persons(EquivalenceClasses(np.array([1, 2, 2])), np.array([2, 3, 4]))
    assert not DeltaPresence(1 / 2, 2 / 3, Subset("s", "yes")).violating(classes, whole).any()
    assert DeltaPresence(0.55, 2 / 3, Subset("s", "yes")).violating(classes, whole).tolist() == [True, False, True]
    assert DeltaPresence(0.1, 0.6, Subset("s", "yes")).violating(classes, whole).tolist() == [False, True, False]


def test_average_risk_and_uniqueness_of_sizes():
    classes = EquivalenceClasses(np.array([1, 1, 2, 4]))
    assert AverageRisk(0.5).is_satisfied(classes)
    assert AverageRisk(0.4).classes_to_suppress(classes).tolist() == [True, True, False, False]
    assert AverageRisk(0.2).classes_to_suppress(classes).all()
    assert SampleUniqueness(0.25).is_satisfied(classes)
    assert SampleUniqueness(0.24).classes_to_suppress(classes).tolist() == [True, True, False, False]


# Undefined cases have stated answers.


def test_a_class_with_one_sensitive_value():
    classes, whole = classes_of(["a", "a"], ["a", "b"])
    assert LDiversity(1, "s").violating(classes, whole).tolist() == [False, False]
    assert LDiversity(1.5, "s", "entropy").violating(classes, whole).tolist() == [True, False]
    assert LDiversity(2, "s", "recursive", 100).violating(classes, whole).tolist() == [True, False]
    assert DeltaDisclosure(9, "s").violating(classes, whole).tolist() == [True, False]
    assert DeltaDisclosure(9, "s").achieved(classes, whole) == math.inf


@pytest.mark.parametrize(
    "model", [LDiversity(2, "s"), LDiversity(2, "s", "entropy"), LDiversity(2, "s", "recursive", 9)]
)
def test_a_missing_value_adds_nothing_to_diversity(model):
    classes, whole = classes_of([None, None], [None, "a"], ["a", "b"], ["a", "b", None])
    assert model.violating(classes, whole).tolist() == [True, True, False, False]
    assert "has 1" in (LDiversity(2, "s").infeasibility(classes_of([None, "a"])[1]) or "")


def test_missing_sensitive_values_are_one_value_of_their_own_to_shares():
    classes, whole = classes_of([None, None], [None, "a"], ["a", "b"])
    assert AlphaKAnonymity(0.5, 1, "s").violating(classes, whole).tolist() == [True, False, False]
    assert ranks_of(("3", "20", None), (), "s").tolist() == [0, 1, 2]
    hierarchical = TCloseness(0.5, "s", "hierarchical", Tree({"a": "x", "b": "x"}))
    assert hierarchical.distances(*classes_of([None], ["a"])) == pytest.approx([0.5, 0.5])


def test_t_of_zero_asks_for_the_same_shares():
    classes, whole = classes_of(["a", "b"], ["a", "a", "b", "b"])
    assert not TCloseness(0, "s").violating(classes, whole).any()
    classes, whole = classes_of(["a", "b"], ["a", "a", "b"])
    assert TCloseness(0, "s").violating(classes, whole).all()


@pytest.mark.parametrize(
    "model",
    [
        TCloseness(0, "s"),
        TCloseness(0, "s", "ordered", order=("a", "b")),
        TCloseness(0, "s", "hierarchical", Tree({"a": "x"})),
        BetaLikeness(0, "s"),
        DeltaDisclosure(0.1, "s"),
        LDiversity(1, "s"),
        AlphaKAnonymity(1, 1, "s"),
    ],
    ids=lambda model: f"{model.name}-{getattr(model, 'distance', '')}",
)
def test_an_attribute_with_one_value_keeps_what_compares_with_itself(model):
    classes, whole = classes_of(["a", "a"], ["a"])
    assert not model.violating(classes, whole).any()


def test_an_attribute_with_one_value_can_never_be_diverse():
    _, whole = classes_of(["a", "a"], ["a"])
    diverse, alpha = LDiversity(2, "s").infeasibility(whole), AlphaKAnonymity(0.5, 1, "s").infeasibility(whole)
    assert diverse is not None and alpha is not None
    assert (diverse.code, diverse.values) == ("reason.l_values", {"l": 2, "column": "s", "count": 1})
    assert (alpha.code, alpha.values["needed"], alpha.values["count"]) == ("reason.alpha_values", 2, 1)


def test_no_class_at_all():
    classes, whole = classes_of()
    for model in (KAnonymity(2), LDiversity(2, "s"), TCloseness(0.1, "s"), AverageRisk(0.1), SampleUniqueness(0.1)):
        assert not model.violating(classes, whole).any()
        assert model.achieved(classes, whole) == 0


def test_an_order_that_is_not_one():
    classes, whole = classes_of(["mild", "severe"])
    with pytest.raises(PlanError, match="neither numbers nor dates"):
        TCloseness(0.1, "s", "ordered").violating(classes, whole)
    with pytest.raises(PlanError, match="lacks 1 values") as caught:
        TCloseness(0.1, "s", "ordered", order=("mild", "worse")).violating(classes, whole)
    assert caught.value.values == ("severe",)
    assert ranks_of(("2020-02-01", "2019-12-31"), (), "s").tolist() == [1, 0]


def test_a_long_line_is_measured_as_a_short_one():
    # Many values, few in a class: the distance is then taken from value to value instead of step by step.
    values = [str(place) for place in range(200)]
    classes, whole = classes_of([values[3], values[150]], [value for value in values if value not in ("3", "150")])
    table = np.array(sorted(map(int, values)))
    shares = np.cumsum(np.isin(table, [3, 150]) / 2) - np.arange(1, 201) / 200
    assert TCloseness(0.1, "s", "ordered").distances(classes, whole)[0] == pytest.approx(
        np.abs(shares[:-1]).sum() / 199
    )
