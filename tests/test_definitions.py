"""Whatever is registered is held against its definition, on random classes of persons with one value or several."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from definitions import COLUMN, MODELS, Class, Person, Persons, values_of
from sfumato.microdata.models.classes import Classes, histogram, reference_of
from sfumato.microdata.models.model import Model, evaluate, of_release
from sfumato.microdata.models.registry import MODEL, SHAPES
from sfumato.microdata.recoding.population import holding_persons
from sfumato.shapes.shapes import read
from sizes import size

VALUES = ("1", "2", "3", "4", None)
CASES = [(name, plan) for name, definition in MODELS.items() for plan in definition.plans]


def test_every_model_has_a_definition() -> None:
    assert set(MODELS) == set(SHAPES)


def model_of(name: str, plan: dict[str, Any]) -> Model:
    """The model as a plan would name it, compared with the raw table alone."""
    about = {} if "column" not in SHAPES[name].keys else {"column": COLUMN}
    against = {"against": "raw"} if "against" in SHAPES[name].keys else {}
    return read(MODEL, {"model": name, **plan, **about, **against})


def counted(classes: list[Class], whole: Persons) -> tuple[Classes, Classes]:
    """The classes, and the whole table, as the program has them: with the persons who have each value."""
    domain = tuple(sorted(values_of(whole), key=lambda value: (value is None, value or "")))

    def of(groups: list[Persons]) -> Classes:
        owners = [place for place, group in enumerate(groups) for person in group for _ in person]
        values = [domain.index(value) for group in groups for person in group for value in sorted(person, key=str)]
        ones = np.ones(len(values), np.int64)
        held = histogram(np.array(owners), np.array(values, np.int32), ones, len(groups), len(domain))
        several = any(len(person) > 1 for person in whole)
        return Classes(np.array([len(group) for group in groups]), {COLUMN: replace(held, texts=domain)}, several)

    found = holding_persons(of([one.persons for one in classes]), np.array([one.population for one in classes]))
    return replace(found, counts_persons=of([whole]).counts_persons), of([whole])


def crowds(several: bool) -> st.SearchStrategy[list[Class]]:
    values = st.sampled_from(VALUES)
    person = st.frozensets(values, min_size=1, max_size=3) if several else values.map(lambda value: frozenset({value}))
    persons = st.lists(person, min_size=1, max_size=6)
    return st.lists(st.builds(Class, persons, st.integers(0, 12)), min_size=1, max_size=4)


@pytest.mark.parametrize("several", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize(("name", "plan"), CASES, ids=[f"{name}-{place}" for place, (name, _) in enumerate(CASES)])
@settings(max_examples=size(10, 400))
@given(st.data(), st.lists(st.sampled_from(VALUES), max_size=3))
def test_a_model_is_its_definition(several: bool, name: str, plan: dict[str, Any], data: Any, rest: list[Any]) -> None:
    definition = MODELS[name]
    if several and not definition.by_persons:
        pytest.skip("persons do not go with it")
    groups = data.draw(crowds(several))
    whole: list[Person] = [person for one in groups for person in one.persons] + [frozenset({value}) for value in rest]
    model, (classes, table) = model_of(name, plan), counted(groups, whole)
    holds, reached = evaluate(model, classes, table)
    assert reached == pytest.approx(definition.reached(groups, whole, plan))
    assert holds == definition.holds(groups, whole, plan)
    if of_release(model):
        left = [one for one, short in zip(groups, model.short(classes), strict=True) if not short]
        assert not left or definition.holds(left, whole, plan)
        # Judged class by class it asks for more than for all together.
        assert holds or model.failing(classes, table).any()
    else:
        assert model.failing(classes, table).tolist() == definition.failing(groups, whole, plan)


@pytest.mark.parametrize("several", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize(("name", "plan"), CASES, ids=[f"{name}-{place}" for place, (name, _) in enumerate(CASES)])
@settings(max_examples=size(8, 200))
@given(st.data())
def test_what_is_said_of_coarser_tables_is_so(several: bool, name: str, plan: dict[str, Any], data: Any) -> None:
    """Two classes become one; persons keep all values that they have in either."""
    from sfumato.microdata.models.persons import PersonModel

    model: Any = model_of(name, plan)
    if (several and not MODELS[name].by_persons) or of_release(model):
        pytest.skip("persons do not go with it" if several else "it is about all classes together")
    one, two = data.draw(crowds(several)), data.draw(crowds(several))
    first, second = one[0], two[0]
    common = data.draw(st.integers(0, min(len(first.persons), len(second.persons)))) if several else 0
    shared = [held | other for held, other in zip(first.persons[:common], second.persons, strict=False)]
    merged = Class([*shared, *first.persons[common:], *second.persons[common:]], first.population + second.population)
    told = PersonModel(model) if several else model
    whole = merged.persons
    fails = [bool(model.failing(*counted([each], whole))[0]) for each in (first, second, merged)]
    if told.monotone_suppression:
        assert all(fails[:2]) or not fails[2]
    if told.monotone_generalization:
        assert any(fails[:2]) or not fails[2]


def test_a_failing_that_forgets_a_condition_is_no_verdict() -> None:
    """What is reached is less than what is asked, though no class is said to fail: the guarantee does not hold."""

    class Forgetful(type(model_of("k-anonymity", {"k": 20_000}))):  # type: ignore[misc]
        def failing(self, classes: Classes, whole: Classes) -> Any:
            return np.zeros(len(classes.sizes), bool)

    classes = Classes(np.array([15_000, 30_000]))
    assert evaluate(Forgetful(20_000), classes, classes) == (False, 15_000)


def test_rows_compare_with_what_is_left_of_the_table() -> None:
    """The reference of persons is as large as they are many, however it was cut down."""
    groups = [Class([frozenset({"1", "2"}), frozenset({"2"})]), Class([frozenset({"3"})])]
    classes, whole = counted(groups, [person for one in groups for person in one.persons])
    kept = reference_of(classes.kept(np.array([True, False])), whole)
    assert kept.counts_persons and kept.shares(COLUMN).tolist() == [0.5, 1.0, 0.0]
    assert math.isclose(whole.shares(COLUMN).sum(), 4 / 3)
