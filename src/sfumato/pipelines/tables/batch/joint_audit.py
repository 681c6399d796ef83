"""Audit together the tables that a batch file wrote from the same records."""

from collections.abc import Sequence
from itertools import combinations

from sfumato.errors import SfumatoError, UnattainableError
from sfumato.localization.messages import Message
from sfumato.pipelines.tables.batch.state import BatchState, WrittenTable
from sfumato.tables.argus.office_table import ArgusTable, unsafe_of
from sfumato.tables.attack.findings import known_line
from sfumato.tables.deadline import within
from sfumato.tables.linked.audit import audit_together
from sfumato.tables.linked.cells import in_other_units, same_records, same_respondents
from sfumato.tables.linked.from_office import presence_of

SECONDS = 60.0
# Maximum number of cells named in a warning.
MOST_NAMED = 10


def audit_written(state: BatchState) -> None:
    """Warn about tables that are protected individually but together disclose sensitive cells.

    Raises:
        UnattainableError: The audit cannot be completed in time.
    """
    published = [one for one in state.tables if _is_protected(one)]
    distinct = list({(id(one.done.table), id(one.done.published)): one for one in published}.values())
    groups = same_records([one.done.table for one in distinct], [one.source for one in distinct])
    _warn_of_others(state, distinct, groups)
    for group in groups:
        own = [distinct[number] for number in group]
        others = [one for place, one in enumerate(distinct) if place not in group and _shares_records(one, own)]
        rounds = {one.done.linked for one in own}
        if len(own) > 1 and (others or 0 in rounds or len(rounds) > 1):
            _audit(state, own, others)


def _shares_records(one: WrittenTable, group: Sequence[WrittenTable]) -> bool:
    """Return whether a table has another response variable but the same records as a group of tables."""
    counted = one.source is not None and any(two.source is not None and one.source[0] == two.source[0] for two in group)
    return counted or any(same_respondents(one.done.table, two.done.table) for two in group)


def _warn_of_others(state: BatchState, written: Sequence[WrittenTable], groups: Sequence[Sequence[int]]) -> None:
    """Warn about tables that have common codes but are not audited together, because nearly all values differ."""
    for one, two in combinations(groups, 2):
        alike = {
            written[number].file
            for first in one
            for second in two
            if _look_alike(written[first].done.table, written[second].done.table)
            for number in (first, second)
        }
        if any(
            in_other_units(written[first].done.table, written[second].done.table) for first in one for second in two
        ):
            files = ", ".join(sorted({written[number].file for number in (*one, *two)}))
            state.warn(Message("note.other_units", files=files))
            state.passed = False
        elif alike:
            state.warn(Message("note.other_records", files=", ".join(sorted(alike))))


def _look_alike(one: ArgusTable, two: ArgusTable) -> bool:
    names = [{tree.name.lower() for tree in table.trees} for table in (one, two)]
    return one.value.lower() == two.value.lower() and bool(names[0] & names[1])


def _is_protected(one: WrittenTable) -> bool:
    """Return whether a table is protected or needs no protection; missing protection is reported elsewhere."""
    return bool(one.done.method) or not unsafe_of(one.done.table.statuses).any()


def _audit(state: BatchState, written: Sequence[WrittenTable], others: Sequence[WrittenTable]) -> None:
    """Audit tables of one response, using the empty cells known from other tables."""
    files = _files(written)
    presences = [presence_of(one.done.table, one.done.published is not None) for one in others]
    tolerance = max(one.tolerance for one in written)
    try:
        audit = audit_together([one.done for one in written], within(SECONDS), tolerance, presences)
    except SfumatoError as error:
        state.passed = False
        raise UnattainableError("joint-audit", files=files, text=error.message, text_hint=error.hint) from None
    if audit.differing:
        state.warn(Message("note.differing_cells", files=files, count=audit.differing))
    for variables in audit.not_audited:
        state.warn(Message("note.cross_not_audited", files=files, names=variables))
        state.passed = False
    for what in audit.left_out:
        state.warn(Message("located.files", files=files, message=Message("note.not_audited", what=what)))
        state.passed = False
    if audit.inherently_disclosed:
        state.log.append(Message("located.files", files=files, message=known_line(audit.inherently_disclosed)))
    if audit.leaks:
        empty = Message("note.empty_cells_known", files=_files(others)) if others else ""
        named = "; ".join(audit.names[:MOST_NAMED]) + ("; …" if audit.leaks > MOST_NAMED else "")
        leaks = Message("note.joint_leaks", files=files, count=audit.leaks, named=named)
        state.warn(Message("sentences", parts=(leaks, empty, Message("hint.suppress_together"))))
        state.passed = False


def _files(written: Sequence[WrittenTable]) -> str:
    return ", ".join(dict.fromkeys(one.file for one in written))
