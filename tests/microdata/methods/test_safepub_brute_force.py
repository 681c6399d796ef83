"""SafePub by brute force: how much one row changes the likelihood of what is published, levels and rows together."""

from collections import defaultdict
from itertools import product
from math import exp, prod

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.microdata.counts.frequency_table import FrequencyTable, ValueCounts, tabulate
from sfumato.microdata.methods import safepub
from sfumato.microdata.models.differential_privacy import DifferentialPrivacy
from sfumato.microdata.plan.model import Plan
from sfumato.microdata.plan.read import read_plan
from sfumato.microdata.plan.resolve import resolve

TREE = {"x1": "x", "x2": "x", "y1": "y", "y2": "y"}
COLUMNS = {
    "kind": {"role": "quasi-identifier", "hierarchy": {"type": "tree", "parents": TREE}},
    "sex": {"role": "quasi-identifier", "hierarchy": {"type": "any", "values": ["f", "m"]}},
}
ALIKE = (("x1", "f"), ("x1", "m"), ("x2", "f"), ("y1", "f"))
# Epsilon, delta, the share of the search, and how many rows the combinations have; one more of the first is looked at.
SETTINGS = {
    "few rows": (1.0, 0.3, 0.3, (2, 2, 2, 2)),
    "one large combination": (1.0, 0.2, 0.5, (7, 1, 2, 1)),
    "a row by itself": (2.0, 0.3, 0.1, (0, 3, 3, 3)),
    "levels cost most": (2.0, 0.2, 0.7, (4, 2, 2, 1)),
    "nearly all rows": (3.0, 0.4, 0.2, (9, 3, 1, 2)),
    "little epsilon": (0.5, 0.1, 0.5, (5, 2, 2, 1)),
}


def planned(epsilon: float, delta: float, search: float) -> tuple[Plan, DifferentialPrivacy]:
    privacy = [{"model": "differential-privacy", "epsilon": epsilon, "delta": delta, "search": search}]
    plan = resolve(
        read_plan({"version": 1, "columns": COLUMNS, "privacy": privacy, "method": {"name": "safepub"}}),
    )
    return plan, DifferentialPrivacy(epsilon, delta, search)


def tabulated(plan: Plan, counts: tuple[int, ...]) -> FrequencyTable:
    values = (("x1", "x2", "y1"), ("f", "m"))
    codes = np.array([[values[0].index(kind), values[1].index(sex)] for kind, sex in ALIKE], np.int32)
    rows = np.array(counts, np.int64)
    return tabulate(ValueCounts(("kind", "sex"), values, codes, rows, int(rows.sum())), plan)[0]


def outcomes(
    plan: Plan, promise: DifferentialPrivacy, table: FrequencyTable, sample: tuple[int, ...]
) -> dict[object, float]:
    """How likely each node is drawn for a sample, with the classes that are published there."""
    drawn = np.array(sample, np.int64)
    choice = safepub._Choice(plan, safepub._sampled(table, drawn), promise)
    nodes = choice.candidates(np.random.default_rng(1), 3)
    weights = np.exp(choice.exponents(np.array([choice.score(node) for node in nodes])))
    likely: dict[object, float] = {}
    for node, share in zip(nodes, weights / weights.sum(), strict=True):
        sizes: dict[object, int] = defaultdict(int)
        for codes, rows in zip(table.codes, sample, strict=True):
            labels = tuple(
                ladder.labels[level][ladder.codes[level][code]]
                for ladder, level, code in zip(table.ladders, node, codes, strict=True)
            )
            sizes[labels] += rows
        likely[node, frozenset(item for item in sizes.items() if item[1] >= promise.k)] = float(share)
    return likely


@pytest.mark.parametrize("most_nodes", [20_000, 1], ids=["all nodes", "some nodes"])
@pytest.mark.parametrize(("epsilon", "delta", "search", "rows"), SETTINGS.values(), ids=SETTINGS)
def test_one_row_changes_no_likelihood_more_than_is_promised(
    monkeypatch: pytest.MonkeyPatch,
    epsilon: float,
    delta: float,
    search: float,
    rows: tuple[int, ...],
    most_nodes: int,
) -> None:
    monkeypatch.setattr(safepub, "MOST_NODES", most_nodes)
    plan, promise = planned(epsilon, delta, search)
    assert promise.k <= 1 + sum(rows)  # else nothing is ever published, and nothing shown here
    more = (rows[0] + 1, *rows[1:])
    table = tabulated(plan, more)
    chance = {True: defaultdict(float), False: defaultdict(float)}
    for sample in product(*(range(count + 1) for count in more)):
        likely = outcomes(plan, promise, table, sample)
        for there, counts in ((True, more), (False, rows)):
            drawn = prod(float(binom.pmf(*pair, promise.sampling)) for pair in zip(sample, counts, strict=True))
            for outcome, share in likely.items():
                chance[there][outcome] += drawn * share
    assert sum(chance[True].values()) == pytest.approx(1) == sum(chance[False].values())
    for one, other in ((chance[True], chance[False]), (chance[False], chance[True])):
        reached = sum(max(likely - exp(epsilon) * other[outcome], 0) for outcome, likely in [*one.items()])
        assert reached <= delta
