"""Detect undeclared subtotals: lines of counts that are the sum of adjacent lines, or of any other lines.

A subtotal is mostly adjacent to its parts, and these may be subtotals themselves. Such blocks are found whatever the
size of the table. A line may also be the sum of a scattered selection; if no block explains the line, all selections
are tried as long as they are few enough to try and to distinguish from chance.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

import numpy as np
import numpy.typing as npt

from sfumato.tables.cells.system import BoolArray, Numbers, Places
from sfumato.values import Value

Lines = npt.NDArray[np.float64]
Keys = npt.NDArray[np.uint64]
# Bits by which numbers must agree beyond chance to count as proof: one coincidence in a thousand.
PROOF = 10.0
# Selections are enumerated while each half of the lines has at most this many that do not exceed the total.
MOST = 1 << 17
# A line that is the sum of others in more ways than this consists of small numbers and proves nothing.
SEVERAL = 4
# Search steps for the blocks of one total; numbers that need more show no block.
STEPS = 2000
# More blocks per line than this come from small numbers; those found are kept, further ones not searched.
TANGLED = 8
# Number of entries by which selections are compared with a total: its smallest ones, which are the most restrictive.
TIGHT = 4
WIDTH = 64
WORD = (1 << WIDTH) - 1


class AmbiguousSums(Enum):
    """Why the sums of a table cannot be determined from its numbers alone."""

    AMBIGUOUS = "ambiguous-sums"
    UNSEARCHED = "unsearched-sums"


class Sum(Value):
    """A line and those that add up to it."""

    total: int
    parts: tuple[int, ...]


class FoundSums(Value):
    """The sums among some lines, and the remaining doubt; there may then be further sums."""

    sums: tuple[Sum, ...]
    doubt: AmbiguousSums | None = None


class _Block(Value):
    """A total directly before or after its parts; `evidence` is the number of bits that agree, including inner
    blocks.
    """

    sum: Sum
    first: int
    last: int
    evidence: float


_Ends = dict[tuple[int, int], list[_Block]]


def find_sums(lines: Lines, margins: BoolArray, scattered: bool = True) -> FoundSums:
    """Find the sums among lines of counts: every block, and every selection of lines that no block explains.

    A grand total that includes every line once excludes other sums: further agreements are coincidences.

    Args:
        lines: The counts, one line each.
        margins: Which lines are called totals.
        scattered: Whether to search sums of scattered lines, too.

    >>> find_sums(np.array([[2.0, 5.0], [1.0, 1.0], [3.0, 6.0], [9.0, 9.0]]), np.zeros(4, bool)).sums
    (Sum(total=2, parts=(0, 1)),)
    """
    used = np.flatnonzero(lines.any(axis=1))
    if len(used) < 2 or (lines < 0).any():
        return FoundSums(())
    result = _Search(lines[used], margins[used]).run(scattered)
    named = [Sum(int(used[one.total]), tuple(sorted(int(used[part]) for part in one.parts))) for one in result.sums]
    return FoundSums(tuple(dict.fromkeys(named)), result.doubt)


def adds_up(lines: Lines, total: int) -> bool:
    """Return whether a line of counts may be the sum of others.

    >>> adds_up(np.array([[2.0], [1.0], [3.0]]), 2)
    True
    """
    return bool(_Search(lines, np.zeros(len(lines), bool)).selections(total))


class _Search:
    """The search for sums among nonempty lines."""

    def __init__(self, lines: Lines, margins: BoolArray) -> None:
        self._lines, self._margins = lines, margins
        self._keys = _keys(lines)
        self._words = [int(key) for key in self._keys]
        self._sizes = lines.sum(axis=1).tolist()
        self._bits = _bits(lines)

    def run(self, scattered: bool) -> FoundSums:
        plain = list(self._plain())
        sure = [block.sum for block in plain if self._margins[block.sum.total] or self._proves(block)]
        if sure:
            return FoundSums(tuple(sure))
        blocks = [*plain, *self._blocks()]
        sums = [block.sum for block in blocks]
        whole = (0, len(self._lines) - 1)
        if not scattered or any((block.first, block.last) == whole and self._proves(block) for block in blocks):
            return FoundSums(tuple(sums))
        told = {block.sum.total for block in blocks if self._proves(block)}
        more, doubt = self._scattered([line for line in range(len(self._lines)) if line not in told])
        return FoundSums((*sums, *more), doubt)

    def _proves(self, block: _Block) -> bool:
        """Return whether a block is beyond chance, by its numbers alone or because its total is called one."""
        return block.evidence >= (0.0 if self._margins[block.sum.total] else PROOF)

    def _plain(self) -> Iterator[_Block]:
        """Yield the lines that are the sum of all others."""
        size = len(self._lines)
        for total in np.flatnonzero((self._lines.sum(axis=0) == 2 * self._lines).all(axis=1)):
            others = tuple(line for line in range(size) if line != total)
            yield _Block(Sum(int(total), others), 0, size - 1, self._bits[total] - math.log2(size))

    def _blocks(self) -> list[_Block]:
        """Return all blocks; those made of blocks are found in later rounds."""
        blocks: dict[_Block, None] = {}
        while True:
            before, ends = len(blocks), _ends(blocks)
            for total in range(len(self._lines)):
                blocks.update(dict.fromkeys(self._beside(total, ends)))
            if len(blocks) == before or len(blocks) > TANGLED * len(self._lines):
                return list(blocks)

    def _beside(self, total: int, ends: _Ends) -> Iterator[_Block]:
        """Yield the blocks with this line as total, starting from its neighbor in either direction."""
        own = self._bits[total] - math.log2(2 * len(self._lines))
        for step in (-1, 1):
            for parts, reached, evidence in self._runs(total, step, ends):
                first, last = min(total, reached), max(total, reached)
                yield _Block(Sum(total, parts), first, last, own + evidence)

    def _runs(self, total: int, step: int, ends: _Ends) -> Iterator[tuple[tuple[int, ...], int, float]]:
        """Yield the runs of neighbors that add up to a line: their parts, their end, and the evidence within."""
        target, size = self._words[total], self._sizes[total]
        states: list[tuple[int, int, float, tuple[int, ...], float]] = [(total + step, 0, 0.0, (), 0.0)]
        for _ in range(STEPS):
            if not states:
                return
            place, word, sum_, parts, evidence = states.pop()
            if not 0 <= place < len(self._lines):
                continue
            single = _Block(Sum(place, ()), place, place, 0.0)
            for block in (single, *ends.get((step, place), ())):
                part, reached = block.sum.total, block.first if step < 0 else block.last
                added, larger = (word + self._words[part]) & WORD, sum_ + self._sizes[part]
                if added == target and larger == size:
                    yield (*parts, part), reached, evidence + block.evidence
                elif larger < size:
                    states.append((reached + step, added, larger, (*parts, part), evidence + block.evidence))

    def _scattered(self, totals: Iterable[int]) -> tuple[list[Sum], AmbiguousSums | None]:
        """Return the sums of any lines, for some totals."""
        sums: list[Sum] = []
        doubt = None
        for total in totals:
            chosen = self.selections(total)
            if chosen is AmbiguousSums.UNSEARCHED:
                return sums, AmbiguousSums.UNSEARCHED
            if chosen is AmbiguousSums.AMBIGUOUS:
                doubt = AmbiguousSums.AMBIGUOUS
            else:
                sums += chosen
        return sums, doubt

    def selections(self, total: int) -> list[Sum] | AmbiguousSums:
        """Return all selections that add up to a line, by combining partial selections of both halves of the others."""
        fitting = self._fitting(total)
        one, two = (self._partial(fitting[start::2], total) for start in (0, 1))
        if one is None or two is None:
            return AmbiguousSums.UNSEARCHED
        pairs = _pairs(one.keys, two.keys, self._keys[total])
        if pairs is None:
            return AmbiguousSums.AMBIGUOUS
        chosen = [(*one.lines(left), *two.lines(right)) for left, right in pairs]
        return [Sum(total, parts) for parts in chosen]

    def _partial(self, lines: Places, total: int) -> "_Partial | None":
        """Return the selections of some lines that do not exceed a total; None if there are too many."""
        if len(lines) > WIDTH:
            return None
        tight = np.argsort(self._lines[total])[:TIGHT]
        nothing = np.zeros(1, np.uint64)
        partial = _Partial(lines, np.zeros((1, len(tight))), nothing, nothing)
        for place, line in enumerate(lines):
            partial = partial.with_line(place, self._lines[line, tight], self._lines[total, tight], self._keys[line])
            if len(partial.keys) > MOST:
                return None
        return partial

    def _fitting(self, total: int) -> Places:
        """Return the lines that can be parts of another: none exceeds it, and together they reach it."""
        fits = (self._lines <= self._lines[total]).all(axis=1)
        fits[total] = False
        short = (self._lines[fits].sum(axis=0) < self._lines[total]).any()
        return np.flatnonzero(fits & (not short))


def _ends(blocks: Iterable[_Block]) -> _Ends:
    """Index the blocks by the end at which a search meets them, and its direction."""
    ends: _Ends = {}
    for block in blocks:
        ends.setdefault((-1, block.last), []).append(block)
        ends.setdefault((1, block.first), []).append(block)
    return ends


class _Partial(Value):
    """Selections of some lines: their sums in a few entries, their keys, and a bit for each selected line."""

    all: Places
    sums: Lines
    keys: Keys
    members: Keys

    def with_line(self, place: int, sums: Lines, room: Numbers, key: np.uint64) -> "_Partial":
        """Return each selection without a further line, and with it if it does not exceed the capacity."""
        grown = self.sums + sums
        fits = (grown <= room).all(axis=1)
        return _Partial(
            self.all,
            np.concatenate([self.sums, grown[fits]]),
            np.concatenate([self.keys, self.keys[fits] + key]),
            np.concatenate([self.members, self.members[fits] | np.uint64(1 << place)]),
        )

    def lines(self, selection: int) -> tuple[int, ...]:
        """Return the lines of a selection."""
        member = int(self.members[selection])
        return tuple(int(line) for place, line in enumerate(self.all) if member >> place & 1)


def _keys(lines: Lines) -> Keys:
    """Return a hash of each line; the hash of a sum of lines is the sum of their hashes."""
    weights = np.random.default_rng(7).integers(1, WORD, lines.shape[1], np.uint64, endpoint=True)
    return np.asarray((lines.astype(np.int64).astype(np.uint64) * weights).sum(axis=1, dtype=np.uint64))


def _bits(lines: Lines) -> list[float]:
    """Return the information of each line; entries that follow from others, assumed the largest, carry none."""
    used = lines[:, lines.any(axis=0)]
    rank = int(np.linalg.matrix_rank(used))
    return [float(bits) for bits in np.sort(np.log2(1.0 + used), axis=1)[:, :rank].sum(axis=1)]


def _pairs(left: Keys, right: Keys, target: np.uint64) -> list[tuple[int, int]] | None:
    """Return the pairs with a given sum; None if there are too many."""
    order = np.argsort(right)
    wanted = target - left
    start = np.searchsorted(right, wanted, "left", sorter=order)
    end = np.searchsorted(right, wanted, "right", sorter=order)
    hits = np.flatnonzero(end > start)
    if (end - start)[hits].sum() > SEVERAL:
        return None
    return [(int(one), int(other)) for one in hits for other in order[start[one] : end[one]]]


# Bits by which a line must agree with a sum beyond chance: one in thirty coincidences leads to a question.
APPROXIMATE_PROOF = 5.0
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
    needed = APPROXIMATE_PROOF + np.log2(len(used))
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
        if bits_of(shown[total]).sum() > APPROXIMATE_PROOF + np.log2(len(lines)):
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
                if same.any() and bits_of(shown).sum() > APPROXIMATE_PROOF + 2 * np.log2(len(lines)):
                    return place
    return None
