"""K-Optimize against brute force over all sets of up to 14 features, and that no bound cuts the optimum."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize import search as k_optimize
from sfumato.microdata.methods.k_optimize.bounds_kernels import (
    APART,
    HIDES,
    SPLITS,
    WITH,
    WITHOUT,
    atom_floors,
    evaluate,
)
from sfumato.microdata.methods.k_optimize.branch_kernels import (
    CLASS0,
    CLASS1,
    HIDDEN,
    ROW0,
    ROW1,
    SETTLED,
    head_cost,
    load,
)
from sfumato.microdata.methods.k_optimize.cut_features import space_of
from sfumato.microdata.methods.k_optimize.workers import SearchThread
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_stages.counting import frequency_table
from sizes import size

LOSSES = ("discernibility", "classification", "loss-metric")
MOST_FEATURES = 14
MISSING = 9


@dataclass(frozen=True)
class Case:
    """A table and what is asked of it.

    Attributes:
        rows: Rows of digits, each as often as it occurs; the last digit is the label, and MISSING a missing value.
        limit: How many rows may be suppressed.
        weights: Of the columns in the loss metric.
    """

    rows: tuple[tuple[int, ...], ...]
    ordered: bool
    loss: str
    k: int
    limit: int
    weights: tuple[float, ...]

    @property
    def columns(self) -> int:
        return len(self.rows[0]) - 1

    @property
    def plan(self) -> dict:
        roles = [{"role": "quasi-identifier", "weight": weight} for weight in self.weights]
        columns: dict = {f"c{place}": role for place, role in enumerate(roles)} | {"label": {"role": "sensitive"}}
        method = {"name": "k-optimize", "features": "ordered" if self.ordered else "isolate", "loss": self.loss}
        method |= {"suppression": {"rows": self.limit}} | ({"class": "label"} if self.loss == LOSSES[1] else {})
        privacy = [{"model": "k-anonymity", "k": self.k}]
        return {"version": 1, "columns": columns, "privacy": privacy, "method": method, "output": {"order": "keep"}}

    @property
    def space(self):
        names = [*(f"c{place}" for place in range(self.columns)), "label"]
        texts = [[None if one == MISSING else str(one) for one in column] for column in zip(*self.rows, strict=True)]
        frame = pl.DataFrame(dict(zip(names, texts, strict=True)), schema=dict.fromkeys(names, pl.String))
        plan = read_plan(self.plan)
        return space_of(plan, plan.method, frequency_table(plan, FrameEngine(frame)))


class Brute:
    """Every set of features priced row by row, as the specification says, with none of the code under test.

    A row is a number whose bits say which features it has; rows agree in a set when they agree in its bits. Arrays over
    all sets, by number, stand for one loop over them.
    """

    def __init__(self, case: Case) -> None:
        counted = Counter(row[:-1] for row in case.rows)
        self.case = case
        self.rows, self.counts = list(counted), list(counted.values())
        self.held = [sorted({row[column] for row in self.rows}) for column in range(case.columns)]
        first = 1 if case.ordered else 0
        self.features = [(column, value) for column, held in enumerate(self.held) for value in held[first:]]
        self.sets = np.arange(1 << len(self.features))
        self.bits = [sum(self._bits(column, value) for column, value in enumerate(row)) for row in self.rows]

    def _bits(self, column: int, value: int) -> int:
        """The features that a value of a column has; a missing value comes after all others."""
        asked = [at if owner == column else None for owner, at in self.features]
        has = [at is not None and (value >= at if self.case.ordered else value == at) for at in asked]
        return sum(1 << place for place, one in enumerate(has) if one)

    def _together(self, one: int, other: int):
        """For each set whether rows with these bits share a class."""
        return (self.sets & (one ^ other)) == 0

    @cached_property
    def sizes(self):
        """For each row and set how many rows its class has."""
        sizes = np.zeros((len(self.rows), len(self.sets)), np.int64)
        for place, bits in enumerate(self.bits):
            for other, count in zip(self.bits, self.counts, strict=True):
                sizes[place] += count * self._together(bits, other)
        return sizes

    @cached_property
    def hidden(self):
        """For each set how many rows it suppresses."""
        return np.asarray(self.counts) @ (self.sizes < self.case.k)

    @cached_property
    def costs(self):
        """What each set costs; infinite when it may not be released."""
        priced = {"discernibility": self._squares, "classification": self._misled, "loss-metric": self._lost}
        return np.where(self.hidden > self.case.limit, np.inf, priced[self.case.loss]())

    def _squares(self):
        rows = len(self.case.rows)
        return np.asarray(self.counts) @ np.where(self.sizes < self.case.k, rows, self.sizes)

    def _misled(self):
        """Rows that have not the most frequent label of their class; a class is counted at its first row."""
        labels = sorted({row[-1] for row in self.case.rows})
        held = Counter(self.case.rows)
        total = np.zeros(len(self.sets), np.int64)
        for place, bits in enumerate(self.bits):
            first = ~np.any([self._together(bits, other) for other in self.bits[:place]], axis=0)
            most = np.zeros(len(self.sets), np.int64)
            for label in labels:
                having = [
                    held[(*row, label)] * self._together(bits, at) for row, at in zip(self.rows, self.bits, strict=True)
                ]
                most = np.maximum(most, np.sum(having, axis=0))
            total += np.where(first, self.sizes[place] - np.where(self.sizes[place] < self.case.k, 0, most), 0)
        return total

    def _lost(self):
        shares = [{value: self._share(column, value) for value in held} for column, held in enumerate(self.held)]
        total = np.zeros(len(self.sets))
        for row, count, sizes in zip(self.rows, self.counts, self.sizes, strict=True):
            lost = sum(weight * shares[c][row[c]] for c, weight in enumerate(self.case.weights))
            total += count * np.where(sizes < self.case.k, sum(self.case.weights), lost)
        return total

    def _share(self, column: int, value: int):
        """For each set what a value loses: (M-1)/(|A|-1), all when merged with all others or with the missing one."""
        held, bits = self.held[column], self._bits(column, value)
        merged = {other: self._together(bits, self._bits(column, other)) for other in held}
        members = np.sum(list(merged.values()), axis=0)
        covered = members - merged.get(MISSING, 0)
        starred = (members > 1) & ((members == len(held)) | merged.get(MISSING, False))
        return np.where(starred, 1.0, np.maximum(covered - 1, 0) / max(len(set(held) - {MISSING}) - 1, 1))

    def best(self, within: int | None = None, needed: int = 0) -> float:
        """The least cost of all sets that have some features and otherwise only others; infinite if there is none."""
        allowed = len(self.sets) - 1 if within is None else within | needed
        chosen = ((self.sets & ~allowed) == 0) & ((self.sets & needed) == needed)
        return float(self.costs[chosen].min())


@st.composite
def cases(draw, most_features: int = MOST_FEATURES):
    """A small table with a label, features of one kind, a loss, k and a limit of suppressed rows."""
    ordered = draw(st.booleans())
    sizes = draw(split(draw(st.integers(1, most_features))))
    values = [list(range(size + ordered)) for size in sizes]
    for held in values:
        held[-1] = MISSING if draw(st.booleans()) else held[-1]
    digits = st.tuples(*map(st.sampled_from, values))
    labels = st.sampled_from([0, 1, MISSING])
    drawn = draw(st.lists(st.tuples(digits, labels, st.integers(1, 5)), min_size=1, max_size=16))
    rows = [(*row, label) for row, label, count in drawn for _ in range(count)]
    if draw(st.booleans()):
        rows += all_values(values)
    limit = draw(st.one_of(st.just(0), st.integers(1, len(rows)), st.just(len(rows))))
    k = draw(st.one_of(st.integers(1, min(len(rows), 6)), st.integers(1, len(rows))))
    weights = draw(st.tuples(*(st.sampled_from([1.0, 1.0, 0.25, 3.0]) for _ in sizes)))
    return Case(tuple(rows), ordered, draw(st.sampled_from(LOSSES)), k, limit, weights)


@st.composite
def split(draw, features: int) -> list[int]:
    """So many features as those of one column after the other."""
    sizes = []
    while features:
        sizes.append(draw(st.integers(1, min(features, 7))))
        features -= sizes[-1]
    return sizes


def all_values(values: list[list[int]]) -> list[tuple[int, ...]]:
    """Rows in which every value occurs, so that each is a feature."""
    return [(*(held[place % len(held)] for held in values), 0) for place in range(max(map(len, values)))]


def bits_of(flags) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


@settings(max_examples=size(50, 400))
@given(cases())
def test_equals_brute_force(case: Case) -> None:
    space, brute = case.space, Brute(case)
    optimum = k_optimize.optimize(space, 60.0)
    assert optimum.proved
    assert len(space.instance.features) == len(brute.features) <= MOST_FEATURES
    assert optimum.best.cost == pytest.approx(brute.best(), abs=1e-9)
    assert optimum.bound == optimum.best.cost
    assert optimum.best.cost == pytest.approx(brute.costs[bits_of(optimum.best.state == at.HEAD)], abs=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("ordered", [True, False], ids=["ordered", "isolate"])
@pytest.mark.parametrize("limit", [0, 3, 40], ids=["no suppression", "some suppression", "suppression"])
def test_equals_brute_force_with_fourteen_features(loss, ordered, limit) -> None:
    """Every kind of problem at its full size, whatever Hypothesis draws."""
    random = np.random.default_rng(1)
    values = [list(range(size + ordered)) for size in (4, 4, 3, 3)]
    drawn = [tuple(int(random.binomial(len(held) - 1, 0.4)) for held in (*values, [0, 1])) for _ in range(36)]
    case = Case((*drawn, *all_values(values)), ordered, loss, 4, limit, (1.0,) * 4)
    brute = Brute(case)
    optimum = k_optimize.optimize(case.space, 60.0)
    assert len(brute.features) == MOST_FEATURES
    assert optimum.proved
    assert optimum.best.cost == pytest.approx(brute.best(), abs=1e-9)


def judged(space, state):
    """A node as the search sees it: its bound, and what it says of each feature of its tail."""
    worker = SearchThread(space)
    stack, out, inst = worker._stack, worker._verdicts, space.instance
    load(inst, stack, state)
    start, stop = stack.spans[ROW0, 0], stack.spans[ROW1, 0]
    atoms = (stack.keys, stack.counts, stack.label_rows)
    atom_floors(inst, state, *atoms, start, stop, out.penalty, stack.floors)
    classes = (stack.spans[CLASS0, 0], stack.spans[CLASS1, 0])
    sums = (stack.costs[SETTLED, 0], stack.spans[HIDDEN, 0])
    bound = evaluate(inst, state, *atoms, stack.floors, start, stack.ends, *classes, *sums, out)
    return bound, out, head_cost(inst, stack, 0, out.penalty)


@settings(max_examples=size(40, 200))
@given(cases(), st.data())
def test_no_bound_cuts_the_optimum(case: Case, data) -> None:
    """Rules 1 to 7: at any node, whatever a bound says holds for every set below it."""
    space, brute = case.space, Brute(case)
    count = len(brute.features)
    drawn = data.draw(st.lists(st.sampled_from([at.OUT, at.TAIL, at.TAIL, at.HEAD]), min_size=count, max_size=count))
    state = np.array(drawn, np.int8)
    head, tail = bits_of(state == at.HEAD), bits_of(state == at.TAIL)
    if np.isinf(brute.costs[head]):
        return
    bound, out, cost = judged(space, state)
    slack = 1e-9 * max(1.0, bound)
    assert cost == pytest.approx(brute.costs[head], abs=1e-9)
    assert bound <= brute.best(tail, head) + slack
    for feature in np.flatnonzero(state == at.TAIL).tolist():
        one = 1 << feature
        with_it, without = brute.best(tail & ~one, head | one), brute.best(tail & ~one, head)
        assert out.bounds[WITH, feature] <= with_it + slack
        assert out.bounds[WITHOUT, feature] <= without + slack
        assert out.counts[HIDES, feature] <= brute.hidden[head | one]
        if out.counts[SPLITS, feature] == 0:
            assert with_it <= without + slack
            assert case.loss == "loss-metric" or with_it == without


def test_a_class_that_cannot_be_split_well_pays_its_square() -> None:
    """Rule 4: 12 rows of two values, 9 and 3, with k = 4: no cut keeps all, so the whole is bounded by 144 at least."""
    rows = ((0, 0),) * 9 + ((1, 0),) * 3 + ((5, 0),) * 40
    space = Case(rows, True, "discernibility", 4, len(rows), (1.0,)).space
    bound, _, _ = judged(space, np.array([at.TAIL, at.HEAD], np.int8))
    assert bound == 144 + 1600


def test_a_cut_keeps_apart_what_no_other_cut_would() -> None:
    """The cuts between 2, 6, 3, 5 and 1 rows: the blocks beside each count, and none of which a part is too small."""
    rows = tuple((value, 0) for value, count in enumerate((2, 6, 3, 5, 1)) for _ in range(count))
    space = Case(rows, True, "discernibility", 2, len(rows), (1.0,)).space
    whole, merged = np.full(4, at.TAIL, np.int8), np.array([at.TAIL, at.OUT, at.TAIL, at.TAIL], np.int8)
    assert judged(space, whole)[1].bounds[APART] * len(rows) == pytest.approx([2, 3, 3, 0])
    assert judged(space, merged)[1].bounds[APART] * len(rows) == pytest.approx([2, 0, 5, 0])


@settings(max_examples=size(15, 60))
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case: Case, random) -> None:
    shuffled = list(case.rows)
    random.shuffle(shuffled)
    other = Case(tuple(shuffled), case.ordered, case.loss, case.k, case.limit, case.weights)
    one, two = k_optimize.optimize(case.space, 60.0), k_optimize.optimize(other.space, 60.0)
    assert one.best.cost == two.best.cost
    assert one.best.state.tolist() == two.best.state.tolist()
    assert one.nodes == two.nodes
