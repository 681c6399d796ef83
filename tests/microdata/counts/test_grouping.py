"""Packed keys and grouping: exact for any number of columns, whatever table a node is rolled up from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.hierarchies.hierarchy import make_hierarchy
from sfumato.microdata.counts import grouping
from sfumato.microdata.counts.combinations import packing_of
from sfumato.microdata.counts.frequency_table import Coding, FrequencyTable
from sfumato.microdata.counts.grouping import Grouper, regroup
from sfumato.microdata.models.equivalence_classes import histogram
from sfumato.values import replace


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
