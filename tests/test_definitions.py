"""Whatever is registered is held against its definition, on random classes of persons with one value or several."""

import ast
import math
import random
import re
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from definitions import COLUMN, LOSSES, METHODS, MODELS, Class, Found, Node, Person, Persons, chosen_k, values_of
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.full_domain.problem import LatticeProblem
from sfumato.microdata.models.equivalence_classes import EquivalenceClasses, histogram, reference_of
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.model import PrivacyModel, evaluate, is_global
from sfumato.microdata.models.registry import MODEL, SHAPES
from sfumato.microdata.plan.methods import LOSSES as PLANNED_LOSSES
from sfumato.microdata.plan.methods import METHODS as PLANNED_METHODS
from sfumato.microdata.plan.methods import SUPPRESSING, FullDomain
from sfumato.microdata.recoding.reference import holding_persons
from sfumato.pipelines.release import anonymize
from sfumato.schema.composite import read
from sfumato.values import replace
from sizes import size
from small_tables import VALUES, classes_at, lattice, rows_of, tabulated

CASES = [(name, plan) for name, definition in MODELS.items() for plan in definition.plans]


def test_every_model_has_a_definition() -> None:
    assert set(MODELS) == set(SHAPES)


def model_of(name: str, plan: dict[str, Any]) -> PrivacyModel:
    """The model as a plan would name it, compared with the raw table alone."""
    about = {} if "column" not in SHAPES[name].keys else {"column": COLUMN}
    against = {"reference": "raw"} if "reference" in SHAPES[name].keys else {}
    return read(MODEL, {"model": name, **plan, **about, **against})


def counted(classes: list[Class], whole: Persons) -> tuple[EquivalenceClasses, EquivalenceClasses]:
    """The classes, and the whole table, as the program has them: with the persons who have each value."""
    domain = tuple(sorted(values_of(whole), key=lambda value: (value is None, value or "")))

    def of(groups: list[Persons]) -> EquivalenceClasses:
        owners = [place for place, group in enumerate(groups) for person in group for _ in person]
        values = [domain.index(value) for group in groups for person in group for value in sorted(person, key=str)]
        ones = np.ones(len(values), np.int64)
        held = histogram(np.array(owners), np.array(values, np.int32), ones, len(groups), len(domain))
        several = any(len(person) > 1 for person in whole)
        return EquivalenceClasses(
            np.array([len(group) for group in groups]), {COLUMN: replace(held, texts=domain)}, several
        )

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
    if is_global(model):
        left = [one for one, short in zip(groups, model.classes_to_suppress(classes), strict=True) if not short]
        assert not left or definition.holds(left, whole, plan)
        # Judged class by class it asks for more than for all together.
        assert holds or model.violating(classes, table).any()
    else:
        assert model.violating(classes, table).tolist() == definition.failing(groups, whole, plan)


@pytest.mark.parametrize("several", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize(("name", "plan"), CASES, ids=[f"{name}-{place}" for place, (name, _) in enumerate(CASES)])
@settings(max_examples=size(8, 200))
@given(st.data())
def test_what_is_said_of_coarser_tables_is_so(several: bool, name: str, plan: dict[str, Any], data: Any) -> None:
    """Two classes become one; persons keep all values that they have in either."""
    from sfumato.microdata.models.persons import PersonModel

    model: Any = model_of(name, plan)
    if (several and not MODELS[name].by_persons) or is_global(model):
        pytest.skip("persons do not go with it" if several else "it is about all classes together")
    one, two = data.draw(crowds(several)), data.draw(crowds(several))
    first, second = one[0], two[0]
    common = data.draw(st.integers(0, min(len(first.persons), len(second.persons)))) if several else 0
    shared = [held | other for held, other in zip(first.persons[:common], second.persons, strict=False)]
    merged = Class([*shared, *first.persons[common:], *second.persons[common:]], first.population + second.population)
    told = PersonModel(model) if several else model
    whole = merged.persons
    fails = [bool(model.violating(*counted([each], whole))[0]) for each in (first, second, merged)]
    if told.monotone_suppression:
        assert all(fails[:2]) or not fails[2]
    if told.monotone_generalization:
        assert any(fails[:2]) or not fails[2]


def test_a_failing_that_forgets_a_condition_is_no_verdict() -> None:
    """What is reached is less than what is asked, though no class is said to fail: the guarantee does not hold."""

    class Forgetful(type(model_of("k-anonymity", {"k": 20_000}))):  # type: ignore[misc]
        def failing(self, classes: EquivalenceClasses, whole: EquivalenceClasses) -> Any:
            return np.zeros(len(classes.sizes), bool)

    classes = EquivalenceClasses(np.array([15_000, 30_000]))
    assert evaluate(Forgetful(20_000), classes, classes) == (False, 15_000)


def test_rows_compare_with_what_is_left_of_the_table() -> None:
    """The reference of persons is as large as they are many, however it was cut down."""
    groups = [Class([frozenset({"1", "2"}), frozenset({"2"})]), Class([frozenset({"3"})])]
    classes, whole = counted(groups, [person for one in groups for person in one.persons])
    kept = reference_of(classes.kept(np.array([True, False])), whole)
    assert kept.counts_persons and kept.shares(COLUMN).tolist() == [0.5, 1.0, 0.0]
    assert math.isclose(whole.shares(COLUMN).sum(), 4 / 3)


def test_every_loss_and_every_method_has_a_definition() -> None:
    assert (set(LOSSES), set(METHODS)) == ({*PLANNED_LOSSES}, {kind.name for kind in PLANNED_METHODS})


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=size(10, 200))
@given(rows_of(), st.integers(1, 4))
def test_a_loss_is_its_definition(name: str, made: Any, k: int) -> None:
    chosen, codes, targets = made
    table = tabulated(chosen, codes, targets)
    weights = (1.0,) * len(chosen)
    loss = prepare(name, table, weights, "sum", k, "s")
    tops = tuple(ladder.height - 1 for ladder in chosen)
    problem = LatticeProblem(table, (KAnonymity(k),), loss, len(codes), (0,) * len(tops), tops)
    for levels in lattice(chosen):
        small = [row for rows in classes_at(chosen, codes, levels) if len(rows) < k for row in rows]
        node = Node(
            [tuple(row) for row in codes.tolist()],
            [ladder.codes[level].tolist() for ladder, level in zip(chosen, levels, strict=True)],
            [(level, ladder.height) for ladder, level in zip(chosen, levels, strict=True)],
            frozenset(small),
            targets,
        )
        assert problem.evaluate(levels).loss == pytest.approx(LOSSES[name](node))


WIDTHS = (1, 5, 10, 20)
K, BUDGET = 3, 12


def rows_of_two(seed: int) -> list[tuple[int, int]]:
    draw = random.Random(seed)
    return [(draw.randrange(20), min(draw.randrange(20), draw.randrange(20))) for _ in range(120)]


def found_by(rows: list[tuple[int, int]], levels: Any, loss: float) -> Found:
    """What was found beside every node within the budget."""
    others = []
    for one, two in product(range(len(WIDTHS)), repeat=2):
        sizes = Counter((age // WIDTHS[one], town // WIDTHS[two]) for age, town in rows)
        lost = sum(count for count in sizes.values() if count < K)
        if lost <= BUDGET:
            others.append((sum(c * c for c in sizes.values() if c >= K) + lost * len(rows), one + two))
    return Found(loss, sum(levels.values()), others)


HIERARCHY = {"type": "intervals", "start": 0, "end": 19, "widths": [*WIDTHS[1:-1]]}
KNOWN: dict[str, Any] = {"role": "quasi-identifier", "type": "integer", "hierarchy": HIERARCHY}
# What the plans of some methods need besides.
PRIVATE = {"model": "differential-privacy", "epsilon": 2.0, "delta": 0.1}
MEANS = {"role": "quasi-identifier", "type": "decimal", "publish": {"microaggregate": {"k": K, "group": "all"}}}


def plan_of_two(name: str) -> dict[str, Any]:
    """A plan for a method, with two quasi-identifiers and a number of the row."""
    method = {"name": name} | ({"suppression": {"rows": BUDGET}} if name in SUPPRESSING else {})
    method |= {"loss": "discernibility"} if METHODS[name] else {}
    known, private = MEANS if name == "microaggregation" else KNOWN, name == "safepub"
    columns = {"row": {"role": "identifier" if private else "insensitive"}, "age": known, "town": known}
    model = PRIVATE if private else {"model": "k-anonymity", "k": K}
    return {"version": 1, "columns": columns, "privacy": [model], "method": method}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_keeps_what_it_promises(name: str) -> None:
    for seed in range(size(2, 20)):
        rows = rows_of_two(seed) * (5 if name == "safepub" else 1)
        frame = pl.DataFrame(rows, schema=["age", "town"], orient="row").with_row_index("row")
        release = anonymize(frame, plan_of_two(name))
        published = [tuple(map(str, row)) for row in release.data.rows()]
        sizes = Counter(labels[1:] for labels in published)
        assert min(sizes.values()) >= (chosen_k(2.0 * 0.9, 0.1) if name == "safepub" else K)
        assert name not in SUPPRESSING or len(published) >= len(rows) - BUDGET
        if name == "microaggregation":
            assert sum(float(age) for _, age, _ in published) == pytest.approx(sum(age for age, _ in rows))
        elif name != "safepub":
            pairs = [pair for row, *labels in published for pair in zip(labels, rows[int(row)], strict=True)]
            assert all(is_true(*pair) for pair in pairs)
        if (kept := METHODS[name]) is not None:
            lost = len(rows) - len(published)
            loss = sum(count * count for count in sizes.values()) + lost * len(rows)
            assert kept(found_by(rows, release.report.levels, loss))


def is_true(label: str, value: int) -> bool:
    """Whether a value lies between the numbers of a label."""
    numbers = [int(number) for number in re.findall(r"\d+", label)] or [0, 19]
    return min(numbers) <= value <= max(numbers)


SRC = Path(__file__).parents[1] / "src" / "sfumato"
OWN = ("microdata/models", "microdata/losses", "microdata/methods", "microdata/plan", "microdata/row_order")


def test_no_other_folder_asks_for_a_model_or_method_by_its_class_or_name() -> None:
    """Searches, reports and pages ask what a model or method says of itself: a new one needs no change there."""
    kinds = {shape.make.__name__ for shape in SHAPES.values()} | {
        kind.__name__ for kind in (*PLANNED_METHODS, FullDomain)
    }
    names = {*SHAPES, *(kind.name for kind in PLANNED_METHODS)}
    asked = []
    for path in sorted(SRC.rglob("*.py")):
        if path.relative_to(SRC).as_posix().startswith(OWN):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            by_class = isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance"
            if by_class and kinds & {part.id for part in ast.walk(node.args[1]) if isinstance(part, ast.Name)}:
                asked.append(f"{path.name}:{node.lineno}")
            by_name = isinstance(node, ast.Compare) and ast.unparse(node.left) in ("model.name", "method.name")
            if by_name and names & {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}:
                asked.append(f"{path.name}:{node.lineno}")
    assert not asked
