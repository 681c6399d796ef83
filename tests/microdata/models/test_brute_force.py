"""Every model against its definition, written here row by row, and `optimal` against all nodes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from definitions import MODELS, Class
from sfumato.errors import UnattainableError
from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts.frequency_table import FrequencyTable
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.full_domain import exhaustive, optimal
from sfumato.microdata.methods.full_domain.problem import LatticeProblem
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.population_lists import KMap
from sfumato.microdata.models.registry import MODEL, SHAPES
from sfumato.schema.composite import read
from sfumato.values import replace
from sizes import size
from small_tables import classes_at, lattice, rows_of, tabulated


def with_column(name, plan, **more):
    """A model, about the sensitive column where it is about one."""
    about = {"column": "s"} if "column" in SHAPES[name].keys else {}
    return read(MODEL, {"model": name, **plan, **about, **more})


def keeping(definition, plan):
    """Whether rows with such values keep a promise, by its definition."""

    def keep(rows, whole):
        table = [frozenset({value}) for value in whole]
        return definition.holds([Class([frozenset({value}) for value in rows])], table, plan)

    return keep


# Name -> the model, and its definition for the sensitive values of a class and of the whole table.
CASES, TOGETHER = {}, {}
for NAME, DEFINITION in MODELS.items():
    for PLACE, PLAN in enumerate(DEFINITION.plans):
        if DEFINITION.worst is None:
            TOGETHER[f"{NAME} {PLACE}"] = (with_column(NAME, PLAN), DEFINITION, PLAN)
            continue
        compares = "reference" in SHAPES[NAME].keys
        told = {"reference": "raw"} if compares else {}
        CASES[f"{NAME} {PLACE}"] = (with_column(NAME, PLAN, **told), keeping(DEFINITION, PLAN))
        if compares:
            # The same promise against the rows left, too: what a reader of the release compares with.
            CASES[f"{NAME} {PLACE}, both"] = (with_column(NAME, PLAN), keeping(DEFINITION, PLAN))
ALONE = [*CASES]
NAMES = [*CASES, *TOGETHER]


# Rows that differ in one column alone: without it they look alike, at little loss.
LIKE_NEIGHBORS = (
    [make_hierarchy(["v0", "v1"], []) for _ in range(3)],
    np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0]], np.int32),
    ["1", "1", "1", "2"],
)


def problem_of(table: FrequencyTable, models, share: float, loss: str = "loss-metric") -> LatticeProblem:
    tops = tuple(ladder.height - 1 for ladder in table.ladders)
    k = max(model.min_class_size for model in models)
    prepared = prepare(loss, table, (1.0,) * len(tops), "sum", k)
    return LatticeProblem(table, tuple(models), prepared, int(share * table.rows), (0,) * len(tops), tops)


def suppressed_at(chosen, codes, sensitive, node, names):
    """The rows that must be suppressed at a node, by the definitions."""
    classes = classes_at(chosen, codes, node)
    kept = [rows for rows in classes if keeps(rows, sensitive, range(len(sensitive)), names)]
    return len(codes) - sum(map(len, rest := left(kept, sensitive, names))), len(rest)


def keeps(rows, sensitive, whole, names) -> bool:
    """Whether a class keeps promises that each class keeps by itself, against the rows of a whole table."""
    values, all_values = [sensitive[row] for row in rows], [sensitive[row] for row in whole]
    return all(CASES[name][1](values, all_values) for name in names if name in CASES)


def left(kept, sensitive, names):
    """The classes that stay when promises about all of them, and against what is left of them, are kept as well."""
    before = None
    while before != kept:
        before = kept
        for name in names:
            if name in TOGETHER:
                kept = smallest_off(kept, *TOGETHER[name][1:])
        shown = [row for rows in kept for row in rows]
        kept = [rows for rows in kept if keeps(rows, sensitive, shown, [name for name in names if "both" in name])]
    return kept


def smallest_off(kept, definition, plan):
    """Take off the smallest classes, a size at a time, until the rest keeps a promise about all."""
    while kept and not definition.holds([Class([frozenset({None})] * len(rows)) for rows in kept], (), plan):
        kept = [rows for rows in kept if len(rows) > min(map(len, kept))]
    return kept


def model_of(name):
    return CASES[name][0] if name in CASES else TOGETHER[name][0]


@pytest.mark.parametrize("name", ALONE)
@settings(max_examples=size(8, 100))
@given(rows_of())
def test_a_class_fails_exactly_when_it_breaks_the_definition(name, made):
    chosen, codes, sensitive = made
    table = tabulated(chosen, codes, sensitive)
    problem = problem_of(table, [model_of(name)], 1.0)
    for node in lattice(chosen):
        judged = problem.evaluate(node)
        assert (judged.suppressed_rows, judged.classes) == suppressed_at(chosen, codes, sensitive, node, [name])


@pytest.mark.parametrize("name", list(TOGETHER))
@settings(max_examples=size(8, 100))
@given(rows_of(), st.sampled_from(ALONE))
def test_a_promise_about_the_release_takes_off_the_smallest_classes(name, made, other):
    chosen, codes, sensitive = made
    problem = problem_of(tabulated(chosen, codes, sensitive), [model_of(name), model_of(other)], 1.0)
    for node in lattice(chosen):
        judged = problem.evaluate(node)
        assert (judged.suppressed_rows, judged.classes) == suppressed_at(chosen, codes, sensitive, node, [other, name])


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=size(8, 120))
@given(
    rows_of(),
    st.sampled_from([0.0, 0.15, 0.5]),
    st.sampled_from(["loss-metric", "discernibility", "average-class-size"]),
)
@example(LIKE_NEIGHBORS, 0.0, "loss-metric")
@example(LIKE_NEIGHBORS, 0.15, "loss-metric")
@example(LIKE_NEIGHBORS, 0.5, "loss-metric")
def test_optimal_is_the_best_of_all_nodes(name, made, share, loss):
    chosen, codes, sensitive = made
    problem = problem_of(tabulated(chosen, codes, sensitive), [KAnonymity(2), model_of(name)], share, loss)
    releasable = {}
    for node in lattice(chosen):
        suppressed, kept = suppressed_with_k(chosen, codes, sensitive, node, name)
        if suppressed <= problem.limit and kept:
            releasable[node] = round(problem.evaluate(node).loss, 9)
    if not releasable:
        with pytest.raises(UnattainableError):
            optimal.search(problem)
        return
    found = optimal.search(problem)
    assert found.best.node in releasable
    # Beside a promise about a sensitive column, a node at which all rows look alike is the last resort.
    telling = [loss for node, loss in releasable.items() if len(classes_at(chosen, codes, node)) > 1]
    offered = telling if model_of(name).column else releasable.values()
    assert round(found.best.loss, 9) == min(offered or releasable.values())
    assert exhaustive.search(problem).best.node == found.best.node
    lowest = optimal.search_by_height(problem).best
    assert lowest.node in releasable and sum(lowest.node) == min(map(sum, releasable))


def suppressed_with_k(chosen, codes, sensitive, node, name):
    """As `suppressed_at`, with classes of one row failing, too."""
    kept = [
        rows
        for rows in classes_at(chosen, codes, node)
        if len(rows) >= 2 and keeps(rows, sensitive, range(len(sensitive)), [name])
    ]
    return len(codes) - sum(map(len, rest := left(kept, sensitive, [name]))), len(rest)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=size(6, 60))
@given(rows_of())
def test_a_coarser_node_of_a_satisfying_node_satisfies(name, made):
    chosen, codes, sensitive = made
    model = model_of(name)
    if not model.monotone_generalization:
        pytest.skip("it does not say so")
    problem = problem_of(tabulated(chosen, codes, sensitive), [model], 0.0)
    satisfying = {node for node in lattice(chosen) if problem.evaluate(node).suppressed_rows == 0}
    for node in satisfying:
        for column in range(len(node)):
            coarser = (*node[:column], node[column] + 1, *node[column + 1 :])
            assert coarser in satisfying or coarser[column] == chosen[column].height


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=size(6, 60))
@given(rows_of())
def test_finer_nodes_lose_at_least_the_rows_said_to_be_certain(name, made):
    chosen, codes, sensitive = made
    model = model_of(name)
    problem = problem_of(tabulated(chosen, codes, sensitive), [model], 1.0)
    judged = {node: problem.evaluate(node) for node in lattice(chosen)}
    for node, coarse in judged.items():
        for other, fine in judged.items():
            if all(low <= high for low, high in zip(other, node, strict=True)):
                assert fine.suppressed_rows >= coarse.certain_rows
                assert not model.monotone_suppression or fine.suppressed_rows >= coarse.suppressed_rows


@settings(max_examples=size(8, 100))
@given(rows_of(), st.randoms(use_true_random=False), st.sampled_from(NAMES))
def test_the_order_of_rows_does_not_matter(made, random, name):
    chosen, codes, sensitive = made
    order = list(range(len(codes)))
    random.shuffle(order)
    found = []
    for rows in (list(range(len(codes))), order):
        table = tabulated(chosen, codes[rows], [sensitive[row] for row in rows])
        problem = problem_of(table, [model_of(name)], 0.2)
        try:
            best = optimal.search(problem).best
            found.append((best.node, best.suppressed_rows, round(best.loss, 9)))
        except UnattainableError as error:
            found.append(str(error))
    assert found[0] == found[1]


@settings(max_examples=size(8, 100))
@given(rows_of(), st.integers(1, 5), st.sampled_from([0.0, 0.3]), st.data())
def test_k_map_counts_the_population_of_each_class(made, k, share, data):
    chosen, codes, sensitive = made
    further = data.draw(st.lists(st.tuples(*(st.integers(0, ladder.size - 1) for ladder in chosen)), max_size=15))
    people = np.array([*codes.tolist(), *further], np.int32)
    table = tabulated(chosen, codes, sensitive)
    population = tabulated(chosen, people, ["x"] * len(people))
    model = KMap(k, DataPlan(source="population.csv"))
    problem = problem_of(replace(table, population=population), [model], share)
    releasable = {}
    for node in lattice(chosen):
        persons = Counter(label_of(chosen, node, person) for person in people)
        small = sum(persons[label_of(chosen, node, row)] < k for row in codes)
        judged = problem.evaluate(node)
        assert judged.suppressed_rows == small
        if judged.suppressed_rows <= problem.limit and judged.classes:
            releasable[node] = round(judged.loss, 9)
    assume(releasable)
    assert round(optimal.search(problem).best.loss, 9) == min(releasable.values())


def label_of(chosen, node, combination):
    return tuple(int(ladder.codes[level][code]) for ladder, level, code in zip(chosen, node, combination, strict=True))
