"""Where no row may be suppressed, outliers lead to the node that a judgment of all nodes leads to."""

import numpy as np
import pytest

from sfumato.errors import UnattainableError
from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.compiled_searches import RareCombinationSearch
from sfumato.microdata.methods.full_domain.problem import LatticeProblem
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.values import replace

LOSSES = ["score", "loss-metric", "discernibility", "precision", "height", "average-class-size", "non-uniform-entropy"]


def coding_of(values: int, depths: int) -> Coding:
    """A ladder that halves its values at each level; the first and the last level below the root may be alike."""
    levels = [[f"{depth}-{value >> depth}" for value in range(values)] for depth in range(1, depths)]
    ladder = make_hierarchy([str(value) for value in range(values)], levels)
    return Coding(ladder.values, np.arange(values, dtype=np.int32), ladder)


def table(seed: int) -> FrequencyTable:
    """Random rows of columns of different size, thin at the rim, some values without a row."""
    random = np.random.default_rng(seed)
    sizes, depths = [9, 16, 2, 5, 1][: 3 + seed % 3], [3, 5, 1, 2, 1]
    draws = [np.clip(random.normal(size / 2, size / 5, 400), 0, size - 1) for size in sizes]
    codes = np.stack(draws, axis=1).astype(np.int32)
    unique, counts = np.unique(codes, axis=0, return_counts=True)
    codings = tuple(coding_of(size, depth) for size, depth in zip(sizes, depths, strict=False))
    names = tuple(f"c{place}" for place in range(len(sizes)))
    return FrequencyTable(names, codings, unique, counts.astype(np.int64), {}, {})


def problem_of(seed: int, loss: str, k: int, **more) -> LatticeProblem:
    rows = table(seed)
    weights = (1.0, 0.5, 0.0, 1.0, 2.0)[: len(rows.columns)]
    tops = tuple(ladder.height - 1 for ladder in rows.ladders)
    lowest = tuple(int(seed % 4 == place and top > 0) for place, top in enumerate(tops))
    return LatticeProblem(rows, (KAnonymity(k),), prepare(loss, rows, weights, k=k, **more), 0, lowest, tops)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_node_is_that_of_all_nodes(loss):
    for seed in range(4):
        for k in (1, 4, 60):
            problem = problem_of(seed, loss, k)
            best = problem.best(problem.evaluate(node) for node in problem.nodes())
            search = RareCombinationSearch(problem)
            assert RareCombinationSearch.suits(problem)
            assert search.search()
            assert search.best is not None
            assert best is not None
            assert search.best.node == best.node
            assert search.best.loss == pytest.approx(best.loss, rel=1e-12)
            assert (search.best.before, search.best.loss_terms.suppression) == (best.before, 0.0)


def wide_table(seed: int) -> FrequencyTable:
    """Few rows of columns of many values, each of at least two rows: too many labels to count through."""
    random = np.random.default_rng(seed)
    codes = np.stack([random.permutation(np.repeat(np.arange(60), 2)) for _ in range(4)], axis=1).astype(np.int32)
    codes[1::2] = np.where(random.random((60, 4)) < 0.9, codes[::2], codes[1::2])
    unique, counts = np.unique(codes, axis=0, return_counts=True)
    names = ("c0", "c1", "c2", "c3")
    return FrequencyTable(names, (coding_of(60, 4),) * 4, unique, counts.astype(np.int64), {}, {})


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("k", [1, 2])
def test_columns_of_many_values_are_searched_alike(loss, k):
    rows = wide_table(k)
    problem = LatticeProblem(rows, (KAnonymity(k),), prepare(loss, rows, (1.0,) * 4, k=k), 0, (0,) * 4, (4,) * 4)
    best = problem.best(problem.evaluate(node) for node in problem.nodes())
    search = RareCombinationSearch(problem)
    assert search.search()
    assert (search.best.node, search.best.before) == (best.node, best.before)


def test_more_rows_than_half_a_word_counts_are_searched_otherwise():
    problem = problem_of(0, "loss-metric", 5)
    rows = replace(problem.table, counts=problem.table.counts * (1 << 23))
    many = replace(problem, table=rows)
    assert not RareCombinationSearch.suits(many)
    best = many.best(many.evaluate(node) for node in many.nodes())
    assert optimal.search(many).best.node == best.node


def test_a_geometric_mean_is_searched_alike():
    problem = problem_of(1, "loss-metric", 5, aggregate="geometric")
    best = problem.best(problem.evaluate(node) for node in problem.nodes())
    assert best is not None
    assert optimal.search(problem).best.node == best.node


def test_levels_that_may_not_be_left_make_it_unattainable():
    problem = problem_of(0, "loss-metric", 5)
    with pytest.raises(UnattainableError):
        optimal.search(replace(problem, lowest=(0, 0, 0), highest=(0, 0, 0)))


def test_a_column_that_is_too_rare_by_itself_leaves_no_node_open():
    problem = problem_of(0, "loss-metric", 5)
    search = RareCombinationSearch(replace(problem, lowest=(0, 0, 0), highest=(3, 0, 1)))
    assert search.search()
    assert (search.best, search.checked) == (None, 0)


def test_most_nodes_are_never_grouped():
    problem = problem_of(2, "discernibility", 7)
    assert optimal.search(problem).checked < problem.size / 4


def test_a_search_that_is_stopped_says_what_it_knows():
    problem = replace(problem_of(0, "loss-metric", 5), time_limit=0.0)
    search = RareCombinationSearch(problem)
    assert not search.search()
    assert search.bound <= problem.best(problem.evaluate(node) for node in problem.nodes()).loss


def test_a_search_that_is_stopped_before_a_node_holds_takes_the_coarsest():
    problem = replace(problem_of(0, "loss-metric", 5), time_limit=0.0)
    solution = optimal.search(problem)
    assert (solution.best.node, solution.cut_short) == (problem.highest, True)
