"""What the numbers of labels tell of losses of class sizes is never more than they are."""

import numpy as np
import pytest

from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.full_domain import best_first
from sfumato.microdata.methods.full_domain.problem import LatticeProblem
from sfumato.microdata.models.k_anonymity import KAnonymity

SIZES = (8, 4, 3)


def problem_of(loss: str, rows: int, seed: int) -> LatticeProblem:
    """Every combination of labels has a row where there are many rows: then bounds are reached."""
    random = np.random.default_rng(seed)
    codes = np.stack([random.integers(0, size, rows) for size in SIZES], axis=1).astype(np.int32)
    unique, counts = np.unique(codes, axis=0, return_counts=True)
    ladders = [
        make_hierarchy([str(value) for value in range(size)], [[f"h{value // 2}" for value in range(size)]])
        for size in SIZES
    ]
    codings = tuple(Coding(one.values, np.arange(size, dtype=np.int32), one) for one, size in zip(ladders, SIZES))
    table = FrequencyTable(("a", "b", "c"), codings, unique, counts.astype(np.int64), {}, {})
    highest = tuple(ladder.height - 1 for ladder in ladders)
    return LatticeProblem(table, (KAnonymity(3),), prepare(loss, table, (1.0,) * 3, k=3), 20, (0, 0, 0), highest)


@pytest.mark.parametrize("loss", ["discernibility", "average-class-size"])
@pytest.mark.parametrize("rows", [30, 3000])
def test_floors_bound_every_node_from_below(loss, rows):
    problem = problem_of(loss, rows, rows)
    floors, lines = problem.loss.floors(problem.window()), best_first._floors(problem)
    for node in problem.nodes():
        judgment = problem.evaluate(node)
        assert floors[node] <= judgment.loss_terms.generalization * (1 + 1e-12)
        assert 0 < sum(line[level] for line, level in zip(lines, node, strict=True)) <= floors[node] * (1 + 1e-12)


@pytest.mark.parametrize("loss", ["discernibility", "average-class-size"])
def test_floors_are_what_one_class_loses_at_the_root(loss):
    problem = problem_of(loss, 3000, 1)
    root = problem.evaluate(problem.highest)
    assert problem.loss.floors(problem.window())[problem.highest] == root.loss_terms.generalization


def test_floors_are_reached_where_every_combination_of_labels_is_a_class():
    problem = problem_of("average-class-size", 3000, 1)
    floors = problem.loss.floors(problem.window())
    assert all(floors[node] == problem.evaluate(node).loss_terms.generalization for node in problem.nodes())
