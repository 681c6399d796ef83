"""Every model against its definition, written here row by row, and `optimal` against all nodes."""

import math
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from sfumato.errors import UnattainableError
from sfumato.hierarchies.ladder import make_ladder
from sfumato.hierarchies.registry import TYPES
from sfumato.microdata.counts.frequencies import Coding, FrequencyTable
from sfumato.microdata.data_plan import DataPlan
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.full_domain import exhaustive, optimal, samarati
from sfumato.microdata.methods.full_domain.lattice.problem import Problem
from sfumato.microdata.models.alpha_k_anonymity import AlphaKAnonymity
from sfumato.microdata.models.average_risk import AverageRisk
from sfumato.microdata.models.beta_likeness import BetaLikeness
from sfumato.microdata.models.classes import histogram
from sfumato.microdata.models.delta_disclosure import DeltaDisclosure
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.microdata.models.k_map import KMap
from sfumato.microdata.models.l_diversity import LDiversity
from sfumato.microdata.models.sample_uniqueness import SampleUniqueness
from sfumato.microdata.models.t_closeness import TCloseness
from sfumato.shapes.shapes import read
from sizes import size

VALUES = ("1", "2", "3", "4", None)
PARENTS = {"1": "low", "2": "low", "3": "high", "4": "high"}
HIERARCHY = read(TYPES["tree"], {"parents": PARENTS})


def shares(rows):
    return {value: count / len(rows) for value, count in Counter(rows).items()}


def entropy(rows):
    return -sum(share * math.log(share) for share in shares(rows).values())


def told(rows):
    """The values that are there: a missing one adds nothing to diversity."""
    return [value for value in rows if value is not None]


def recursive(rows, least, c):
    counts = sorted(Counter(rows).values(), reverse=True)
    return bool(counts) and counts[0] < c * sum(counts[least - 1 :]) - 1e-9


def variation(one, two):
    return sum(abs(one.get(key, 0) - two.get(key, 0)) for key in {*one, *two}) / 2


def equal_distance(rows, whole):
    return variation(shares(rows), shares(whole))


def ordered_distance(rows, whole):
    present = sorted({value for value in whole if value is not None}) + ([None] if None in whole else [])
    one, two = shares(rows), shares(whole)
    steps, gap = 0.0, 0.0
    for value in present[:-1]:
        gap += one.get(value, 0) - two.get(value, 0)
        steps += abs(gap)
    return steps / max(len(present) - 1, 1)


def tree_distance(rows, whole):
    """By the paper's formula: at each inner node the lesser of what its children have too much and too little."""
    one, two = shares(rows), shares(whole)
    extra = {value: one.get(value, 0) - two.get(value, 0) for value in set(whole)}
    parents = {value: PARENTS.get(value, "missing") for value in extra}
    cost, groups = 0.0, {}
    for group in set(parents.values()):
        inside = [extra[value] for value in extra if parents[value] == group]
        cost += min(sum(gap for gap in inside if gap > 0), -sum(gap for gap in inside if gap < 0)) / 2
        groups[group] = sum(inside)
    return cost + sum(gap for gap in groups.values() if gap > 0)


def likeness(rows, whole, beta, enhanced):
    table = shares(whole)
    for value, share in shares(rows).items():
        bound = min(beta, -math.log(table[value])) if enhanced else beta
        if (share - table[value]) / table[value] > bound + 1e-9:
            return False
    return True


def disclosure(rows, whole, delta):
    held, table = shares(rows), shares(whole)
    return all(value in held and abs(math.log(held[value] / table[value])) < delta - 1e-9 for value in table)


# Name -> the model, and its definition for the sensitive values of a class and of the whole table.
CASES = {
    "k": (KAnonymity(3), lambda rows, whole: len(rows) >= 3),
    "distinct": (LDiversity(3, "s"), lambda rows, whole: len(set(told(rows))) >= 3),
    "entropy": (LDiversity(2.2, "s", "entropy"), lambda rows, whole: math.exp(entropy(told(rows))) >= 2.2 - 1e-9),
    "recursive": (LDiversity(2, "s", "recursive", 1.5), lambda rows, whole: recursive(told(rows), 2, 1.5)),
    "alpha": (
        AlphaKAnonymity(0.6, 2, "s"),
        lambda rows, whole: len(rows) >= 2 and max(shares(rows).values()) <= 0.6 + 1e-9,
    ),
    "alpha-some": (
        AlphaKAnonymity(0.4, 1, "s", ("1", "3")),
        lambda rows, whole: max(shares(rows).get("1", 0), shares(rows).get("3", 0)) <= 0.4 + 1e-9,
    ),
    "equal": (TCloseness(0.35, "s", against="raw"), lambda rows, whole: equal_distance(rows, whole) <= 0.35 + 1e-9),
    "ordered": (
        TCloseness(0.2, "s", "ordered", against="raw"),
        lambda rows, whole: ordered_distance(rows, whole) <= 0.2 + 1e-9,
    ),
    "hierarchical": (
        TCloseness(0.3, "s", "hierarchical", HIERARCHY, against="raw"),
        lambda rows, whole: tree_distance(rows, whole) <= 0.3 + 1e-9,
    ),
    "exactly": (TCloseness(0.0, "s", against="raw"), lambda rows, whole: equal_distance(rows, whole) <= 1e-9),
    "basic": (BetaLikeness(0.8, "s", "basic", against="raw"), lambda rows, whole: likeness(rows, whole, 0.8, False)),
    "enhanced": (BetaLikeness(1.5, "s", against="raw"), lambda rows, whole: likeness(rows, whole, 1.5, True)),
    "disclosure": (DeltaDisclosure(1.1, "s", against="raw"), lambda rows, whole: disclosure(rows, whole, 1.1)),
}
# The same promises against the rows left, too: what a reader of the release compares with.
COMPARING = ("equal", "ordered", "hierarchical", "basic", "enhanced", "disclosure")
CASES |= {f"{name}, both": (replace(CASES[name][0], against="both"), CASES[name][1]) for name in COMPARING}
TOGETHER = {"average": AverageRisk(0.3), "unique": SampleUniqueness(0.1)}
ALONE = [*CASES]
NAMES = [*CASES, *TOGETHER]


@st.composite
def ladders(draw: st.DrawFn):
    size = draw(st.integers(2, 4))
    groups = list(range(size))
    levels = []
    for depth in range(draw(st.integers(0, 2))):
        merged = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        groups = [min(merged[group], group) for group in groups]
        levels.append([f"L{depth}-{group}" for group in groups])
    return make_ladder([f"v{place}" for place in range(size)], levels)


def tabulated(chosen, codes, sensitive) -> FrequencyTable:
    """A frequency table of rows with a sensitive value each."""
    domain = tuple(sorted(set(sensitive), key=lambda value: (value is None, value or "")))
    values = np.array([domain.index(value) for value in sensitive], np.int32)
    unique, owners, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    held = histogram(owners.reshape(-1), values, np.ones(len(codes), np.int64), len(unique), len(domain))
    codings = tuple(Coding(ladder.values, np.arange(ladder.size, dtype=np.int32), ladder) for ladder in chosen)
    names = tuple(f"c{place}" for place in range(len(chosen)))
    held = {"s": replace(held, texts=domain)}
    return FrequencyTable(names, codings, unique.astype(np.int32), counts.astype(np.int64), held, {"s": domain})


@st.composite
def rows_of(draw: st.DrawFn):
    """Ladders, and rows of codes with a sensitive value each."""
    chosen = draw(st.lists(ladders(), min_size=1, max_size=3))
    count = draw(st.integers(1, 24))
    codes = [[draw(st.integers(0, ladder.size - 1)) for ladder in chosen] for _ in range(count)]
    sensitive = [draw(st.sampled_from(VALUES)) for _ in range(count)]
    return chosen, np.array(codes, np.int32), sensitive


# Rows that differ in one column alone: without it they look alike, at little loss.
LIKE_NEIGHBORS = (
    [make_ladder(["v0", "v1"], []) for _ in range(3)],
    np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0]], np.int32),
    ["1", "1", "1", "2"],
)


def problem_of(table: FrequencyTable, models, share: float, loss: str = "loss-metric") -> Problem:
    tops = tuple(ladder.height - 1 for ladder in table.ladders)
    k = max(model.least_rows for model in models)
    prepared = prepare(loss, table, (1.0,) * len(tops), "sum", k)
    return Problem(table, tuple(models), prepared, int(share * table.rows), (0,) * len(tops), tops)


def classes_at(chosen, codes, node):
    """The rows of each class, by their numbers."""
    classes: dict = {}
    for row, combination in enumerate(codes):
        key = tuple(
            int(ladder.codes[level][code]) for ladder, level, code in zip(chosen, node, combination, strict=True)
        )
        classes.setdefault(key, []).append(row)
    return list(classes.values())


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
                kept = smallest_off(kept, TOGETHER[name])
        shown = [row for rows in kept for row in rows]
        kept = [rows for rows in kept if keeps(rows, sensitive, shown, [name for name in names if "both" in name])]
    return kept


def smallest_off(kept, model):
    """Take off the smallest classes, a size at a time, until the rest keeps a promise about all."""
    while kept:
        sizes = [len(rows) for rows in kept]
        if isinstance(model, AverageRisk):
            fine = len(sizes) / sum(sizes) <= model.threshold + 1e-9
        else:
            fine = sizes.count(1) / sum(sizes) <= model.threshold + 1e-9
        if fine:
            return kept
        kept = [rows for rows in kept if len(rows) > min(sizes)]
    return kept


def model_of(name):
    return CASES[name][0] if name in CASES else TOGETHER[name]


def lattice(chosen):
    return product(*(range(ladder.height) for ladder in chosen))


@pytest.mark.parametrize("name", ALONE)
@settings(max_examples=size(8, 100))
@given(rows_of())
def test_a_class_fails_exactly_when_it_breaks_the_definition(name, made):
    chosen, codes, sensitive = made
    table = tabulated(chosen, codes, sensitive)
    problem = problem_of(table, [model_of(name)], 1.0)
    for node in lattice(chosen):
        judged = problem.judge(node)
        assert (judged.suppressed_rows, judged.classes) == suppressed_at(chosen, codes, sensitive, node, [name])


@pytest.mark.parametrize("name", list(TOGETHER))
@settings(max_examples=size(8, 100))
@given(rows_of(), st.sampled_from(ALONE))
def test_a_promise_about_the_release_takes_off_the_smallest_classes(name, made, other):
    chosen, codes, sensitive = made
    problem = problem_of(tabulated(chosen, codes, sensitive), [model_of(name), model_of(other)], 1.0)
    for node in lattice(chosen):
        judged = problem.judge(node)
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
            releasable[node] = round(problem.judge(node).loss, 9)
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
    lowest = samarati.search(problem).best
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
    assert model.monotone_generalization
    problem = problem_of(tabulated(chosen, codes, sensitive), [model], 0.0)
    satisfying = {node for node in lattice(chosen) if problem.judge(node).suppressed_rows == 0}
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
    judged = {node: problem.judge(node) for node in lattice(chosen)}
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
        judged = problem.judge(node)
        assert judged.suppressed_rows == small
        if judged.suppressed_rows <= problem.limit and judged.classes:
            releasable[node] = round(judged.loss, 9)
    assume(releasable)
    assert round(optimal.search(problem).best.loss, 9) == min(releasable.values())


def label_of(chosen, node, combination):
    return tuple(int(ladder.codes[level][code]) for ladder, level, code in zip(chosen, node, combination, strict=True))
