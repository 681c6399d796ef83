"""Grouping of frequency tables, marginal counts, persons, and missing values that match anything."""

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.engines.dataframes.engine import FrameEngine
from sfumato.engines.engine import MissingRules
from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts import grouping, grouping_kernels
from sfumato.microdata.counts.combinations import by_patterns, by_rows, failing_classes, matching_rows, packing_of
from sfumato.microdata.counts.frequency_table import DROPPED, Coding, FrequencyTable, ValueCounts
from sfumato.microdata.counts.grouping import Grouper, counted_by, regroup
from sfumato.microdata.counts.persons import ADDED_UP, PersonCount, person_histogram, places_among
from sfumato.microdata.models.equivalence_classes import histogram
from sfumato.microdata.models.persons import persons_in
from sfumato.values import replace
from sizes import size

# Packed keys and grouping: exact for any number of columns, whatever table a node is rolled up from.


@pytest.mark.parametrize("sizes", [[2], [1], [1000] * 30, [2**31 - 1, 2**31 - 1, 2**31 - 1], [3, 2**20, 5, 2**30, 7]])
def test_packing_is_exact(sizes) -> None:
    random = np.random.default_rng(3)
    codes = np.column_stack([random.integers(0, size, 50) for size in sizes]).astype(np.int32)
    packing = packing_of(sizes)
    assert (packing.unpack(packing.pack(codes)) == codes).all()
    ordered = codes[packing.order(codes)]
    keys = [tuple(row) for row in packing.pack(ordered).T[:, ::-1].tolist()]
    assert keys == sorted(keys)


def wide_table(columns: int, rows: int = 60) -> FrequencyTable:
    """A table whose combinations need several words, with ladders that halve the values at each level."""
    random = np.random.default_rng(columns)
    values = [f"{v:04d}" for v in range(1024)]
    ladder = make_hierarchy(values, [[f"{v // 64}" for v in range(1024)], [f"{v // 512}" for v in range(1024)]])
    codes = np.unique(random.integers(0, 1024, (rows, columns)).astype(np.int32), axis=0)
    counts = random.integers(1, 4, len(codes)).astype(np.int64)
    held = random.integers(0, 3, len(codes)).astype(np.int32)
    sensitive = {"s": histogram(np.arange(len(codes)), held, counts, len(codes), 3)}
    coding = Coding(ladder.values, np.arange(1024, dtype=np.int32), ladder)
    names = tuple(f"c{place}" for place in range(columns))
    return FrequencyTable(names, (coding,) * columns, codes, counts, sensitive, {"s": ("a", "b", "c")})


def expected_classes(table: FrequencyTable, node: tuple[int, ...]) -> dict:
    """The classes of a node by a dictionary: size, and what each holds."""
    expected: dict = {}
    for row, count in enumerate(table.counts.tolist()):
        label = tuple(
            int(table.ladders[place].codes[level][table.codes[row, place]]) for place, level in enumerate(node)
        )
        size, held = expected.setdefault(label, [0, [0, 0, 0]])
        held[int(table.sensitive["s"].values[row])] += count
        expected[label] = [size + count, held]
    return expected


def found_classes(grouper: Grouper, node: tuple[int, ...]) -> dict:
    grouped = grouper.at(node)
    found = {}
    held = grouped.classes.sensitive["s"]
    for place, label in enumerate(grouper.labels(grouped).tolist()):
        tally = [0, 0, 0]
        for entry in range(held.starts[place], held.starts[place + 1]):
            tally[held.values[entry]] += int(held.counts[entry])
        assert tuple(label) not in found
        found[tuple(label)] = [int(grouped.sizes[place]), tally]
    return found


@pytest.mark.parametrize("columns", [1, 3, 30])
@settings(max_examples=20)
@given(data=st.data())
def test_grouping_equals_a_dictionary(columns, data) -> None:
    table = wide_table(columns)
    grouper = Grouper(table)
    for _ in range(3):
        node = tuple(data.draw(st.lists(st.integers(0, 3), min_size=columns, max_size=columns)))
        assert found_classes(grouper, node) == expected_classes(table, node)


@pytest.mark.parametrize("stamps", [1 << 31, 200], ids=["many stamps", "few stamps"])
@pytest.mark.parametrize("in_order", [True, False], ids=["in order", "not in order"])
@settings(max_examples=25)
@given(data=st.data())
def test_grouping_run_by_run_does_too(in_order, stamps, data) -> None:
    """Long tables in order are grouped run by run; here short ones, and the hash table is emptied now and then."""
    random = np.random.default_rng(data.draw(st.integers(0, 9)))
    columns, rows = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 150))
    table = wide_table(columns)
    codes = np.unique(random.choice([0, 1, 63, 64, 500, 512, 1023], (rows, columns)).astype(np.int32), axis=0)
    order = packing_of([1024] * columns).order(codes)
    codes = codes[order if in_order else random.permutation(len(codes))]
    counts = random.integers(1, 4, len(codes)).astype(np.int64)
    values = random.integers(0, 3, len(codes)).astype(np.int32)
    held = histogram(np.arange(len(codes)), values, counts, len(codes), 3)
    table = replace(table, codes=codes, counts=counts, sensitive={"s": held})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "LEAST_IN_RUNS", 0)
        patch.setattr(grouping, "MAX_STAMP", stamps)
        patch.setattr(grouping, "MAX_KEPT_CLASSES", data.draw(st.sampled_from([10, 10_000])))
        grouper = Grouper(table)
        assert grouper._groups.sorted == (in_order or (np.diff(grouper.base.keys[0].astype(np.int64)) > 0).all())
        for _ in range(6):
            node = tuple(data.draw(st.lists(st.integers(0, 3), min_size=columns, max_size=columns)))
            assert found_classes(grouper, node) == expected_classes(table, node)
            owners = grouper.owners(node)
            labels = [ladder.codes[level][codes[:, at]] for at, (ladder, level) in enumerate(zip(table.ladders, node))]
            pairs = set(zip(owners.tolist(), zip(*(column.tolist() for column in labels))))
            assert len(pairs) == len({owner for owner, _ in pairs}) == len({label for _, label in pairs})


@pytest.mark.parametrize("size", [3, 400])
def test_histograms_roll_up_to_those_of_their_entries(size):
    draw = np.random.default_rng(size)
    for _ in range(30):
        rows, entries, classes = draw.integers(1, 40), draw.integers(0, 90), draw.integers(1, 12)
        values, counts = draw.integers(0, size, entries).astype(np.int32), draw.integers(1, 5, entries)
        content = histogram(draw.integers(0, rows, entries), values, counts, rows, size)
        owner = draw.integers(0, classes, rows).astype(np.int32)
        rolled = regroup(content, owner, int(classes))
        expected = histogram(owner[content.owners], content.values, content.counts, classes, size)
        assert [part.tolist() for part in (rolled.starts, rolled.values, rolled.counts)] == [
            part.tolist() for part in (expected.starts, expected.values, expected.counts)
        ]


# Counts by some columns are those that an engine would give.


def told(counted):
    rows = zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)
    return {tuple(texts[code] for texts, code in zip(counted.values, codes, strict=True)): n for codes, n in rows}


@pytest.mark.parametrize("columns", [("a",), ("c", "a"), ("b", "d"), ("d", "c", "b", "a")])
def test_parts_are_as_counted_by_an_engine(columns):
    random = np.random.default_rng(3)
    frame = pl.DataFrame({name: random.integers(0, size, 90).astype(str) for name, size in zip("abcd", (2, 5, 40, 3))})
    engine = FrameEngine(frame.with_columns(b=pl.when(pl.col("b") == "1").then(None).otherwise("b")))
    whole, part = engine.count(("a", "b", "c", "d"), MissingRules()), engine.count(columns, MissingRules())
    mine = counted_by(whole, columns)
    assert told(mine) == told(part)
    assert (mine.columns, mine.rows, sorted(mine.counts)) == (part.columns, part.rows, sorted(part.counts))


def test_no_rows_are_no_parts():
    empty = FrameEngine(pl.DataFrame({"a": pl.Series([], dtype=str), "b": pl.Series([], dtype=str)}))
    assert len(counted_by(empty.count(("a", "b"), MissingRules()), ("b",)).counts) == 0


# Persons of combinations: where each stands, whatever way the places are found.


@pytest.mark.parametrize("sizes", [[4, 3], [2**20, 2**20], [2**31 - 1] * 3])
def test_places_are_found_in_lists_and_by_search(sizes) -> None:
    combinations = np.array([[0, 1, 2], [3, 2, 0], [1, 0, 1]], np.int32)[:, : len(sizes)]
    sought = np.concatenate([combinations[::-1], combinations[:1] + 1, np.full((1, len(sizes)), DROPPED)])
    known = {tuple(row): place for place, row in enumerate(combinations.tolist())}
    expected = [known.get(tuple(row), DROPPED) for row in sought.tolist()]
    assert places_among(sought.astype(np.int32), combinations, sizes).tolist() == expected


@pytest.mark.parametrize("first_number", [0, 1 << 60])
def test_a_person_counts_once_in_each_class(first_number) -> None:
    random = np.random.default_rng(2)
    owners, persons = random.integers(DROPPED, 8, 300), random.integers(0, 40, 300)
    entries = PersonCount(
        ValueCounts((), (), np.zeros((300, 0), np.int32), np.ones(300, np.int64), 300), persons + first_number
    )
    content = person_histogram(owners, np.zeros(300, np.int64), entries, 8, 1)
    by_hand = Counter(owner for owner, _ in set(zip(owners.tolist(), persons.tolist(), strict=True)))
    assert persons_in(content).tolist() == [by_hand[owner] for owner in range(8)]
    assert not (entries.persons == ADDED_UP).any()


# Missing values that match anything: matches by brute force, and the largest set of rows that can stay.

UNKNOWN = 9


@st.composite
def combinations_of_rows(draw: st.DrawFn):
    columns = draw(st.integers(1, 3))
    cell = st.sampled_from([0, 1, 2, UNKNOWN])
    rows = draw(st.sets(st.tuples(*[cell] * columns), min_size=1, max_size=8))
    codes = np.array(sorted(rows), np.int32)
    counts = np.array(draw(st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows))), np.int64)
    return codes, codes == UNKNOWN, counts


def match(codes, unknown, one: int, other: int) -> bool:
    return bool(((codes[one] == codes[other]) | unknown[one] | unknown[other]).all())


@given(combinations_of_rows())
def test_matches_equal_brute_force(given_rows) -> None:
    codes, unknown, counts = given_rows
    places = range(len(counts))
    expected = [sum(int(counts[b]) for b in places if match(codes, unknown, a, b)) for a in places]
    assert matching_rows(codes, unknown, counts).tolist() == expected
    assert by_rows(codes, unknown, counts).tolist() == expected
    patterns, owners = np.unique(unknown, axis=0, return_inverse=True)
    assert by_patterns(codes, patterns, owners.reshape(-1), counts).tolist() == expected


@settings(max_examples=size(20, 100))
@given(combinations_of_rows(), st.integers(1, 6))
def test_as_few_rows_as_possible_are_suppressed(given_rows, k) -> None:
    codes, unknown, counts = given_rows
    kept = np.flatnonzero(~failing_classes(codes, unknown, counts, k))
    if len(kept):
        assert (matching_rows(codes[kept], unknown[kept], counts[kept]) >= k).all()
    largest = 0
    for number in range(len(counts), 0, -1):
        for chosen in combinations(range(len(counts)), number):
            part = list(chosen)
            if (matching_rows(codes[part], unknown[part], counts[part]) >= k).all():
                largest = max(largest, int(counts[part].sum()))
    assert int(counts[kept].sum()) == largest


# Grouping by keys of several words: the loop's source against counting with a dictionary.


@pytest.mark.parametrize(("words", "capacity"), [(1, 8), (2, 8), (3, 64)])
def test_rows_of_the_same_words_are_one_class_in_the_order_they_come(words, capacity):
    rng = np.random.default_rng(words)
    # Few distinct keys, which differ in one word alone now and then, in a table so small that they collide.
    choices = rng.integers(0, 2, (words, 40)).astype(np.uint64) << np.uint64(40)
    counts = rng.integers(1, 9, 40)
    table, owner = np.zeros(capacity, np.int64), np.full(40, -1)
    out_keys, out_counts = np.zeros((words, 40), np.uint64), np.zeros(40, np.int64)
    loop = grouping_kernels._group_wide
    group = getattr(loop, "py_func", loop)
    with np.errstate(over="ignore"):
        classes = group(choices, counts, table, 1, out_keys, out_counts, owner)
    expected: Counter[tuple[int, ...]] = Counter()
    for row, key in enumerate(map(tuple, choices.T.tolist())):
        expected[key] += int(counts[row])
    assert list(map(tuple, out_keys[:, :classes].T.tolist())) == list(expected)
    assert out_counts[:classes].tolist() == list(expected.values())
    assert [list(expected).index(tuple(key)) for key in choices.T.tolist()] == owner.tolist()
