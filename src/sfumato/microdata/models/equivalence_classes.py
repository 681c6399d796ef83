"""Equivalence classes: rows published with identical labels, with their sizes and their sensitive values."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.values import Value, field, replace

Counts = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
# Name under which the classes of a full-domain search hold the population's rows; no column can have it.
POPULATION = "\0population"


class Histogram(Value, eq=False):
    """Counts of each sensitive value in each class, in compressed rows.

    Class `i` holds the values `values[starts[i]:starts[i + 1]]`, ascending, each `counts[...]` times.

    Attributes:
        size: The number of distinct values in the full table.
        texts: The values themselves, for the original table; None is the missing value.
        memo: Cache of models for results about the values of a full table and their shares.
        order_memo: Cache of results about the values alone, independent of their shares.
        pair_values: For codes after those of the values, each for a value of one person, that value.
    """

    starts: Counts
    values: npt.NDArray[np.int32]
    counts: Counts
    size: int
    texts: tuple[str | None, ...] = ()
    memo: dict[Any, Any] = field(default_factory=dict)
    order_memo: dict[Any, Any] = field(default_factory=dict)
    pair_values: npt.NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))

    @property
    def owners(self) -> Counts:
        """For each entry, the class it belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def sizes(self) -> Counts:
        """Return the total count of each class."""
        return np.bincount(self.owners, weights=self.counts, minlength=len(self.starts) - 1).astype(np.int64)

    def without(self, code: int) -> "Histogram":
        """Return the same histogram without one value."""
        keep = self.values != code
        starts = np.concatenate([[0], np.cumsum(keep)])[self.starts].astype(np.int64)
        return replace(self, starts=starts, values=self.values[keep], counts=self.counts[keep], memo={}, order_memo={})

    def totals(self) -> Counts:
        """Return the count of each value in the full table."""
        return np.bincount(self.values, weights=self.counts, minlength=self.size).astype(np.int64)


class EquivalenceClasses(Value):
    """The equivalence classes of a table, as evaluated by privacy models."""

    sizes: Counts
    sensitive: Mapping[str, Histogram] = field(default_factory=dict)
    # Whether class sizes count persons instead of rows.
    counts_persons: bool = False

    @property
    def rows(self) -> int:
        return int(self.sizes.sum())

    def shares(self, column: str) -> Floats:
        """Return each value's proportion: of the rows, or of the persons, who may have several values each."""
        content = self.sensitive[column]
        if "shares" not in content.memo:
            content.memo["shares"] = content.totals() / max(self.rows, 1)
        found: Floats = content.memo["shares"]
        return found

    def holding(self, names: Collection[str]) -> "EquivalenceClasses":
        """Return the classes with only the named contents."""
        return replace(self, sensitive={name: old for name, old in self.sensitive.items() if name in names})

    def kept(self, keep: BoolArray) -> "EquivalenceClasses":
        """Return the classes that are kept, in the same order."""
        contents = {name: _kept(old, keep) for name, old in self.sensitive.items()}
        return EquivalenceClasses(self.sizes[keep], contents, self.counts_persons)


def reference_of(classes: EquivalenceClasses, whole: EquivalenceClasses) -> EquivalenceClasses:
    """Return classes as a reference distribution: their own shares, over the values of the full table."""
    return EquivalenceClasses(
        classes.sizes,
        {
            name: replace(content, texts=old.texts, memo={}, order_memo=old.order_memo, pair_values=old.pair_values)
            for name, content in classes.sensitive.items()
            if (old := whole.sensitive.get(name)) is not None
        },
        classes.counts_persons,
    )


def histogram(
    owners: npt.NDArray[np.signedinteger[Any]], values: npt.NDArray[np.int32], counts: Counts, classes: int, size: int
) -> Histogram:
    """Build a histogram from entries (class, value, count); equal pairs are added up."""
    pairs = owners.astype(np.int64) * size + values
    unique, places = np.unique(pairs, return_inverse=True)
    added = np.bincount(places, weights=counts, minlength=len(unique)).astype(np.int64)
    starts = np.searchsorted(unique, np.arange(classes + 1, dtype=np.int64) * size)
    return Histogram(starts.astype(np.int64), (unique % max(size, 1)).astype(np.int32), added, size)


def _kept(old: Histogram, keep: BoolArray) -> Histogram:
    lengths = np.diff(old.starts)[keep]
    entries = np.repeat(keep, np.diff(old.starts))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Histogram(starts, old.values[entries], old.counts[entries], old.size, old.texts)


# Name under which classes hold the weights of their rows; no column can have it.
WEIGHTS = "\0weights"
MILLIONTHS = 1_000_000


def holding_weights(classes: EquivalenceClasses, weights: Counts) -> EquivalenceClasses:
    """Return classes with the sum of the weights of their rows, in millionths.

    Weights have decimals, and classes are summed in integers; weights are therefore stored in millionths of a person.
    """
    return EquivalenceClasses(
        classes.sizes, {**classes.sensitive, WEIGHTS: weight_content(weights)}, classes.counts_persons
    )


def weight_content(weights: Counts) -> Histogram:
    """Return weights, in millionths, as class contents."""
    count = len(weights)
    return Histogram(np.arange(count + 1, dtype=np.int64), np.zeros(count, np.int32), weights, 1, (None,))


def estimated_persons(classes: EquivalenceClasses, sampling_fraction: float | None = None) -> Floats:
    """Return the persons that each class represents: the sum of its weights, or its rows by the sampling fraction.

    >>> estimated_persons(EquivalenceClasses(np.array([2, 5])), 0.1).tolist()
    [20.0, 50.0]
    """
    content = classes.sensitive.get(WEIGHTS)
    if content is None:
        return classes.sizes / (sampling_fraction or 1.0)
    millionths = np.bincount(content.owners, weights=content.counts, minlength=len(classes.sizes))
    found: Floats = np.maximum(millionths / MILLIONTHS, classes.sizes)
    return found
