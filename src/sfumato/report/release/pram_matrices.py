"""PRAM matrices for publication, with categories that only a few rows have combined."""

from collections.abc import Mapping

Matrix = Mapping[str, Mapping[str, float]]
Counts = Mapping[str, int]
DECIMALS = 2


def shown_matrix(matrix: Matrix, before: Counts, after: Counts, fewest: int, other: str) -> dict[str, dict[str, float]]:
    """Return the probabilities between frequent categories; the rest is one category, if frequent enough.

    The name of a category reveals that somebody has it, and for a rare one easily who.

    Args:
        before: The original rows of each category; after: its published rows.
        other: Name of the rest.

    >>> matrix = {name: {"a": 0.8, "b": 0.1, "c": 0.1} for name in "abc"}
    >>> shown_matrix(matrix, {"a": 9, "b": 9, "c": 1}, {"a": 9, "b": 9, "c": 1}, 3, "other")["a"]
    {'a': 0.8, 'b': 0.1, 'other': 0.1}
    """
    names = {name for row in matrix.values() for name in row} | set(matrix)
    public = {name for name in names if after.get(name, 0) >= fewest}
    groups: dict[str, list[str]] = {}
    for name in matrix:
        groups.setdefault(name if name in public and before.get(name, 0) >= fewest else other, []).append(name)
    enough = {name: rows for name, rows in groups.items() if sum(before.get(row, 0) for row in rows) >= fewest}
    return {
        name: _together([matrix[row] for row in rows], _shares(rows, before), public, other)
        for name, rows in enough.items()
    }


def _shares(names: list[str], before: Counts) -> list[float]:
    """Return the proportions of some categories."""
    rows = sum(before.get(name, 0) for name in names)
    return [before.get(name, 0) / rows for name in names]


def _together(rows: list[Mapping[str, float]], shares: list[float], public: set[str], other: str) -> dict[str, float]:
    """Return the joint probabilities of several categories, summed over targets that are not shown."""
    sums: dict[str, float] = {}
    for row, share in zip(rows, shares, strict=True):
        for name, probability in row.items():
            shown = name if name in public else other
            sums[shown] = sums.get(shown, 0.0) + share * probability
    return {name: round(probability, DECIMALS) for name, probability in sums.items()}
