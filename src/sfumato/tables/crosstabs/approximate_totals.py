"""Lines of a crosstab that are sums of others except for a cell or two, or for suppressed cells."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.tables.cells.system import BoolArray
from sfumato.tables.crosstabs.subtotals import Sum

Lines = npt.NDArray[np.float64]
# Bits by which a line must agree with a sum beyond chance: one in thirty coincidences leads to a question.
PROOF = 5.0
# Maximum number of lines for which neighbors are tried as parts; with more, only all others together.
MOST_LINES = 400


def near_total(lines: Lines, sums: Sequence[Sum]) -> int | None:
    """Return a line that is nearly the sum of all others, or of at least two neighbors on one side; None if there is
    none.

    Args:
        lines: The counts, one line each.
        sums: The known sums; a total of all others excludes further ones.

    >>> near_total(np.array([[17.0, 540.0, 811.0], [3.0, 250.0, 400.0], [14.0, 290.0, 410.0]]), ())
    0
    """
    used = np.flatnonzero(lines.any(axis=1))
    known = {one.total for one in sums}
    if len(used) < 3 or any(len(one.parts) >= len(used) - 1 for one in sums):
        return None
    own, above = lines[used], _above(sums)
    needed = PROOF + np.log2(len(used))
    for place, line in enumerate(used.tolist()):
        if line not in known and _best(own, place, np.isin(used, above.get(line, ()))) > needed:
            return line
    return None


def _above(sums: Sequence[Sum]) -> dict[int, list[int]]:
    """Return the totals that each line is a part of."""
    above: dict[int, list[int]] = {}
    for one in sums:
        for part in one.parts:
            above.setdefault(part, []).append(one.total)
    return above


def _best(lines: Lines, total: int, above: BoolArray) -> float:
    """Return the bits by which a line agrees with the best tried selection, minus those of choosing it."""
    tried = np.concatenate([np.zeros((0, lines.shape[1])), *_tried(lines, total, above)])
    if not len(tried):
        return 0.0
    same = tried == lines[total]
    bits = (same * bits_of(lines[total])).sum(axis=1)
    most = (same & (lines[total] > 0)).sum(axis=1) * 2 >= (lines[total] > 0).sum()
    return float((bits * most).max() - np.log2(len(tried)))


def _tried(lines: Lines, total: int, above: BoolArray) -> Iterator[Lines]:
    """Yield sums of others: of all, and of neighbors on either side, up to a known total of the line."""
    if not above.any():
        yield lines.sum(axis=0)[None] - lines[total]
    if len(lines) <= MOST_LINES:
        for side in (slice(total - 1, None, -1) if total else slice(0, 0), slice(total + 1, None)):
            beside = lines[side][: int(np.append(above[side], True).argmax())]
            # The sum of all others was tried before.
            yield beside.cumsum(axis=0)[1 : -1 if len(beside) == len(lines) - 1 else None]


def bits_of(line: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the information of each number: counts of similar lines differ by about their square roots."""
    return np.log2(np.maximum(1.0, 2.0 * np.sqrt(line)))


def shown_sums(lines: Lines) -> Iterator[list[int]]:
    """Yield lines that are the sum of all others wherever nothing is suppressed, beyond chance; the total
    first.

    >>> list(shown_sums(np.array([[np.nan, 14.0, 40.0], [25.0, 29.0, 38.0], [28.0, 43.0, 78.0]])))
    [[2, 0, 1]]
    """
    shown = lines[:, ~np.isnan(lines).any(axis=0)]
    if len(lines) < 3 or not shown.size or (shown < 0).any():
        return
    for total in np.flatnonzero((shown.sum(axis=0) == 2 * shown).all(axis=1)):
        if bits_of(shown[total]).sum() > PROOF + np.log2(len(lines)):
            yield [int(total), *(line for line in range(len(lines)) if line != total)]


def running_sum(lines: Lines) -> int | None:
    """Return a line whose entries are the running sum of another line's, from either end; None if there is
    none.

    >>> running_sum(np.array([[3.0, 25.0, 40.0], [3.0, 28.0, 68.0]]))
    1
    """
    for own in (lines, lines[:, ::-1]):
        sums = own.cumsum(axis=1)
        for place, line in enumerate(own):
            # The last entry may be that of a total.
            for shown in (line[:-1], line):
                same = (sums[:, : len(shown)] == shown).all(axis=1) & (own[:, : len(shown)] != shown).any(axis=1)
                if same.any() and bits_of(shown).sum() > PROOF + 2 * np.log2(len(lines)):
                    return place
    return None
