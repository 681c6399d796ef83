"""Plans as people write them in Python."""

import pickle
from dataclasses import fields
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from sfumato.errors import PlanError
from sfumato.hierarchies.builders import dates, digits, hierarchy_file, intervals, order, suppress_all, tree
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.models.differential_privacy import DifferentialPrivacy
from sfumato.microdata.models.k_anonymity import KAnonymity, SetSizes
from sfumato.microdata.models.l_diversity import LDiversity
from sfumato.microdata.models.likeness import DeltaDisclosure
from sfumato.microdata.models.population_lists import DeltaPresence, KMap, Subset
from sfumato.microdata.models.re_identification_risk import AverageRisk, GlobalRisk, IndividualRisk
from sfumato.microdata.models.t_closeness import TCloseness
from sfumato.microdata.perturbation.plan import Noise
from sfumato.microdata.plan import model
from sfumato.microdata.plan.builder import Plan
from sfumato.microdata.plan.methods import (
    METHODS,
    Local,
    Mondrian,
    Optimal,
    Suppression,
)
from sfumato.microdata.plan.model import ColumnPlan
from sfumato.microdata.plan.parts import FilePlan, OutputPlan, PolicyPlan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.publish_plan import PublishPlan
from sfumato.pipelines.release import anonymize
from sfumato.pipelines.verify import verify

SUPPRESSING = [kind for kind in METHODS if "suppression" in kind.__struct_fields__]
PLAN = (
    Plan(
        KAnonymity(5), LDiversity(3, "illness"), method=Local(suppression=Suppression(share=0.02)), other="insensitive"
    )
    .identifiers("name")
    .quasi("sex", age=intervals(5, 10, 20), zip=digits(5))
)


def test_steps_hand_over_new_plans_and_leave_the_old_one():
    longer = (
        PLAN.sensitive("income")
        .persons("patient")
        .column("height", "quasi-identifier", hierarchy=suppress_all(), weight=2)
    )
    assert "income" not in PLAN.columns
    assert longer.columns["income"].role == "sensitive"
    assert longer.person == "patient"
    assert longer.columns["height"].weight == 2
    assert longer.without("income", "patient", "height") == PLAN
    with pytest.raises(AttributeError):
        PLAN.seed = 3


def test_the_column_of_a_promise_is_sensitive_by_itself():
    assert PLAN.columns["illness"].role == "sensitive"
    assert PLAN.require(TCloseness(0.2, "wage")).columns["wage"].role == "sensitive"


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        PLAN.by(Mondrian(mode="relaxed")).writing(OutputPlan(suppressed="star")).reading(DataPlan(missing=("?",))),
        PLAN.quasi(
            town=tree({"NRW": ["Bonn", "Köln"], "BW": {"Alb": ["Ulm"]}}), born=dates("%Y-%m-%d", "month", "year")
        ),
        PLAN.quasi(level=order(2, 4, values=("a", "b", "c", "d")), job=hierarchy_file("job.csv")),
        PLAN.column("income", "sensitive", publish=PublishPlan(round=100)),
    ],
)
def test_plans_go_to_yaml_and_back(plan, tmp_path):
    assert read_plan(plan.to_dict()) == plan
    plan.save(tmp_path / "plan.yaml")
    again = read_plan(tmp_path / "plan.yaml")
    assert again.columns.keys() == plan.columns.keys()
    assert again.privacy == plan.privacy
    assert again.method == plan.method


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            lambda: Plan(columns={"name": "identifier"}),
            r'columns.name: must be a column, is text. Say .*identifiers\("name"\)',
        ),
        (lambda: Plan({"model": "k-anonymity", "k": 5}), "must be a privacy model, is a mapping.*read_plan"),
        (lambda: Plan(KAnonymity), "must be a privacy model"),
        (lambda: Plan(method="local"), "method: must be a value.*sf.Local"),
        (lambda: Plan(method=Local(rounds=0)), "Local.rounds: must be at least 1"),
        (lambda: Plan(data={"source": "x.csv"}), "data: must be a value"),
        (lambda: Plan(output=OutputPlan(format="xls")), 'OutputPlan.format: "xls" is not a valid choice'),
        (lambda: KAnonymity(0), "k: must be at least 1"),
        (lambda: KAnonymity("5"), "k: must be a whole number"),
        (lambda: LDiversity("illness", 3), "l: must be a number, is text"),
        (lambda: TCloseness(1.5, "illness"), "t: must be at most 1"),
        (lambda: Plan().quasi(age=5), "columns.age: must be a hierarchy, is a whole number.*sf.intervals"),
        (
            lambda: Plan().column("age", "quasi-identifier", hierarchy={"type": "none"}),
            'columns.age.hierarchy.type: "none" is not a valid choice',
        ),
        (lambda: Plan().column("age", "quasi", hierarchy=suppress_all()), "columns.age"),
        (lambda: Plan().column("name", "identifier", weight=2), "columns.name: weight"),
        (lambda: PLAN.insensitive("illness"), "columns.illness: is insensitive, but a privacy model refers to it"),
        (lambda: PLAN.without("nobody"), 'no column "nobody"'),
        (lambda: intervals(5, 12), "no multiple"),
        (intervals, "either widths or bounds"),
        (lambda: digits(5, shown=(6,)), "fewer"),
        (lambda: dates("%Y", "day", "fortnight"), "fortnight"),
        (lambda: order(4, 3), "multiple"),
        (lambda: tree({"a": "b", "b": "a"}), "cycle"),
        (lambda: read_plan(Plan(KAnonymity(2))), "no column is a quasi-identifier"),
        (lambda: read_plan(Plan().quasi("sex")), "no privacy model is requested"),
    ],
)
def test_what_is_wrong_is_said_at_once_with_what_to_do(made, words):
    with pytest.raises(PlanError, match=words):
        made()


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        *((lambda kind=kind: kind(suppression=0.05), kind(suppression=Suppression(0.05))) for kind in SUPPRESSING),
        (lambda: Local(suppression={"rows": 3}), Local(suppression=Suppression(rows=3))),
        (lambda: DataPlan(missing=["k.A.", 99], source=Path("a.csv")), DataPlan("a.csv", missing=("k.A.", "99"))),
        (lambda: OutputPlan(format="parquet", partition=["sex"]), OutputPlan(format="parquet", partition=("sex",))),
        (lambda: PublishPlan(noise=0.1), PublishPlan(noise=Noise(0.1))),
        (
            lambda: ColumnPlan("sensitive", publish={"round": 100}),
            ColumnPlan("sensitive", publish=PublishPlan(round=100)),
        ),
        (
            lambda: ColumnPlan("quasi-identifier", hierarchy={"type": "any"}),
            ColumnPlan("quasi-identifier", hierarchy=suppress_all()),
        ),
        (lambda: KAnonymity(np.int64(5), {2: 20}), KAnonymity(5, SetSizes(((2, 20),)))),
        (lambda: DeltaPresence(0, 0.5, {"column": "ill", "value": 1}), DeltaPresence(0, 0.5, Subset("ill", "1"))),
        (lambda: TCloseness(0.2, "w", "ordered", order=["1", 2]), TCloseness(0.2, "w", "ordered", order=("1", "2"))),
        (lambda: suppress_all(1, 2), suppress_all("1", "2")),
        (lambda: Plan(policy="hipaa-safe-harbor"), Plan(policy=PolicyPlan("hipaa-safe-harbor"))),
        (
            lambda: Plan(previous=["a"], files={"a": {"key": "id"}}),
            Plan(previous=("a",), files={"a": FilePlan(key="id")}),
        ),
    ],
)
def test_what_a_plan_file_may_say_shortly_python_may_say_so_too(short, whole):
    assert short() == whole
    assert hash(short()) == hash(whole)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Suppression(2), "Suppression.share: must be at most 1"),
        (lambda: Local(suppression="some"), "Local.suppression: text does not fit"),
        (lambda: Local(suppression=Optimal()), "Local.suppression: Optimal does not fit"),
        (lambda: Local(loss="foo"), 'Local.loss: "foo" is not a valid choice'),
        (lambda: OutputPlan(intervals="bound"), 'OutputPlan.intervals: .* Did you mean "bounds"'),
        (lambda: DataPlan(missing="?"), "DataPlan.missing: must be a list, is text"),
        (lambda: KMap(3), "KMap: k-map needs the table of the population"),
        (lambda: AverageRisk(0), "AverageRisk: threshold must be greater"),
        (lambda: DeltaDisclosure(0, "x"), "DeltaDisclosure: delta must"),
        (lambda: DifferentialPrivacy(0, 0), "DifferentialPrivacy.epsilon: must be at least"),
        (lambda: LDiversity(2, "x", variant="recursive"), "LDiversity: c belongs"),
        (lambda: IndividualRisk(0), "IndividualRisk: threshold"),
        (lambda: GlobalRisk(0), "GlobalRisk: threshold"),
        (lambda: Noise(-1), "Noise.share: must be at least 0"),
        (lambda: PublishPlan(round=-1), "PublishPlan: round and bin must be greater"),
        (lambda: Plan(previous="releases/1"), "previous: must be a list, is text"),
        (lambda: Plan(seed=-1), "seed: must be at least 0"),
        (lambda: Plan(method=Local), "method: must be a value, is a class"),
        (lambda: Plan(KAnonymity), "must be a privacy model, is a class"),
    ],
)
def test_every_mistake_is_a_fault_of_the_plan_where_it_is_made(make, words):
    with pytest.raises(PlanError, match=words):
        make()


def test_nothing_in_a_plan_can_be_changed():
    plan = PLAN.quasi(town=tree({"NRW": ["Bonn", "Köln"]}))
    for change in (plan.columns.update, plan.columns["town"].hierarchy.parents.update, plan.reasons.update):
        with pytest.raises(TypeError, match="cannot be changed"):
            change(evil=1)
    with pytest.raises(TypeError, match="cannot be changed"):
        plan.columns["evil"] = 1
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert len({plan, PLAN, read_plan(plan.to_dict())}) == 2


def test_every_field_of_a_plan_is_an_argument():
    """A field that the builder does not take would be lost by every step."""
    assert {part.name for part in fields(model.Plan)} <= set(signature(Plan).parameters)


def test_a_plan_prints_as_a_table():
    lines = str(PLAN).splitlines()
    assert lines[0] == "k-anonymity 5, l-diversity 3 of illness, by local"
    assert lines[2].split() == ["column", "role", "hierarchy", "reason"]
    assert [line.split()[0] for line in lines[4:]] == ["illness", "name", "sex", "age", "zip", "(others)"]
    assert "intervals: widths 5 10 20" in str(PLAN)
    assert "<td" in PLAN._repr_html_()


@pytest.mark.parametrize("role", ["sensitive", "insensitive"])
def test_codes_for_missing_values_are_said_where_the_column_is(role):
    plan = getattr(PLAN, role)("wage", "hours", missing=[99, "refused"])
    assert plan.columns["wage"] == ColumnPlan(role, missing=("99", "refused"))
    assert plan.column("wage", role, missing=[99, "refused"]) == plan
    for shown in (str(plan), plan._repr_html_()):
        assert "codes that mean missing: wage (99, refused), hours (99, refused)." in shown
    assert "codes" not in str(PLAN)
    with pytest.raises(PlanError):
        getattr(PLAN, role)("wage", missing=[["99"]])


def test_columns_that_are_not_mentioned_are_what_the_plan_says(frame_of_people):
    plan = Plan(KAnonymity(2), other="insensitive").quasi("sex", age=intervals(10, 50))
    release = anonymize(frame_of_people, plan)
    assert release.plan.columns["ward"] == ColumnPlan("insensitive")
    assert release.plan.other is None, "a later column is not let through"
    assert verify(release.data, plan).satisfied
    with pytest.raises(PlanError, match="not mentioned"):
        anonymize(frame_of_people, Plan(KAnonymity(2)).quasi("sex", age=intervals(10, 50)))


def test_other_columns_may_be_withheld(frame_of_people):
    release = anonymize(frame_of_people, Plan(KAnonymity(2), other="identifier").quasi("sex", age=intervals(10, 50)))
    assert set(release.data["ward"].to_list()) == {"*"}


@pytest.fixture
def frame_of_people():
    import polars as pl

    return pl.DataFrame(
        {
            "age": [20 + row % 30 for row in range(40)],
            "sex": ["m" if row % 2 else "f" for row in range(40)],
            "ward": [f"w{row % 3}" for row in range(40)],
        }
    )


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Plan(KAnonymity(2), other="insensitiv"), 'other: .* Did you mean "insensitive"'),
        (lambda: Plan(KAnonymity(2), language="fr"), "language: "),
        (lambda: Plan(KAnonymity(2), seed="x"), "seed: must be a whole number, is text"),
        (
            lambda: Plan(KAnonymity(2)).identifiers(["name"]),
            "must be text, is a list. Name columns one after the other",
        ),
        (lambda: Plan(KAnonymity(2)).quasi(["name"]), "must be text, is a list"),
        (lambda: intervals("wide"), "intervals: a parameter is of another kind than it must be"),
        (lambda: read_plan(5), "this is a whole number. Let one be proposed"),
    ],
)
def test_what_no_plan_may_hold_is_refused_where_it_is_said(make, words):
    with pytest.raises(PlanError, match=words):
        make()
