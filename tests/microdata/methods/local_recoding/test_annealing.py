"""Classes opened and closed by annealing stay large enough and hold every row; what the loops note down stays true."""

import numpy as np
import polars as pl
import pytest

from sfumato import datasets
from sfumato.engines.opening import open_engine
from sfumato.microdata.methods.full_domain.problem import problem_of
from sfumato.microdata.methods.local_recoding import annealing, annealing_kernels
from sfumato.microdata.methods.local_recoding.annealing_kernels import NOWHERE
from sfumato.microdata.methods.local_recoding.candidate_kernels import CandidateBuffers
from sfumato.microdata.methods.local_recoding.candidates import Candidate, CellWalk
from sfumato.microdata.methods.local_recoding.sweep import Sweep
from sfumato.microdata.plan.read import read_plan
from sfumato.pipelines.release_stages.counting import frequency_table

GOING = np.zeros(1, np.int64)


def sweep_of(k: int, rows: int = 800) -> Sweep:
    plan = read_plan(datasets.census(rows).plan("rows.csv", k) | {"method": {"name": "local"}})
    table = frequency_table(plan, open_engine(pl.DataFrame(datasets.census(rows).columns()), plan))
    return Sweep(problem_of(plan, plan.method, table), plan.method.nodes, 0)


def prices_of(walk: CellWalk) -> tuple[np.ndarray, np.ndarray]:
    least = walk.cheapest(GOING)
    worth = None if least is None else walk.dual(least, GOING)
    assert least is not None and worth is not None
    return least, worth


@pytest.mark.parametrize("k", [2, 5, 25])
def test_classes_are_large_enough_and_lose_less_than_before(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = sweep_of(k)
    walk = CellWalk(sweep)
    least, _ = prices_of(walk)
    after = annealing.annealed(walk, least, GOING)
    monkeypatch.setattr(annealing, "FEWEST_LOOKS", 0)
    monkeypatch.setattr(annealing, "MOST_LOOKS", 0)
    before = annealing.annealed(walk, least, GOING)
    assert after is not None and before is not None and (after >= 0).all()
    assert np.bincount(after, weights=sweep.table.counts).min() >= k
    assert Candidate(sweep, after).loss < Candidate(sweep, before).loss


def members_of(found: CandidateBuffers, cell: int) -> np.ndarray:
    return found.members[found.starts[cell] : found.starts[cell + 1]]


def test_cells_have_members_enough_and_the_dearest_first() -> None:
    sweep = sweep_of(5)
    walk = CellWalk(sweep)
    worth = prices_of(walk)[1]
    found = walk.found(worth, GOING, 1.5)
    assert len(found.costs) > 100
    for cell in range(len(found.costs)):
        members = members_of(found, cell)
        assert sweep.table.counts[members].sum() >= 5
        assert (np.diff(worth[members]) <= 0).all()


def test_with_little_room_the_best_cells_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    walk = CellWalk(sweep_of(5))
    worth = prices_of(walk)[1]
    every = walk.found(worth, GOING, 1.5)
    monkeypatch.setattr("sfumato.microdata.methods.local_recoding.candidates.MOST_CELLS", 100)
    some = walk.found(worth, GOING, 1.5)
    assert 0 < len(some.costs) <= 100
    assert some.ratios.max() <= np.sort(every.ratios)[100]


def test_the_cells_of_classes_are_those_with_their_labels() -> None:
    sweep = sweep_of(5)
    worth = prices_of(CellWalk(sweep))[1]
    nothing = CandidateBuffers(np.zeros(0, np.int32), np.zeros(1, np.int64), np.zeros(0), np.zeros(0))
    owners = np.arange(len(worth)) // 7
    classes = Candidate(sweep, owners)
    cells = annealing._with_classes(sweep, nothing, owners, classes.number, worth)
    codes, labels = sweep.table.codes, sweep.prices.labels
    for number in range(classes.number):
        columns = zip(range(codes.shape[1]), classes.levels[number], strict=True)
        first = codes[classes.first[number]]
        same = [labels[at, level, codes[:, at]] == labels[at, level, first[at]] for at, level in columns]
        assert set(members_of(cells, number)) == set(np.flatnonzero(np.all(same, axis=0)))


def test_what_closing_costs_is_counted_right_all_the_time() -> None:
    sweep = sweep_of(5)
    walk = CellWalk(sweep)
    found = walk.found(prices_of(walk)[1], GOING, 1.5)
    counts = sweep.table.counts.astype(np.int32)
    core, _ = annealing._core(found, len(counts))
    opened = annealing._opened(core, counts, 5)
    heats, chances = np.array([0.3, 0.1]), -np.log((np.arange(1024) + 0.5) / 1024)
    annealing_kernels.anneal(core, opened, counts, 5, heats, chances, 2_000_000, np.array([7], np.uint64), GOING)
    slots = len(opened.sizes)
    assert (np.bincount(opened.owners, weights=counts, minlength=slots) == opened.sizes).all()
    closing = np.bincount(opened.owners, weights=opened.more, minlength=slots)
    for slot in np.flatnonzero(opened.cells >= 0):
        assert opened.sizes[slot] >= 5
        assert closing[slot] == pytest.approx(opened.closing[slot], abs=1e-6)
    for row in range(len(counts)):
        held = opened.slots[core.holders[core.places[row] : core.places[row + 1]]]
        others = [slot for slot in held if slot > NOWHERE and slot != opened.owners[row]]
        assert opened.costs[opened.second[row]] == opened.costs[others[0] if others else NOWHERE]
        assert opened.owners[row] == NOWHERE or opened.owners[row] in held


def test_rows_are_listed_by_label() -> None:
    sweep = sweep_of(5, 300)
    worth = np.arange(len(sweep.table.counts), dtype=float)
    listed, begins = annealing._labels(sweep, worth)
    labels = sweep.prices.labels[1, 1, sweep.table.codes[:, 1]]
    for label in np.unique(labels):
        rows = listed[1, 1, begins[1, 1, label] : begins[1, 1, label + 1]]
        assert (rows == np.flatnonzero(labels == label)[::-1]).all()


def test_bettered_prices_prove_more_than_those_they_come_from() -> None:
    walk = CellWalk(sweep_of(5))
    least, counts = prices_of(walk)[0], walk.sweep.table.counts
    worth = annealing._worth(walk, least, counts.astype(np.int32), GOING)
    before, after = walk.dual(least, GOING), walk.dual(worth, GOING)
    assert before is not None and after is not None
    assert (counts * after).sum() > (counts * before).sum()
