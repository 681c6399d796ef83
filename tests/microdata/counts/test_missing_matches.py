"""Missing values that match anything: matches by brute force, and the largest set of rows that can stay."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.microdata.counts.combinations import by_patterns, by_rows, failing_classes, matching_rows
from sizes import size

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
