"""Audit tables that are published together, for an attacker who sees all of them."""

from collections.abc import Sequence

import numpy as np

from sfumato.localization.messages import Message
from sfumato.tables.argus.office_table import masked_of, unsafe_of
from sfumato.tables.argus.safety_rules import office_part
from sfumato.tables.attack.audit_evidence import AuditEvidence
from sfumato.tables.attack.findings import AttackerView, ReducedLevel
from sfumato.tables.attack.inherent_disclosure import audit_promises
from sfumato.tables.cells.system import BoolArray, Bounds, Numbers, no_bounds
from sfumato.tables.cells.table_part import TablePart
from sfumato.tables.deadline import Deadline
from sfumato.tables.formats.argus_outputs import Protected
from sfumato.tables.linked.from_office import ZeroPattern
from sfumato.tables.linked.joint import JointTable, joined
from sfumato.values import Value

ADJUSTED = "adjustment"


class JointAudit(Value):
    """The result of an audit of several tables: what they disclose together.

    Attributes:
        leaks: Number of cells that are sensitive in one table, and published in another or computable from all of
            them.
        differing: Number of cells whose value differs from that of the same codes in another table.
        not_audited: Variables whose cross was not audited, because too many cells differ or it is too large.
        left_out: Messages for crosses that are too large; their tables were audited pairwise.
        names: Names of the disclosed cells.
        inherently_disclosed: Protection levels that were lowered because of inherent disclosure.
    """

    leaks: int
    differing: int
    not_audited: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    left_out: tuple[Message, ...] = ()
    inherently_disclosed: tuple[ReducedLevel, ...] = ()


def audit_together(
    published: Sequence[Protected], deadline: Deadline, tolerance: float = 0.0, presences: Sequence[ZeroPattern] = ()
) -> JointAudit:
    """Audit tables of the same records together.

    Args:
        published: The published tables. Cells that adjustment did not move are treated as known: another table may
            publish them unchanged, which confirms them.
        tolerance: How far totals may differ from the sum of their parts.
        presences: Tables of other values of the same records, which show that cells are empty.

    Raises:
        UnattainableError: The time limit was reached, or codes of the tables differ in too many ways.
    """
    joint = joined([done.table for done in published], tolerance, presences)
    part = office_part(joint.whole, tolerance, unshown=joint.crossed, step=joint.precision)
    exact, ranges = _exact(published, joint), _ranges(published, joint)
    masked = np.isnan(exact)
    table = part.table
    publication = AttackerView(
        exact, ranges.only(masked), table.bounds, table.constraints, table.names, hidden=part.hidden
    )
    evidence = AuditEvidence(deadline=deadline, limit=deadline, promised=True)
    audit, part = audit_promises(publication, part, evidence)
    # Suppression protects against insiders; perturbed numbers guarantee nothing against them.
    inside = _unsafe(published, joint)
    computed = {one.cell for one in audit.leaks if not one.attacker or inside[one.cell]}
    guessed = _guessed(published, joint, part) & table.sensitive
    leaks = sorted(computed | set(np.flatnonzero(guessed).tolist()))
    unattacked, left_out = (joint.broken, joint.left_out) if table.sensitive.any() else ((), ())
    names = tuple(table.names[cell] for cell in leaks)
    return JointAudit(len(leaks), joint.differing, unattacked, names, left_out, audit.inherently_disclosed)


def _unsafe(published: Sequence[Protected], joint: JointTable) -> BoolArray:
    """Return the cells that are sensitive in a table with suppressed cells."""
    unsafe = np.zeros(len(joint.whole), bool)
    for done, own in zip(published, joint.places, strict=True):
        if done.method == "masks":
            unsafe[own[unsafe_of(done.table.statuses)]] = True
    return unsafe


def _exact(published: Sequence[Protected], joint: JointTable) -> Numbers:
    """Return the value of each cell that some table publishes unchanged; NaN if none does."""
    exact = np.full(len(joint.whole), np.nan)
    for done, own in zip(published, joint.places, strict=True):
        open_ = own[_open(done)]
        exact[open_] = joint.whole.values[open_]
    return exact


def _open(done: Protected) -> BoolArray:
    """Return the cells of a table that are published unchanged."""
    if done.published is None:
        return ~masked_of(done.table.statuses)
    still = np.isclose(done.published, done.table.values, 1e-9, 1e-9)
    return np.asarray(still & (done.method == ADJUSTED))


def _ranges(published: Sequence[Protected], joint: JointTable) -> Bounds:
    """Return the intervals that perturbed numbers of all tables imply for each cell."""
    ranges = no_bounds(len(joint.whole))
    for done, own in zip(published, joint.places, strict=True):
        if done.reader is not None and done.method != ADJUSTED:
            np.fmax.at(ranges.low, own, done.reader.low)
            np.fmin.at(ranges.high, own, done.reader.high)
    return ranges


def _guessed(published: Sequence[Protected], joint: JointTable, part: TablePart) -> BoolArray:
    """Return cells whose adjusted value lies within the protection interval, or differs between tables."""
    promise, first = part.table.protection_interval, np.full(len(joint.whole), np.nan)
    guessed = np.zeros(len(joint.whole), bool)
    slack = 1e-6 * part.knowledge.precision
    for done, own in zip(published, joint.places, strict=True):
        if done.method == ADJUSTED and done.published is not None:
            near = (done.published > promise.low[own] + slack) & (done.published < promise.high[own] - slack)
            guessed[own[near]] = True
            guessed[own[np.abs(first[own] - done.published) > slack]] = True
            first[own] = done.published
    return guessed
