"""The compiled frontier finds what a judgment of all nodes finds, on lattices in which its bounds matter."""

import numpy as np
import pytest

from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.full_domain import compiled_searches as frontier
from sfumato.microdata.methods.full_domain import optimal
from sfumato.microdata.methods.full_domain.problem import LatticeProblem
from sfumato.microdata.models.k_anonymity import KAnonymity
from sfumato.values import replace

LOSSES = ["score", "loss-metric", "discernibility", "precision", "height", "average-class-size", "non-uniform-entropy"]
HALVES = [[f"{depth}-{value >> depth}" for value in range(8)] for depth in (1, 2)]


def table(seed: int, columns: int = 4) -> FrequencyTable:
    """Random rows, dense in the middle and thin at the rim, in columns of eight values and four levels."""
    random = np.random.default_rng(seed)
    codes = np.clip(random.normal(3.5, 1.5, (300, columns)).round(), 0, 7).astype(np.int32)
    unique, counts = np.unique(codes, axis=0, return_counts=True)
    ladder = make_hierarchy([str(value) for value in range(8)], HALVES)
    coding = Coding(ladder.values, np.arange(8, dtype=np.int32), ladder)
    names = tuple(f"c{place}" for place in range(columns))
    return FrequencyTable(names, (coding,) * columns, unique, counts.astype(np.int64), {}, {})


def problem_of(seed: int, loss: str, share: float, **more) -> LatticeProblem:
    rows = table(seed)
    limit = int(share * rows.rows)
    made = prepare(loss, rows, (1.0, 0.5, 2.0, 1.0), k=4, **more)
    return LatticeProblem(rows, (KAnonymity(4),), made, limit, (0, 1, 0, 0), (3, 3, 3, 2))


@pytest.mark.parametrize("share", [0.0, 0.05, 0.4, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_node_is_that_of_all_nodes(loss, share):
    for seed in range(3):
        problem = problem_of(seed, loss, share)
        assert frontier.Frontier.suits(problem)
        best = problem.best(problem.evaluate(node) for node in problem.nodes())
        search = frontier.Frontier(problem)
        assert search.search()
        assert search.best is not None
        assert best is not None
        assert search.best.node == best.node
        assert search.best.loss == pytest.approx(best.loss, rel=1e-12)
        assert (search.best.before, search.best.suppressed_rows) == (best.before, best.suppressed_rows)
        assert search.checked < problem.size


def test_a_geometric_mean_is_searched_alike():
    problem = problem_of(1, "loss-metric", 0.2, aggregate="geometric")
    best = problem.best(problem.evaluate(node) for node in problem.nodes())
    assert optimal.search(problem).best.node == best.node


def test_a_search_without_room_for_tables_finds_the_same(monkeypatch):
    monkeypatch.setattr(frontier, "MAX_KEPT_CLASSES", 600)
    problem = problem_of(2, "discernibility", 0.1)
    best = problem.best(problem.evaluate(node) for node in problem.nodes())
    assert optimal.search(problem).best.node == best.node


def test_a_search_that_is_stopped_says_what_it_knows():
    problem = replace(problem_of(0, "loss-metric", 0.05), time_limit=0.0)
    search = frontier.Frontier(problem)
    assert not search.search()
    assert search.checked == 1
    assert 0 < search.bound <= problem.best(problem.evaluate(node) for node in problem.nodes()).loss


def test_where_suppression_is_free_the_finest_node_is_the_answer():
    solution = optimal.search(problem_of(0, "height", 1.0))
    assert (solution.best.node, solution.checked) == ((0, 1, 0, 0), 1)
