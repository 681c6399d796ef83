"""Packed keys and grouping: exact for any number of columns, whatever table a node is rolled up from."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.hierarchies.ladder import make_ladder
from sfumato.microdata.classes import histogram
from sfumato.microdata.frequencies import Coding, FrequencyTable
from sfumato.microdata.grouping import Grouper
from sfumato.microdata.packing import packing_of


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
    ladder = make_ladder(values, [[f"{v // 64}" for v in range(1024)], [f"{v // 512}" for v in range(1024)]])
    codes = np.unique(random.integers(0, 1024, (rows, columns)).astype(np.int32), axis=0)
    counts = random.integers(1, 4, len(codes)).astype(np.int64)
    held = random.integers(0, 3, len(codes)).astype(np.int32)
    sensitive = {"s": histogram(np.arange(len(codes)), held, counts, len(codes), 3)}
    coding = Coding(ladder.values, np.arange(1024, dtype=np.int32), ladder)
    names = tuple(f"c{place}" for place in range(columns))
    return FrequencyTable(names, (coding,) * columns, codes, counts, sensitive, {"s": ("a", "b", "c")})


@pytest.mark.parametrize("columns", [1, 3, 30])
@settings(max_examples=20)
@given(data=st.data())
def test_grouping_equals_a_dictionary(columns, data) -> None:
    table = wide_table(columns)
    grouper = Grouper(table)
    for _ in range(3):
        node = tuple(data.draw(st.lists(st.integers(0, 3), min_size=columns, max_size=columns)))
        expected: dict = {}
        for row, count in enumerate(table.counts.tolist()):
            label = tuple(
                int(table.ladders[place].codes[level][table.codes[row, place]]) for place, level in enumerate(node)
            )
            size, held = expected.setdefault(label, [0, [0, 0, 0]])
            entry = table.sensitive["s"]
            held[int(entry.values[row])] += count
            expected[label] = [size + count, held]
        grouped = grouper.at(node)
        found = {}
        held = grouped.classes.sensitive["s"]
        for place, label in enumerate(grouper.labels(grouped).tolist()):
            tally = [0, 0, 0]
            for entry in range(held.starts[place], held.starts[place + 1]):
                tally[held.values[entry]] += int(held.counts[entry])
            found[tuple(label)] = [int(grouped.sizes[place]), tally]
        assert found == expected
