"""Tables that a batch file wrote of the same response, attacked together, as their readers may."""

from collections.abc import Sequence

from sfumato.errors import SfumatoError
from sfumato.pipelines.tables.batch.state import BatchState, WrittenTable
from sfumato.tables.batch.joint_audit import joint_leaks, same_cells
from sfumato.tables.deadline import within
from sfumato.tables.office.statuses import unsafe_of

SECONDS = 60.0
REMEDY = "<SUPPRESS> MOD(0) or GH(0) protects them together."


def audit_written(state: BatchState) -> None:
    """Warn of tables that hold each by itself, and together give unsafe cells away."""
    for source in dict.fromkeys(one.source for one in state.tables):
        own = [one for one in state.tables if one.source == source and _shows_values(one)]
        distinct = {id(one.done.table): one for one in own}
        alone = any(not one.linked for one in own) or len({one.linked for one in own}) > 1
        if len(distinct) > 1 and alone:
            _audit(state, list(distinct.values()), ", ".join(dict.fromkeys(one.file for one in own)))


def _shows_values(one: WrittenTable) -> bool:
    """Whether a table was masked, or needs no mask; of one that lacks its masks was warned before."""
    table, method = one.done.table, one.done.method
    return method == "masks" or (not method and not unsafe_of(table.statuses).any())


def _audit(state: BatchState, written: Sequence[WrittenTable], files: str) -> None:
    tables, tolerance = [one.done.table for one in written], max(one.tolerance for one in written)
    if not same_cells(tables):
        state.warn(f"{files}: these tables were not attacked together: cells of the same codes hold different values.")
        return
    try:
        leaks = joint_leaks(tables, within(SECONDS), tolerance)
    except SfumatoError as error:
        state.warn(f"{files}: these tables could not be attacked together: {error.what}")
        return
    if leaks:
        what = f"{files}: these tables were not protected together, and together they give {leaks} unsafe cells away, "
        state.warn(f"{what}which one masks and another publishes or lets compute. {REMEDY}")
        state.holds = False
