"""Optimal: equal to brute force over all nodes, for every loss and budget."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import UnattainableError
from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.losses.registry import prepare
from sfumato.microdata.methods.full_domain import exhaustive, optimal
from sfumato.microdata.methods.full_domain.problem import LatticeProblem
from sfumato.microdata.models.k_anonymity import KAnonymity
from sizes import size

LOSSES = [
    "score",
    "loss-metric",
    "discernibility",
    "precision",
    "height",
    "average-class-size",
    "non-uniform-entropy",
]
BUDGETS = [0.0, 0.02, 0.3, 1.0]


@st.composite
def ladders(draw: st.DrawFn):
    """A ladder of 2 to 5 values and up to 4 rungs, values merging at random but never parting."""
    size = draw(st.integers(2, 5))
    groups = list(range(size))
    levels = []
    for depth in range(draw(st.integers(0, 2))):
        merged = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        groups = [min(merged[group], group) for group in groups]
        levels.append([f"L{depth}-{group}" for group in groups])
    return make_hierarchy([f"v{place}" for place in range(size)], levels)


@st.composite
def tables(draw: st.DrawFn, columns: int = 3) -> FrequencyTable:
    chosen = [draw(ladders()) for _ in range(draw(st.integers(1, columns)))]
    rows = draw(st.integers(1, 30))
    codes = np.array(
        [[draw(st.integers(0, ladder.size - 1)) for ladder in chosen] for _ in range(rows)], np.int32
    ).reshape(rows, len(chosen))
    unique, counts = np.unique(codes, axis=0, return_counts=True)
    codings = tuple(Coding(ladder.values, np.arange(ladder.size, dtype=np.int32), ladder) for ladder in chosen)
    names = tuple(f"c{place}" for place in range(len(chosen)))
    return FrequencyTable(names, codings, unique.astype(np.int32), counts.astype(np.int64), {}, {})


def problem_of(
    table: FrequencyTable, loss: str, models, share: float, aggregate: str = "sum", weights=None, less: int = 0
) -> LatticeProblem:
    k = max(max(model.k for model in models) - less, 1)
    tops = tuple(ladder.height - 1 for ladder in table.ladders)
    weights = weights or (1.0,) * len(tops)
    return LatticeProblem(
        table,
        tuple(models),
        prepare(loss, table, weights, aggregate, k),
        int(share * table.rows),
        (0,) * len(tops),
        tops,
    )


def brute_force(table: FrequencyTable, loss: str, models, share: float, aggregate: str = "sum", weights=None):
    """The least loss over all nodes, computed row by row with none of the code under test."""
    rows = np.repeat(np.arange(len(table.counts)), table.counts)
    best = None
    for node in product(*(range(ladder.height) for ladder in table.ladders)):
        labels = [
            tuple(
                int(ladder.codes[level][table.codes[row, column]])
                for column, (ladder, level) in enumerate(zip(table.ladders, node))
            )
            for row in range(len(table.counts))
        ]
        classes: dict = {}
        for row in rows:
            classes.setdefault(labels[row], []).append(row)
        kept = {
            label: members for label, members in classes.items() if all(len(members) >= model.k for model in models)
        }
        suppressed = len(rows) - sum(map(len, kept.values()))
        if suppressed > int(share * len(rows)) or not kept:
            continue
        value = _loss(table, loss, node, labels, kept, rows, aggregate, weights)
        if best is None or value < best:
            best = value
    return best


def _loss(table, loss, node, labels, kept, rows, aggregate, weights) -> float:
    total = len(rows)
    suppressed = total - sum(map(len, kept.values()))
    if loss == "discernibility":
        return sum(len(m) ** 2 for m in kept.values()) + total * suppressed
    if loss == "average-class-size":
        return total / (len(kept) + (suppressed > 0))
    columns = []
    for column, (ladder, level) in enumerate(zip(table.ladders, node)):
        raw = [int(table.codes[row, column]) for row in rows]
        published = [labels[row][column] for row in rows]
        if loss == "non-uniform-entropy":
            most = sum(np.log(total / raw.count(v)) for v in raw)
            paid = sum(
                np.log((published.count(p) if labels[row] in kept else total) / raw.count(v))
                for row, p, v in zip(rows, published, raw)
            )
            columns.append(paid / most if most > 0 else 0.0)
            continue
        step = {
            "score": level / ladder.height,
            "height": level,
            "precision": level / (ladder.height - 1),
        }.get(loss)
        each = []
        for row, label in zip(rows, published):
            if loss == "loss-metric":
                covered = int((ladder.codes[level] == label).sum())
                own = (covered - 1) / (ladder.size - 1)
            else:
                own = step
            counts_suppression = loss in ("loss-metric", "precision")
            each.append(1.0 if counts_suppression and labels[row] not in kept else own)
        columns.append(sum(each) / total)
    weights = weights or (1.0,) * len(columns)
    if aggregate == "sum":
        return sum(w * c for w, c in zip(weights, columns))
    if aggregate == "mean":
        return sum(w * c for w, c in zip(weights, columns)) / sum(weights)
    return float(np.prod([(1 + c) ** (w / sum(weights)) for w, c in zip(weights, columns)]) - 1)


@pytest.mark.parametrize("share", BUDGETS)
@pytest.mark.parametrize("loss", LOSSES)
@settings(max_examples=size(10, 25))
@given(table=tables(), k=st.integers(1, 5), less=st.integers(0, 1))
def test_optimal_equals_brute_force(loss, share, table, k, less) -> None:
    """Also where the loss is prepared for another k than the models ask for."""
    models = [KAnonymity(k)]
    expected = brute_force(table, loss, models, share)
    problem = problem_of(table, loss, models, share, less=less)
    if expected is None:
        with pytest.raises(UnattainableError):
            optimal.search(problem)
    else:
        assert optimal.search(problem).best.loss == pytest.approx(expected)


@pytest.mark.parametrize("aggregate", ["mean", "geometric"])
@settings(max_examples=size(20, 40))
@given(table=tables(), k=st.integers(1, 4), weights=st.lists(st.floats(0.1, 4), min_size=3, max_size=3), data=st.data())
def test_aggregates_and_weights_stay_exact(aggregate, table, k, weights, data) -> None:
    share = data.draw(st.sampled_from(BUDGETS))
    used = tuple(weights[: len(table.columns)])
    expected = brute_force(table, "loss-metric", [KAnonymity(k)], share, aggregate, used)
    problem = problem_of(table, "loss-metric", [KAnonymity(k)], share, aggregate, used)
    if expected is None:
        with pytest.raises(UnattainableError):
            optimal.search(problem)
    else:
        assert optimal.search(problem).best.loss == pytest.approx(expected)


@settings(max_examples=size(25, 60))
@given(table=tables(), k=st.integers(1, 4), share=st.sampled_from(BUDGETS))
def test_samarati_finds_the_lowest_height_and_its_best_node(table, k, share) -> None:
    problem = problem_of(table, "loss-metric", [KAnonymity(k)], share)
    releasable = [node for node in exhaustive.judge_all(problem) if node.satisfied]
    if not releasable:
        return
    found = optimal.search_by_height(problem_of(table, "loss-metric", [KAnonymity(k)], share))
    lowest = min(sum(node.node) for node in releasable)
    best = min(node.loss for node in releasable if sum(node.node) == lowest)
    assert sum(found.best.node) == lowest
    assert found.best.loss == pytest.approx(best)
    assert found.proved_optimal == (round(best, 9) <= round(min(node.loss for node in releasable), 9))


def test_levels_may_be_bounded() -> None:
    ladder = make_hierarchy(["a", "b", "c", "d"], [["x", "x", "y", "y"]])
    coding = Coding(ladder.values, np.arange(4, dtype=np.int32), ladder)
    table = FrequencyTable(("c",), (coding,), np.arange(4, dtype=np.int32).reshape(4, 1), np.ones(4, np.int64), {}, {})
    free = problem_of(table, "height", [KAnonymity(1)], 0.0)
    assert optimal.search(free).best.node == (0,)
    bounded = LatticeProblem(table, free.models, free.loss, 0, (1,), (1,))
    assert optimal.search(bounded).best.node == (1,)
    with pytest.raises(UnattainableError, match="highest levels"):
        optimal.search(LatticeProblem(table, (KAnonymity(3),), free.loss, 0, (0,), (1,)))
