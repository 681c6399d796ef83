"""Estimate the equivalence classes of a release from the quasi-identifiers, before any method has run."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.types import canonical, numerals
from sfumato.microdata.counts.frequency_table import ValueCounts
from sfumato.values import Value

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
# Maximum number of combinations that are divided into classes: beyond that, one part of the rows with similar
# quasi-identifiers, whose classes are as large as those of all rows.
MOST_ROWS = 4_000
# Proportion of distinct values that must be numbers for the values to be ordered by them.
_NUMBERS = 0.9


class KnownRows(Value, dict=True):
    """Combinations of the values that attackers know, with their weights.

    Attributes:
        positions: For each combination and quasi-identifier the position of its value among the ordered ones.
        weights: The weight of each quasi-identifier in the information loss.
        persons: The person of each combination; combinations of one person count once.
        counts: The rows of each combination.
    """

    positions: Ints
    weights: Floats
    persons: Ints | None
    counts: Ints

    def __len__(self) -> int:
        return len(self.counts)

    @cached_property
    def people(self) -> int:
        """The number of persons, or of rows."""
        return self.size(np.arange(len(self)))

    def of(self, rows: Ints) -> "KnownRows":
        """Return some of the combinations."""
        persons = None if self.persons is None else self.persons[rows]
        return KnownRows(self.positions[rows], self.weights, persons, self.counts[rows])

    def size(self, rows: Ints) -> int:
        """Return how many persons, or rows, some combinations have."""
        return int(self.counts[rows].sum()) if self.persons is None else len(np.unique(self.persons[rows]))


def known_rows(counted: ValueCounts, weights: Mapping[str, float], person: str | None) -> KnownRows:
    """Return the combinations of counted rows by their quasi-identifiers, those with a weight."""
    places = {name: place for place, name in enumerate(counted.columns)}
    columns = [_positions(counted.values[places[name]])[counted.codes[:, places[name]]] for name in weights]
    positions = np.column_stack(columns) if columns else np.zeros((len(counted.counts), 0), np.int64)
    persons = None if person is None else counted.codes[:, places[person]].astype(np.int64)
    return KnownRows(positions, np.array([*weights.values()]), persons, counted.counts)


def _positions(texts: Sequence[str | None]) -> Ints:
    """Return the position of each text in the order of their numbers, or of the texts; a missing one comes first."""
    plain = [text or "" for text in texts]
    numbers = numerals([text or "" for text in canonical(plain, "decimal")[0]])
    if np.isfinite(numbers).sum() >= _NUMBERS * len(plain):
        numbers[~np.isfinite(numbers)] = -np.inf
        return np.unique(numbers, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return np.unique(plain, return_inverse=True)[1].reshape(-1).astype(np.int64)


def similar_rows(rows: KnownRows, k: int) -> Ints:
    """Return combinations with similar quasi-identifiers, few enough to be divided; the same ones each time."""
    some = np.arange(len(rows))
    random = np.random.default_rng(0)
    while len(some) > MOST_ROWS:
        parts = _halves(rows, some, k)
        if parts is None:
            return some[:: max(len(some) // MOST_ROWS, 1)]
        some = parts[int(random.integers(2))]
    return some


def estimated_classes(rows: KnownRows, k: int) -> tuple[Ints, float]:
    """Return the class of each combination, and the detail that is left in all quasi-identifiers, up to their number.

    Classes are halved by the quasi-identifier in which they extend most, as long as both halves have k persons
    (LeFevre, DeWitt, Ramakrishnan 2006, "Mondrian multidimensional k-anonymity", ICDE).
    """
    owners, left = np.zeros(len(rows), np.int64), 0.0
    widths = np.maximum(rows.positions.max(axis=0, initial=0), 1)
    total = max(int(rows.counts.sum()), 1)
    for number, part in enumerate(_parts(rows, np.arange(len(rows)), k)):
        owners[part] = number
        lost = np.ptp(rows.positions[part], axis=0) / widths
        left += float(((1 - lost) * np.minimum(rows.weights, 1)).sum()) * int(rows.counts[part].sum()) / total
    return owners, left


def _parts(rows: KnownRows, whole: Ints, k: int) -> Iterator[Ints]:
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        halves = _halves(rows, part, k)
        if halves is None:
            yield part
        else:
            waiting += halves


def _halves(rows: KnownRows, part: Ints, k: int) -> tuple[Ints, Ints] | None:
    """Return two halves of some combinations, each with k persons; None if no quasi-identifier divides them so."""
    positions = rows.positions[part]
    extents = np.ptp(positions, axis=0) / np.maximum(rows.positions.max(axis=0, initial=0), 1) * rows.weights
    for column in np.argsort(-extents, kind="stable").tolist():
        if not extents[column] > 0:
            return None
        values = positions[:, column]
        order = np.argsort(values, kind="stable")
        middle = values[order[np.searchsorted(np.cumsum(rows.counts[part[order]]), rows.counts[part].sum() / 2)]]
        for below in (values < middle, values <= middle):
            halves = part[below], part[~below]
            if len(halves[0]) and len(halves[1]) and min(map(rows.size, halves)) >= k:
                return halves
    return None
