"""Range-query error: how wrong row counts of random value ranges are when estimated from the release.

Each query asks how many rows lie in random ranges of up to three columns at once (for columns without an order: in a
random set of values). The answer from the release distributes each label evenly over the values it covers. The error of
a query is |estimate - truth| / max(truth, 1 % of the rows), and the measure is the mean over the queries. LeFevre, K.
et al. (2008). Workload-aware anonymization techniques for large-scale datasets,
https://doi.org/10.1145/1386118.1386123. Seeded: the same data, plan and seed give the same queries.
"""

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.microdata.counts import kernels
from sfumato.microdata.measures.recoded_view import ColumnView, RecodedView
from sfumato.microdata.models.equivalence_classes import BoolArray, Floats

QUERIES = 100
MOST_COLUMNS = 3
FLOOR = 0.01
# Limit of the work: queries times rows of the frequency table.
MAX_WORK = 10_000_000


@dataclass(frozen=True, slots=True)
class RangeCounts:
    """The mean and the median relative error of random range counts."""

    queries: int
    mean_error: float
    median_error: float


def range_counts(view: RecodedView, seed: int, queries: int = QUERIES) -> RangeCounts:
    """Ask random range queries of a release."""
    random = np.random.default_rng(seed)
    work = len(view.table.counts) + len(view.class_rows)
    asked = max(min(queries, MAX_WORK // max(work, 1)), 10)
    errors = [_error(view, random) for _ in range(asked)]
    return RangeCounts(asked, float(np.mean(errors)), float(np.median(errors)))


def _error(view: RecodedView, random: np.random.Generator) -> float:
    """The error of one query."""
    width = len(view.columns)
    many = int(random.integers(1, min(MOST_COLUMNS, width) + 1))
    places = sorted(random.choice(width, many, replace=False).tolist())
    sets: BoolArray = np.zeros((many, max(ladder.size for ladder in view.table.ladders)), bool)
    guess: Floats = view.class_rows.astype(np.float64)
    for at, place in enumerate(places):
        column = view.columns[place]
        chosen = _chosen(column, random)
        sets[at, column.values] = chosen
        guess = guess * column.inside(chosen)[view.class_labels[:, place]]
    wanted = float(kernels.rows_inside(view.table.codes, view.table.counts, np.array(places, np.int64), sets))
    return abs(float(guess.sum()) - wanted) / max(wanted, FLOOR * view.table.rows)


def _chosen(column: ColumnView, random: np.random.Generator) -> BoolArray:
    """Return a random range of an ordered column, or a random set of values, covering a tenth to all of them."""
    count = len(column.values)
    length = max(1, round(count * float(random.uniform(0.1, 1.0))))
    if column.numbers is None:
        chosen = np.zeros(count, bool)
        chosen[random.choice(count, length, replace=False)] = True
        return chosen
    start = int(random.integers(0, count - length + 1))
    places = np.arange(count)
    found: BoolArray = (places >= start) & (places < start + length)
    return found
