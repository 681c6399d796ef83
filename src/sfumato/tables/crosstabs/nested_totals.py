"""Subtotals of a published crosstab with suppressed cells, as far as the shown cells determine them."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.tables.crosstabs.approximate_totals import MOST_LINES, PROOF, bits_of

Lines = npt.NDArray[np.float64]


def adds_up(lines: Lines, total: int, parts: Sequence[int]) -> bool:
    """Return whether a line may be the sum of others: equal where none is suppressed, otherwise not less than those
    shown.

    >>> [adds_up(np.array([[np.nan, 3.0], [9.0, 4.0], [most, 7.0]]), 2, [0, 1]) for most in (12.0, 8.0)]
    [True, False]
    """
    told, known = lines[list(parts)], ~np.isnan(lines[total])
    whole = known & ~np.isnan(told).any(axis=0)
    least = np.nansum(told, axis=0)
    return bool((least[known] <= lines[total, known]).all() and (least[whole] == lines[total, whole]).all())


def nested_sums(lines: Lines, grand: int | None = None) -> Iterator[list[int]]:
    """Yield lines that are the sum of neighbors, or of totals among these; the total first.

    Args:
        lines: The counts; NaN if suppressed.
        grand: The line that is called the total. All others are assumed to be its parts or parts of these, so less
            proof is needed; if the rest does not add up to it, nothing is yielded.

    >>> north, south = [[np.nan, 14.0], [11.0, 12.0], [14.0, 26.0]], [[30.0, 9.0], [10.0, 11.0], [40.0, 20.0]]
    >>> list(nested_sums(np.array([*north, *south, [54.0, 46.0]]), 6))
    [[2, 0, 1], [5, 3, 4], [6, 2, 5]]
    """
    if len(lines) > MOST_LINES:
        return
    needed = 0.0 if grand is not None else PROOF + float(np.log2(len(lines)))
    left, found = [place for place in range(len(lines)) if place != grand], list[list[int]]()
    while block := _block(lines, left, needed):
        found.append(block)
        left = [place for place in left if place not in block[1:]]
    if grand is not None:
        if len(left) < 2 or not adds_up(lines, grand, left):
            return
        found.append([grand, *left])
    yield from found


def _block(lines: Lines, left: Sequence[int], needed: float) -> list[int] | None:
    """Return a line that is the sum of the fewest neighbors, at least two, on one side of it."""
    for at, total in enumerate(left):
        for beside in (left[:at][::-1], left[at + 1 :]):
            for many in _many(lines, total, beside, needed):
                return [total, *sorted(beside[:many])]
    return None


def _many(lines: Lines, total: int, beside: Sequence[int], needed: float) -> Iterator[int]:
    """Yield the numbers of neighbors that add up to a line."""
    told = lines[beside[0]].copy() if beside else np.zeros(0)
    least = np.nan_to_num(told)
    for many, place in enumerate(beside[1:], start=2):
        told, least = told + lines[place], least + np.nan_to_num(lines[place])
        if (least > lines[total]).any():
            return
        known = ~np.isnan(told) & ~np.isnan(lines[total])
        same = (told[known] == lines[total, known]).all()
        if same and lines[total, known].any() and bits_of(lines[total, known]).sum() > needed:
            yield many
