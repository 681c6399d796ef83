"""Every compiled loop does what its Python source says: small random releases are made with each call done twice."""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import RLock
from time import process_time
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sfumato
from sfumato.engines.dataframes.count import numbered_texts, repeated
from sfumato.engines.opening import open_engine
from sfumato.microdata.counts.persons import number_keys
from sfumato.microdata.measures import kernels as guess_kernels
from sfumato.microdata.methods.k_optimize import problem_arrays as at
from sfumato.microdata.methods.k_optimize.cut_features import space_of
from sfumato.microdata.methods.k_optimize.workers import OpenNode, SearchThread, Watcher, stray, wander
from sfumato.microdata.perturbation import microaggregation
from sfumato.microdata.plan.read import read_plan
from sfumato.native.dispatch import SOURCES
from sfumato.pipelines.attack import attack
from sfumato.pipelines.release import anonymize, frequency_table
from sfumato.tables.suppression import kernels as suppression_kernels
from sizes import size

# The first calls of a kernel in a release are done twice, and then one where their number has doubled: a loop in Python
# takes its time.
FIRST_CALLS = 3
# A kernel whose source took so many seconds is not done twice again.
MOST_SECONDS = size(0.05, 0.5)
K = {"model": "k-anonymity", "k": 3}


def modules() -> Iterator[ModuleType]:
    """All modules of the package that name compiled loops."""
    place = Path(sfumato.__path__[0])
    for path in sorted(place.rglob("*.py")):
        if path.stem.endswith("kernels") or "kernels" in path.read_text(encoding="utf-8"):
            yield import_module(".".join(("sfumato", *path.relative_to(place).with_suffix("").parts)))


@cache
def compiled() -> frozenset[int]:
    """What compiled functions are told from other values by, when all modules are imported."""
    return frozenset(map(id, SOURCES))


def is_compiled(value: Any) -> bool:
    """Whether a value is a compiled function."""
    return id(value) in compiled()


def kernels_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The compiled functions that a module defines itself."""
    return {
        name: value
        for name, value in vars(module).items()
        if is_compiled(value) and SOURCES[value].__module__ == module.__name__
    }


def copied(value: Any) -> Any:
    """An argument of its own, whose arrays lie in memory as they did."""
    if isinstance(value, tuple):
        parts = [copied(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value.copy(order="K") if isinstance(value, np.ndarray) else value


def assert_equal(one: Any, other: Any) -> None:
    """Equal, save for the last digits of sums that numpy adds up in another order."""
    if isinstance(one, tuple):
        for pair in zip(one, other, strict=True):
            assert_equal(*pair)
    elif (one is not None or other is not None) and not np.array_equal(one, other):
        np.testing.assert_allclose(np.asarray(other, float), np.asarray(one, float), rtol=1e-9, atol=1e-9)


class Checks:
    """Stand-ins for all compiled functions: each call is done by the compiled function and by its Python source."""

    def __init__(self) -> None:
        self.checked: set[str] = set()
        self.calls: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self._stand_ins: dict[int, Callable[..., Any]] = {}
        self._worlds: dict[int, dict[str, Any]] = {}
        # Threads write into parts of the same arrays, which are compared whole.
        self._alone = RLock()

    def stand_in(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        if id(kernel) not in self._stand_ins:
            self._stand_ins[id(kernel)] = self._checking(kernel)
        return self._stand_ins[id(kernel)]

    def _checking(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        source = SOURCES[kernel]
        assert isinstance(source, FunctionType)
        name = f"{source.__module__}.{source.__name__}"
        plain: list[FunctionType] = []

        def call(*arguments: Any) -> Any:
            self.calls[name] += 1
            many = self.calls[name] > FIRST_CALLS and self.calls[name].bit_count() > 1
            if many or self.seconds[name] > MOST_SECONDS:
                with self._alone:
                    return kernel(*arguments)
            if not plain:
                plain.append(self._plain(source))
            with self._alone, np.errstate(over="ignore", invalid="ignore"):
                own = copied(arguments)
                answer = kernel(*arguments)
                # Another thread may raise a flag while the source still runs.
                after = copied(arguments)
                began = process_time()
                assert_equal(answer, plain[0](*own))
                self.seconds[name] += process_time() - began
                assert_equal(after, own)
            self.checked.add(name)
            return answer

        return call

    def _plain(self, source: FunctionType) -> FunctionType:
        """A loop as Python, which calls stand-ins for the loops it calls."""
        world = source.__globals__
        if id(world) not in self._worlds:
            self._worlds[id(world)] = {}
            self._worlds[id(world)].update(self.replaced(world))
        return FunctionType(source.__code__, self._worlds[id(world)], source.__name__)

    def replaced(self, names: dict[str, Any]) -> dict[str, Any]:
        """Names of a module, with stand-ins for compiled functions and for modules of them."""
        return {name: self._replacement(value) for name, value in names.items()}

    def _replacement(self, value: Any) -> Any:
        if is_compiled(value):
            return self.stand_in(value)
        if isinstance(value, ModuleType) and value.__name__.startswith("sfumato.") and kernels_of(value):
            return SimpleNamespace(**self.replaced(vars(value)))
        if isinstance(value, FunctionType) and value.__module__.endswith("kernels"):
            return self._plain(value)
        return value


def frame(rows: int, seed: int) -> pl.DataFrame:
    """Random rows: numbers with gaps, a branch, a set of many values, columns that do not fit into one word."""
    random = np.random.default_rng(seed)
    columns: dict[str, list[Any]] = {f"c{at}": random.integers(0, 4, rows).astype(str).tolist() for at in range(3)}
    columns["age"] = [str(value) if value % 7 else None for value in random.integers(0, 90, rows)]
    columns["town"] = [f"t{value}" for value in random.integers(0, 90, rows)]
    columns["pay"] = random.integers(0, 900, rows).astype(str).tolist()
    columns["ill"] = random.choice(["1", "2", "3", "4"], rows).tolist()
    return pl.DataFrame(columns)


QUASI = {"role": "quasi-identifier"}
DIGIT = QUASI | {"hierarchy": {"type": "any"}}
COLUMNS = {
    "c0": DIGIT,
    "c1": QUASI | {"hierarchy": {"type": "tree", "parents": {"0": "low", "1": "low", "2": "high", "3": "high"}}},
    "c2": DIGIT,
    "age": QUASI | {"type": "integer", "hierarchy": {"type": "intervals", "start": 0, "end": 90, "widths": [10, 30]}},
    "town": {"role": "insensitive"},
    "pay": {"role": "sensitive"},
    "ill": {"role": "sensitive"},
}
FEW = COLUMNS | {"age": {"role": "insensitive"}}
SETS = COLUMNS | {"town": QUASI, "c2": QUASI}
ILL = {"column": "ill"}
MODELS = [
    {"model": "l-diversity", "variant": "distinct", "l": 2, **ILL},
    {"model": "l-diversity", "variant": "entropy", "l": 3.5, **ILL},
    {"model": "l-diversity", "variant": "recursive", "c": 3, "l": 2, **ILL},
    {"model": "t-closeness", "t": 0.4, **ILL},
    {"model": "t-closeness", "t": 0.1, "distance": "ordered", **ILL},
]
OPTIMAL = {"name": "optimal"}
WIDE = {f"w{at}": DIGIT for at in range(15)}


def wide_frame() -> pl.DataFrame:
    """Combinations of more than 64 bits, which differ in pairs by one column alone."""
    random = np.random.default_rng(3)
    columns = {name: 2 * [f"v{value}" for value in random.integers(0, 48, 40)] for name in WIDE}
    return pl.DataFrame(columns | {"w14": [f"v{value}" for value in range(80)]})


def huge_columns() -> dict[str, pl.Series]:
    """Columns whose lattice has too many nodes to be listed."""
    random = np.random.default_rng(6)
    return {f"h{at}": pl.Series(random.integers(0, 3, 40).astype(str)) for at in range(21)}


def plans() -> Iterator[tuple[pl.DataFrame, dict[str, Any]]]:
    """Small releases that together run every compiled loop."""
    rows = frame(60, 1)
    distance = {"type": "tree", "parents": {"1": "low", "2": "low", "3": "high", "4": "high"}}
    tree = {"model": "t-closeness", "t": 0.3, "distance": "hierarchical", "hierarchy": distance, **ILL}
    ratios = [{"model": "beta-likeness", "beta": 2, **ILL}, {"model": "delta-disclosure", "delta": 2, **ILL}]
    for model in [*MODELS, tree, *ratios]:
        yield rows, {"columns": COLUMNS, "privacy": [K, model], "method": {"name": "optimal", "suppression": 0.3}}
    pay = {"model": "t-closeness", "t": 0.5, "distance": "ordered", "column": "pay"}
    yield rows, {"columns": COLUMNS, "privacy": [K, pay], "method": {"name": "optimal", "suppression": 0.3}}
    some = {"suppression": 0.1}
    for method in ({"name": "exhaustive"}, OPTIMAL, OPTIMAL | some, {"name": "local", "rounds": 3} | some):
        yield rows, {"columns": COLUMNS, "privacy": [K], "method": method}
    for column in (COLUMNS, SETS):
        for more in ({}, {"choice": "random"}, {"cut": "loss"}, {"mode": "relaxed"}, {"bounds": "cut"}):
            yield rows, {"columns": column, "privacy": [K], "method": {"name": "mondrian"} | more}
    yield rows, {"columns": SETS, "privacy": [K, MODELS[0]], "method": {"name": "mondrian", "mode": "relaxed"}}
    for features in ("isolate", "ordered"):
        for loss in ({"loss": "discernibility"}, {"loss": "loss-metric"}, {"loss": "classification", "class": "ill"}):
            method = {"name": "k-optimize", "features": features, **loss}
            yield frame(30, 2), {"columns": FEW, "privacy": [K], "method": method}
    huge = {f"h{at}": DIGIT for at in range(21)}
    yield (
        frame(40, 4).select("c0", "c1").with_columns(**huge_columns()),
        {
            "columns": {"c0": DIGIT, "c1": DIGIT} | huge,
            "privacy": [K],
            "method": {"name": "local"},
        },
    )
    weighted = COLUMNS | {"pay": {"role": "weight"}}
    pay = rows.with_columns(pay=(pl.col("pay").cast(int) + 1).cast(str))
    yield pay, {"columns": weighted, "privacy": [{"model": "individual-risk", "threshold": 0.01}], "method": OPTIMAL}
    blank = {f"c{at}": QUASI for at in range(3)} | {"age": QUASI}
    yield rows.select(*blank), {"columns": blank, "privacy": [K], "method": {"name": "local-suppression"}}
    yield from perturbations(rows)
    for method in (OPTIMAL, {"name": "local", "nodes": 60}):
        yield wide_frame(), {"columns": WIDE, "privacy": [K], "method": method}


def perturbations(rows: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, dict[str, Any]]]:
    """Releases that microaggregate several columns and one alone, and swap ranks."""
    numbers = rows.with_columns(more=pl.col("pay").cast(float) ** 2, other=pl.col("ill").cast(float))
    columns = {"c0": DIGIT, **{name: {"role": "insensitive"} for name in ("c1", "c2", "town")}}
    both = {"role": "insensitive", "publish": {"microaggregate": 7}}
    alone = {"role": "insensitive", "publish": {"microaggregate": {"k": 4, "group": "alone"}}}
    swapped = {"role": "insensitive", "publish": {"swap": 0.2}}
    columns |= {"pay": both, "more": both, "other": alone, "ill": swapped, "age": {"role": "insensitive"}}
    yield numbers, {"columns": columns, "privacy": [K], "method": OPTIMAL}


def move_records() -> None:
    """A record that moves to another group: in few releases it is among the first."""
    kernels = microaggregation.mdav_kernels
    points = microaggregation.standardized(np.random.default_rng(0).integers(0, 9, (11, 2)).astype(float))
    groups, records = np.full(11, -1, np.int64), np.arange(11)
    count = kernels.mdav(points, records, 2, 0, groups)
    sums, sizes, members = np.zeros((count, 2)), np.zeros(count, np.int64), np.zeros((count, 3), np.int64)
    slots = np.zeros(11, np.int64)
    kernels.enlist(points, records, groups, sums, sizes, members, slots)
    one = int(members[np.argmax(sizes), 0])
    kernels.relocate(points, one, int(np.argmin(sizes)), sums, sizes, members, slots, groups)


def find_path(checks: Checks) -> None:
    """A cheapest path between two relations of a table, each cell an edge between two of them."""
    rng = np.random.default_rng(0)
    nodes, cells = 12, 60
    ends = np.array([rng.choice(nodes, 2, replace=False) for _ in range(cells)])
    edges = sorted(
        [(one, at, other, True) for at, (one, other) in enumerate(ends)]
        + [(other, at, one, False) for at, (one, other) in enumerate(ends)]
    )
    starts = np.searchsorted([edge[0] for edge in edges], np.arange(nodes + 1)).astype(np.int64)
    graph = (
        starts,
        *(np.array([edge[at] for edge in edges], kind) for at, kind in ((1, np.int64), (2, np.int64), (3, bool))),
    )
    room = rng.integers(1, 9, (3, cells)).astype(float)
    search = checks.stand_in(suppression_kernels.cheapest_path)
    lengths = [len(search(*graph, *room, need, 0, 0, goal)[0]) for need in (1.0, 5.0) for goal in range(1, nodes)]
    assert max(lengths) > 1


def sum_cuts(checks: Checks) -> None:
    """Sums of rows that are odd in some of seventy columns; enough of them are even everywhere."""
    rng, rows, columns = np.random.default_rng(0), 40, 70
    odd = np.zeros((rows, 192), bool)
    odd[:, :columns] = rng.random((rows, columns)) < 0.05
    odd[:, 128 : 128 + rows] = np.eye(rows, dtype=bool)
    words = np.packbits(odd, axis=1, bitorder="little").view(np.uint64)
    search = checks.stand_in(suppression_kernels.odd_sums)
    slack, prices = rng.random(rows) * 0.1, rng.random(columns) * 0.2
    order, whims, found = rng.permutation(columns), rng.random(rows) * 0.1, np.zeros((rows, 1), np.uint64)
    assert search(words, 2, rng.random(rows) < 0.5, slack, prices, order, whims, found) > 1


def push_cells(checks: Checks) -> None:
    """Bound cells that move with free ones, which are few and have little room: a cell is pushed both ways."""
    rng, bound, free = np.random.default_rng(0), np.arange(40), np.arange(40, 60)
    rates, room = rng.integers(-1, 2, (40, 20)).astype(float), rng.random(60)
    closed, wanted = rng.random(60) < 0.1, np.arange(60) % 7 == 0
    push, release = checks.stand_in(suppression_kernels.push), checks.stand_in(suppression_kernels.release)
    for cell, amount in ((3, 0.4), (50, -0.2), (3, -9.0)):
        flow = np.zeros(60)
        reached = push(rates, bound, free, np.where(closed, 0.0, room), room[::-1].copy(), room, cell, amount, flow)
        assert reached == abs(flow[cell]) <= abs(amount)
    release(rates, bound, free, closed, int(bound[0]))
    assert not checks.stand_in(suppression_kernels.any_stuck)(rates, bound, free, closed, wanted)


def count_shares(checks: Checks) -> None:
    """How many rows of each value would have a label by another column."""
    rng, rows, share = np.random.default_rng(0), np.zeros(4), np.array([0.5, 0.25, 1.0])
    labels, values, others = (rng.integers(0, many, 50) for many in (5, 4, 3))
    asked, weights = np.array([True, False, True, False, True]), rng.random(50)
    checks.stand_in(guess_kernels.count_values)(labels, asked, values, others, share, weights, rows)
    assert np.allclose(rows, np.bincount(values, weights * share[others] * asked[labels], 4))


def walk_features() -> None:
    """A node of K-Optimize that has a feature, and a set of features that is shaken: few releases need them."""
    method = {"name": "k-optimize", "loss": "discernibility"}
    plan = read_plan({"version": 1, "columns": FEW, "privacy": [K], "method": method, "output": {"order": "keep"}})
    rows = frame(30, 2)
    space = space_of(plan, plan.method, frequency_table(plan, open_engine(rows, plan)))
    state = np.full(len(space.instance.features), at.TAIL, np.int8)
    state[0] = at.HEAD
    worker, watch = SearchThread(space), Watcher()
    worker.look(OpenNode(0.0, state))
    stray(worker.place, wander(worker.place, space.empty(), 1, watch), 2, watch)


def number_texts() -> None:
    """Texts as Arrow has them, short ones and some of many words."""
    texts = ["", "a", "b" * 30, "a", "b" * 29 + "c", "b" * 30, "", "d" * 17]
    for kind in (pa.string(), pa.large_string()):
        column = nw.from_native(pa.chunked_array([pa.array(texts, kind)]), series_only=True)
        assert numbered_texts(column) is not None
        assert repeated(column, texts, np.arange(len(texts), dtype=np.int32)) is not None


def count_lines(folder: Path) -> None:
    """The lines of a text file, in one that is read for a release."""
    frame(60, 1).write_csv(folder / "rows.csv")
    anonymize(folder / "rows.csv", {"version": 1, "columns": COLUMNS, "privacy": [K], "method": OPTIMAL})


def run_out_of_time(rows: pl.DataFrame) -> None:
    """A search whose time is over before it begins."""
    method = OPTIMAL | {"time_limit": 1e-9}
    anonymize(rows, {"version": 1, "columns": COLUMNS, "privacy": [K], "method": method})


def attack_rows(rows: pl.DataFrame, control: pl.DataFrame) -> None:
    """Attacks on a few rows, by what is promised about a column of few values."""
    published = rows.select("c0", "c1", "ill")
    attack(published, rows, control=control, quasi_identifiers=["c0", "c1"], sensitive=["ill"], attempts=5)


def test_every_compiled_function_does_what_its_source_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sfumato.microdata.counts.grouping.LEAST_IN_RUNS", 1)
    monkeypatch.setattr("sfumato.engines.dataframes.count.MANY_ROWS", 0)
    monkeypatch.setattr("sfumato.microdata.perturbation.microaggregation.KICKS", 20)
    # Small lattices are walked to their end, and the one of millions of nodes is not.
    monkeypatch.setattr("sfumato.microdata.methods.local_recoding.search.MOST_SECONDS", 9e9)
    monkeypatch.setattr("sfumato.microdata.methods.local_recoding.candidates.MOST_WORK", 1_000_000)
    # Annealing ends by its work.
    monkeypatch.setattr("sfumato.microdata.methods.local_recoding.annealing.FEWEST_LOOKS", 0)
    monkeypatch.setattr("sfumato.microdata.methods.local_recoding.annealing.MOST_LOOKS", 30_000)
    loaded = list(modules())
    kernels = {f"{module.__name__}.{name}" for module in loaded for name in kernels_of(module)}
    checks = Checks()
    for module in loaded:
        if not kernels_of(module):
            for name, value in checks.replaced(vars(module)).items():
                if value is not vars(module)[name]:
                    monkeypatch.setattr(module, name, value)
    for rows, plan in plans():
        checks.calls.clear()
        # A flag that goes up between both calls would make them differ.
        anonymize(rows, {"version": 1} | plan | {"method": plan["method"] | {"time_limit": 9e9}})
    checks.calls.clear()
    run_out_of_time(frame(60, 1))
    count_lines(tmp_path)
    walk_features()
    checks.calls.clear()
    move_records()
    find_path(checks)
    sum_cuts(checks)
    push_cells(checks)
    count_shares(checks)
    number_texts()
    number_keys(np.arange(200, dtype=np.uint64) % np.uint64(7))
    checks.calls.clear()
    attack_rows(frame(30, 2), frame(30, 3))
    unchecked = ", ".join(sorted(kernels - checks.checked))
    assert not unchecked, f"no call of these was checked, add a release that needs them: {unchecked}"
