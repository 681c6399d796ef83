"""Array layout of a K-Optimize problem: the states of features, and the named positions in each array."""

from typing import NamedTuple

import numpy as np

from sfumato.native.array_types import Float64, Int64, Int64_2

# Typed, because functions are compiled again for each plain number that they receive.
OUT, TAIL, HEAD = np.int64(0), np.int64(1), np.int64(2)
DISCERNIBILITY, CLASSIFICATION, LOSS_METRIC = 0, 1, 2
WORD, SHIFT, MASK, FIRST, BASE, SIZE, DOMAIN, MISSING = 0, 1, 2, 3, 4, 5, 6, 7
COLUMN, VALUE, TURN = 0, 1, 2
LOW, HIGH, LEAVES = 0, 1, 2
KIND, ORDERED, K, ROWS, LIMIT = 0, 1, 2, 3, 4
ORIGIN = np.int64(0)


class Instance(NamedTuple):
    """The problem as arrays: m columns, n rows (distinct combinations) in w words, f features, v codes in all.

    Few arrays with named positions, because functions with many arguments compile slowly.

    keys (n, w), counts (n,), label_rows (n, c): the rows, how often each occurs, and with which label (c = 0 where none
        is asked for).
    columns (m + 1, 8): position of a column in a key (WORD, SHIFT, MASK); its FIRST feature, and the BASE of its codes
        in tables of codes (the last row: where the next would begin); the SIZE of its codes, of which one more stands
        for the rest of `isolate`; the values of its DOMAIN; the code of the MISSING value, or -1.
    features (f, 3): the COLUMN and the VALUE that a feature tests; and the features in the order (TURN) of the search.
    values (v, 3): values of the domain before a code (LOW), up to it (HIGH), and under it (LEAVES).
    weights (m,): of each column in the loss.
    params (5,): the KIND of cost, whether features are ORDERED, K, all ROWS, and the LIMIT of suppressed rows.
    """

    keys: Int64_2
    counts: Int64
    label_rows: Int64_2
    columns: Int64_2
    features: Int64_2
    values: Int64_2
    weights: Float64
    params: Int64
