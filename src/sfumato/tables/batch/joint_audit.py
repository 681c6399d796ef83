"""Audit tables that are published together, as a reader of all of them could."""

from collections.abc import Hashable, Sequence
from itertools import combinations

import numpy as np

from sfumato.dataclass import dataclass
from sfumato.tables.attack.certificates import Evidence
from sfumato.tables.attack.known_anyway import audit_promises
from sfumato.tables.attack.known_ends import KnownEnd
from sfumato.tables.attack.publication import Publication
from sfumato.tables.batch.joint_table import JointTable, joined
from sfumato.tables.batch.office_protection import office_part
from sfumato.tables.batch.presence import Presence
from sfumato.tables.batch.shared_cells import agree
from sfumato.tables.cells.cells import Bounds, Mask, Numbers, no_bounds
from sfumato.tables.cells.parts import Part
from sfumato.tables.deadline import Deadline
from sfumato.tables.formats.outputs import Protected
from sfumato.tables.office.office_table import OfficeTable
from sfumato.tables.office.statuses import masked_of, unsafe_of

ADJUSTED = "adjustment"


@dataclass(frozen=True, slots=True)
class JointAudit:
    """What tables give away together.

    Attributes:
        leaks: How many cells are unsafe in one of them, and published in another or computed from all of them.
        differing: How many cells hold something else than those of the same codes in another table.
        unattacked: Variables whose cross was not attacked, for too many cells of the tables differ, or it has too many.
        left_out: What is said of crosses that are too large, where tables were attacked two by two.
        names: What the cells are called that are given away.
        known_anyway: What is not promised of unsafe cells, for it is known whatever is masked.
    """

    leaks: int
    differing: int
    unattacked: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    known_anyway: tuple[KnownEnd, ...] = ()


def same_records(tables: Sequence[OfficeTable], sources: Sequence[Hashable] = ()) -> list[list[int]]:
    """Which tables are of the same records: much of what cells of the same codes hold is the same in them.

    Args:
        tables: The tables.
        sources: What each was counted from, None where that is not known; those of one source are of the same records.
    """
    sources = sources or [None] * len(tables)
    groups = [[number] for number in range(len(tables))]
    for one, two in combinations(range(len(tables)), 2):
        first, second = (next(group for group in groups if number in group) for number in (one, two))
        counted = sources[one] is not None and sources[one] == sources[two]
        if first is not second and (counted or agree(tables[one], tables[two])):
            first += second
            groups.remove(second)
    return [sorted(group) for group in groups]


def audit_together(
    published: Sequence[Protected], deadline: Deadline, tolerance: float = 0.0, presences: Sequence[Presence] = ()
) -> JointAudit:
    """Attack tables of the same records together.

    Args:
        published: The tables as they are published. What adjustment did not move is taken for known: in another table
            it may stand as it is, and then it is.
        deadline: Until when.
        tolerance: How far totals may be off.
        presences: Tables of something else of the same records, which show that cells are empty.

    Raises:
        UnattainableError: The time is over, or codes of the tables differ in too many ways.
    """
    joint = joined([done.table for done in published], tolerance, presences)
    part = office_part(joint.whole, tolerance, unshown=joint.crossed, step=joint.step)
    exact, ranges = _exact(published, joint), _ranges(published, joint)
    masked = np.isnan(exact)
    table = part.table
    publication = Publication(
        exact, ranges.only(masked), table.bounds, table.relations, table.names, unshown=part.unshown
    )
    evidence = Evidence(deadline=deadline, limit=deadline, promised=True)
    audit, part = audit_promises(publication, part, evidence)
    # Whoever has a part in cells is kept off by masks; nothing is promised of him where numbers are changed.
    inside = _unsafe(published, joint, "masks")
    computed = {one.cell for one in audit.leaks if not one.attacker or inside[one.cell]}
    guessed = _guessed(published, joint, part) & table.unsafe
    leaks = sorted(computed | set(np.flatnonzero(guessed).tolist()))
    unattacked, left_out = (joint.broken, joint.left_out) if table.unsafe.any() else ((), ())
    names = tuple(table.names[cell] for cell in leaks)
    return JointAudit(len(leaks), joint.differing, unattacked, names, left_out, audit.known_anyway)


def _unsafe(published: Sequence[Protected], joint: JointTable, method: str) -> Mask:
    """The cells that are unsafe in a table with a method."""
    unsafe = np.zeros(len(joint.whole), bool)
    for done, own in zip(published, joint.places, strict=True):
        if done.method == method:
            unsafe[own[unsafe_of(done.table.statuses)]] = True
    return unsafe


def _exact(published: Sequence[Protected], joint: JointTable) -> Numbers:
    """What some table shows of each cell as it is; not a number where none does."""
    exact = np.full(len(joint.whole), np.nan)
    for done, own in zip(published, joint.places, strict=True):
        open_ = own[_open(done)]
        exact[open_] = joint.whole.values[open_]
    return exact


def _open(done: Protected) -> Mask:
    """The cells of a table that are published as they are."""
    if done.published is None:
        return ~masked_of(done.table.statuses)
    still = np.isclose(done.published, done.table.values, 1e-9, 1e-9)
    return np.asarray(still & (done.method == ADJUSTED))


def _ranges(published: Sequence[Protected], joint: JointTable) -> Bounds:
    """What changed numbers of all tables say of each cell."""
    ranges = no_bounds(len(joint.whole))
    for done, own in zip(published, joint.places, strict=True):
        if done.reader is not None and done.method != ADJUSTED:
            np.fmax.at(ranges.low, own, done.reader.low)
            np.fmin.at(ranges.high, own, done.reader.high)
    return ranges


def _guessed(published: Sequence[Protected], joint: JointTable, part: Part) -> Mask:
    """Cells that adjustment shows nearer than may be, or as different numbers in different tables."""
    promise, first = part.table.promise, np.full(len(joint.whole), np.nan)
    guessed = np.zeros(len(joint.whole), bool)
    slack = 1e-6 * part.knowledge.step
    for done, own in zip(published, joint.places, strict=True):
        if done.method == ADJUSTED and done.published is not None:
            near = (done.published > promise.low[own] + slack) & (done.published < promise.high[own] - slack)
            guessed[own[near]] = True
            guessed[own[np.abs(first[own] - done.published) > slack]] = True
            first[own] = done.published
    return guessed
