"""Protection methods of a batch file: suppression, rounding, adjustment, cell key noise."""

from dataclasses import replace

import numpy as np

from sfumato.errors import DataError, PlanError
from sfumato.pipelines.tables.batch.state import BatchState, TableJob
from sfumato.tables.adjustment.adjustment import adjust_part
from sfumato.tables.argus.argus_table import ArgusTable
from sfumato.tables.batch.argus_protection import mask_by_response, mask_office, office_part
from sfumato.tables.batch.tabulation import check_record_keys
from sfumato.tables.cell_key.noise import Contents, noisy_part
from sfumato.tables.cell_key.ptable_file import read_ptable
from sfumato.tables.cells.precision import precision_of
from sfumato.tables.deadline import Deadline, within
from sfumato.tables.formats.argus_outputs import Protected
from sfumato.tables.formats.batch_file import RuleCall
from sfumato.tables.perturbation.perturbed import PerturbedCells, check_readers
from sfumato.tables.plan.perturbation import CellKey, Rounding
from sfumato.tables.rounding.rounding import bases_of, round_part
from sfumato.tables.tabulate import WORD

# Time limit in seconds if the batch file has none.
SECONDS = 60.0
NO_PROMISE = "No rule calls a cell unsafe, so nothing is promised of the changed numbers."
# The suppression method for each command.
MASKS = {"GH": "fast", "MOD": "optimal", "OPT": "optimal", "NET": "optimal"}


def protect_job(state: BatchState, job: TableJob, call: RuleCall) -> Protected:
    """Protect one table as a command requests.

    Raises:
        UnattainableError: The table cannot be protected.
    """
    table = job.table
    if table is None:
        raise PlanError("the table was not read.", "Read it before.", "order")
    if call.name in MASKS:
        return mask_office(table, MASKS[call.name], _deadline(call), job.tolerance)
    if call.name == "RND":
        return _rounded(table, job, call)
    if call.name == "CTA":
        changed = adjust_part(office_part(table, job.tolerance, singletons=False), within(SECONDS))
        return _published(table, "adjustment", changed)
    return _noisy(state, job, table, call)


def _deadline(call: RuleCall) -> Deadline:
    """Return the deadline: OPT and MOD may give minutes, otherwise the default applies."""
    minutes = call.numbers[1] if len(call.numbers) > 1 and call.name in ("OPT", "MOD") else 0.0
    return within(minutes * 60.0 if minutes > 0 else SECONDS)


def _rounded(table: ArgusTable, job: TableJob, call: RuleCall) -> Protected:
    """Round a table by RND(table, base, steps, minutes, …)."""
    numbers = (*call.numbers, 0.0, 0.0, 0.0)
    if len(call.numbers) < 2 or numbers[1] <= 0:
        raise PlanError("the base of rounding is missing.", "Write RND(1, 5).", "batch")
    part = office_part(table, job.tolerance, singletons=False)
    rounding = Rounding(base=numbers[1], steps=int(numbers[2]))
    deadline = within(numbers[3] * 60.0 or SECONDS)
    done = round_part(part, rounding, bases_of(numbers[1], len(table)), np.zeros(len(table)), deadline)
    return _published(table, "rounding", done, f"Rounded with {done.figures.get('further_steps', 0)} further steps.")


def _noisy(state: BatchState, job: TableJob, table: ArgusTable, call: RuleCall) -> Protected:
    """Add noise by the cell key method, CKM(table) "ptable", with the p-table of the metadata or of the command."""
    metadata = state.metadata
    own = metadata.flagged("RECORDKEY") if metadata is not None else ()
    if not table.cell_keys or not own:
        raise PlanError("records have no keys.", "Mark their variable with <RECORDKEY> in the .rda.", "no-key")
    if state.records is not None and metadata is not None:
        check_record_keys(state.records, metadata)
    counts = table.value == "Freq"
    named = call.rest.split("|")[0].strip().strip('"')
    options = ("PFILE", "PFILE_FREQ") if counts else ("PFILE_CONT", "PFILE")
    file = named or next((own[0].option(option) for option in options if own[0].option(option)), "")
    if not file:
        raise PlanError("no perturbation table is named.", "Name it with <PFILE>, or behind CKM(1).", "no-ptable")
    digits = int(own[0].option("DECIMALS", "0"))
    contents = Contents(
        keys=table.cell_keys,
        modulus=10 ** min(digits, 18) if digits else WORD,
        counts=None if counts else table.frequency,
        largest=table.largest,
        structural=np.zeros(len(table), bool),
        secret="",
    )
    part = office_part(table, job.tolerance, singletons=False)
    done = noisy_part(part, CellKey(), read_ptable(state.folder / file), contents, within(SECONDS))
    return _published(table, "cell-key", done)


def _published(table: ArgusTable, method: str, done: PerturbedCells, *remarks: str) -> Protected:
    """Return the table with its perturbed numbers, if data users cannot compute too much from them.

    Raises:
        ViolationError: They can.
    """
    check_readers([done])
    unsafe = int(done.part.table.sensitive.sum())
    said = f"A reader was looked for: none computes one of {unsafe} unsafe cells more closely than the rules allow."
    said = said if unsafe else NO_PROMISE
    return Protected(table, method, done.published, notes=(*remarks, said), reader=done.ranges)


def protect_linked(state: BatchState, call: RuleCall) -> None:
    """Suppress cells in all tables together.

    Raises:
        PlanError: The method does not support several tables, or a table was not read.
    """
    if call.name not in ("GH", "MOD"):
        raise PlanError(f"{call.name} is for one table.", "Use MOD(0) or GH(0) for tables together.", "linked")
    tables = [job.table for job in state.jobs]
    there = [table for table in tables if table is not None]
    if len(there) < len(tables) or not there:
        raise PlanError("a table was not read.", "Read all before.", "order")
    for number, job in enumerate(state.jobs, start=1):
        _check_totals(job, number)
    linked = 1 + max((one.done.linked for one in state.tables), default=0)
    for job, done in zip(state.jobs, mask_by_response(there, MASKS[call.name], _deadline(call)), strict=True):
        job.done = replace(done, linked=linked)
        state.passed &= done.attacked
        state.log += [remark for remark in done.notes if remark not in (*done.warnings, *state.log)]
        for warning in done.warnings:
            state.warn(warning)


def _check_totals(job: TableJob, number: int) -> None:
    """Refuse a table whose totals do not add up if tables are protected together.

    Raises:
        DataError: The totals do not add up.
    """
    if job.table is not None and job.tolerance > precision_of(job.table.values) / 2:
        what = f"totals of table {number}, which was read by <READTABLE> 2, are off by up to {job.tolerance:g}: such a"
        do = "Correct it, let <READTABLE> 1 compute its totals, or protect it alone, and publish it alone."
        raise DataError(f"{what} table is not masked together with others.", do, "totals")
