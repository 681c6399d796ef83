"""Certificates: alternative tables that show that a cell is protected, each checked before it counts.

A witness is another table: deviations from the true values that satisfy every relation, change suppressed cells only,
and stay within known bounds. If it moves a sensitive cell as far as its protection level, no attacker who considers it
possible can tell the difference. An attacker who can exclude it needs another witness. Where witnesses come from does
not matter.
"""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.errors import UnattainableError
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, Places
from sfumato.tables.cells.precision import NOISE, Scale
from sfumato.tables.cells.witness import Witness
from sfumato.tables.deadline import Deadline


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the audit need not look for itself.

    Attributes:
        witnesses: Other tables that agree with the publication; each is looked at before it counts.
        deadline: Until when ranges are computed of cells that witnesses show to be safe.
        limit: When the audit must have ended, whatever is left.
        promised: Whether only cells are attacked that something is promised of.
    """

    witnesses: Sequence[Witness] = ()
    deadline: Deadline = field(default_factory=Deadline)
    limit: Deadline = field(default_factory=Deadline)
    promised: bool = False

    def check_limit(self) -> None:
        """Refuse to go on past the end.

        Raises:
            UnattainableError: It is past.
        """
        if self.limit.over:
            raise UnattainableError(
                "the time was over before every attack was tried.",
                "Allow more time, or publish fewer or smaller tables together.",
                "time-limit",
            )


@dataclass(frozen=True, slots=True)
class Inside:
    """What everyone who attacks from within knows, in deviations by steps: one entry for each of his cells.

    Attributes:
        count: How many attack.
        starts: Where the entries of each cell begin.
        who: Whose each entry is.
        bounds: Between which deviations he knows the cell to lie.
        needs: How far below and above its value the range must stay open to him.
    """

    count: int
    starts: Places
    who: Places
    bounds: Bounds
    needs: Bounds

    def needs_of(self, cell: int, sign: int, need: float) -> Numbers:
        """How far the range of a cell must reach for each of them; no farther than for an outsider."""
        needs, own = np.full(self.count, need), slice(self.starts[cell], self.starts[cell + 1])
        needs[self.who[own]] = np.minimum((self.needs.high if sign > 0 else self.needs.low)[own], need)
        return needs

    def entries_of(self, cells: Places) -> tuple[Places, Places]:
        """The entries of some cells, and for each the place of its cell among these."""
        counts = self.starts[cells + 1] - self.starts[cells]
        before = np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(self.starts[cells], counts) + np.arange(len(before)) - before, np.repeat(
            np.arange(len(cells)), counts
        )


def certified(
    witnesses: Sequence[Witness],
    matrix: Any,
    masked: Mask,
    bounds: Bounds,
    needs: Bounds,
    inside: Inside,
    scale: Scale,
) -> Mask:
    """The masked cells that witnesses show to be safe from everybody; those that nothing is promised of must move.

    Args:
        witnesses: What is brought along.
        matrix: Relations by cells.
        masked: Which cells are masked.
        bounds: Between which deviations, in steps, anyone holds each cell possible.
        needs: How many steps below and above its value each range must reach; not a number where nothing is promised.
        inside: What those who attack from within know.
        scale: The steps of the table.
    """
    safe = np.zeros(len(masked), bool)
    pools: dict[tuple[int, int], list[_Shown]] = {}
    kept = _kept(witnesses, matrix, masked, bounds, scale)
    for witness in kept:
        own = _own(witness)
        pools.setdefault((witness.cell, 1 if own > 0 else -1), []).append(_Shown(witness, abs(own)))
    # A range of less than a step might hold one value of the table alone, whatever was promised.
    widest = _kept([_drawn_out(witness, bounds) for witness in kept], matrix, masked, bounds, Scale(1.0))
    wide = {witness.cell for witness in widest if abs(_own(witness)) >= 1.0 - NOISE}
    promised = ~np.isnan(needs.low)
    for cell in np.flatnonzero(masked & promised).tolist():
        sides = ((-1, float(needs.low[cell])), (1, float(needs.high[cell])))
        safe[cell] = cell in wide and all(
            need < NOISE or _withstood(pools.get((cell, sign), []), cell, sign, need, inside) for sign, need in sides
        )
    moved = Bounds(np.zeros(len(masked)), np.zeros(len(masked)))
    for witness in widest:
        np.minimum.at(moved.low, witness.cells, witness.amounts)
        np.maximum.at(moved.high, witness.cells, witness.amounts)
    return safe | (masked & ~promised & (moved.high - moved.low >= 1.0 - NOISE))


@dataclass(frozen=True, slots=True)
class _Shown:
    """A witness in steps, and how far it moves its cell."""

    witness: Witness
    reach: float


def _kept(witnesses: Sequence[Witness], matrix: Any, masked: Mask, bounds: Bounds, scale: Scale) -> list[Witness]:
    """The witnesses, in steps, that keep every relation, move masked cells only and stay within what anyone knows."""
    from scipy.sparse import csc_matrix

    steps = [Witness(one.cell, one.cells, one.amounts / scale.step) for one in witnesses]
    if not steps:
        return []
    starts = np.concatenate([[0], np.cumsum([len(one.cells) for one in steps])])
    cells, amounts = np.concatenate([one.cells for one in steps]), np.concatenate([one.amounts for one in steps])
    wrong = np.zeros(len(steps), bool)
    if matrix.shape[0]:
        off = abs(matrix @ csc_matrix((amounts, cells, starts), shape=(matrix.shape[1], len(steps)))).max(axis=0)
        wrong = np.asarray(off.todense()).ravel() > NOISE
    outside = ~masked[cells] | (amounts < bounds.low[cells] - NOISE) | (amounts > bounds.high[cells] + NOISE)
    wrong |= np.add.reduceat(outside, starts[:-1]) > 0
    return [one for one, bad in zip(steps, wrong.tolist(), strict=True) if not bad and one.cell in one.cells]


def _own(witness: Witness) -> float:
    """By how much a witness moves the cell that it is about."""
    return float(witness.amounts[witness.cells == witness.cell][0])


def _drawn_out(witness: Witness, bounds: Bounds) -> Witness:
    """A witness with larger deviations, as far as anyone holds them possible, until each is a step."""
    moving = np.abs(witness.amounts) > NOISE
    amounts, cells = witness.amounts[moving], witness.cells[moving]
    room = np.where(amounts > 0, bounds.high[cells], bounds.low[cells]) / amounts
    steps = 1.0 / np.abs(amounts).min(initial=1.0)
    return replace(witness, amounts=witness.amounts * max(min(room.min(initial=np.inf), steps), 1.0))


def _withstood(pool: Sequence[_Shown], cell: int, sign: int, need: float, inside: Inside) -> bool:
    """Whether one witness reaches as far as is promised, and whoever knows that it cannot be has another."""
    if not any(shown.reach >= need - NOISE for shown in pool):
        return False
    needs = inside.needs_of(cell, sign, need)
    doubts = [_disbelievers(shown, needs, inside) for shown in pool]
    full = [own for own, shown in zip(doubts, pool, strict=True) if shown.reach >= need - NOISE]
    left = min(full, key=np.count_nonzero)
    for own, shown in zip(doubts, pool, strict=True):
        left = left & (own | (shown.reach < needs - NOISE))
    return not left.any()


def _disbelievers(shown: _Shown, needs: Numbers, inside: Inside) -> Mask:
    """Who knows that a witness, drawn in to what is promised to him, cannot be."""
    entries, places = inside.entries_of(shown.witness.cells)
    who = inside.who[entries]
    moved = needs[who] / shown.reach * shown.witness.amounts[places]
    doubting = np.zeros(inside.count, bool)
    doubting[who[(moved < inside.bounds.low[entries] - NOISE) | (moved > inside.bounds.high[entries] + NOISE)]] = True
    return doubting


def inside_of(
    cells: Sequence[Places], bounds: Sequence[Bounds], reach: Sequence[tuple[Numbers, Numbers]], size: int
) -> Inside:
    """What attackers know, by cells: for each of them his cells, between which deviations they lie, and his needs."""
    if not cells:
        nothing = Bounds(np.zeros(0), np.zeros(0))
        return Inside(0, np.zeros(size + 1, np.int64), np.zeros(0, np.int64), nothing, nothing)
    every = np.concatenate(list(cells))
    who = np.repeat(np.arange(len(cells)), [len(own) for own in cells])
    order = np.argsort(every, kind="stable")
    low, high = (np.concatenate([getattr(own, side) for own in bounds])[order] for side in ("low", "high"))
    down, up = (np.concatenate([own[side] for own in reach])[order] for side in (0, 1))
    starts = np.concatenate([[0], np.cumsum(np.bincount(every, minlength=size))])
    return Inside(len(cells), starts, who[order], Bounds(low, high), Bounds(down, up))
