"""Run a batch file of τ-ARGUS command by command, or report the line that is not supported."""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from sfumato.atomic_folders import write_text
from sfumato.errors import DataError, PlanError, SfumatoError
from sfumato.localization.messages import Message
from sfumato.pipelines.tables.batch.joint_audit import audit_written
from sfumato.pipelines.tables.batch.reading import read_micro, read_tables, recode
from sfumato.pipelines.tables.batch.state import BatchState, TableJob, WrittenTable
from sfumato.report.tables.page import table_page
from sfumato.tables.argus.office_table import ArgusTable, unsafe_of
from sfumato.tables.argus.safety_rules import active_rules, mask_by_response, mask_office, office_part, with_margins
from sfumato.tables.argus.tabulation import check_record_keys
from sfumato.tables.cells.constraints import precision_of
from sfumato.tables.deadline import Deadline, within
from sfumato.tables.formats import batch_file
from sfumato.tables.formats.apriori_file import apply_apriori
from sfumato.tables.formats.argus_outputs import (
    HOUSE,
    Protected,
    house_reason,
    output_text,
    shown_counts,
    written_without_hidden,
)
from sfumato.tables.formats.batch_file import USED, Command, RuleCall
from sfumato.tables.formats.metadata import read_metadata
from sfumato.tables.linear_programs import check_installed
from sfumato.tables.noise.adjustment import adjust_part
from sfumato.tables.noise.cell_key import Contents, noisy_part
from sfumato.tables.noise.perturbed import PerturbedCells, check_readers
from sfumato.tables.noise.ptable_file import read_ptable
from sfumato.tables.noise.rounding import bases_of, round_part
from sfumato.tables.plan.sections import CellKey, Rounding
from sfumato.tables.tabulate import WORD
from sfumato.values import Value, replace
from sfumato.version import __version__

# Time limit in seconds if the batch file has none.
SECONDS = 60.0
# The suppression method for each command.
MASKS = {"GH": "fast", "MOD": "optimal", "OPT": "optimal", "NET": "optimal"}
UNUSED = "Every cell may be anything from 0 on, single respondents always attack, and all is one program."


class BatchRun(Value):
    """The result of a batch file.

    Attributes:
        log: Every command with its result.
        warnings: Problems that users must see.
        passed: Whether no written table discloses its sensitive cells.
    """

    log: tuple[str, ...]
    written: tuple[Path, ...]
    warnings: tuple[Message, ...] = ()
    passed: bool = True


def run_batch(path: Path, out: Path | None = None, encoding: str | None = None) -> BatchRun:
    """Run a batch file.

    Args:
        path: The batch file; the files that it names are in the same folder.
        out: The output folder; by default that of the batch file.
        encoding: The encoding of all files; by default UTF-8, or a Windows code page for files that are not UTF-8.

    Raises:
        DataError: A line is wrong or not supported; the text says which, and what to do.
        UnattainableError: A table cannot be protected.
    """
    check_installed()
    commands = batch_file.read_batch(path, encoding)
    if not commands:
        raise DataError("truncated.no_command", name=path.name)
    batch_file.check_commands(commands, path.name)
    folder = out or path.parent
    folder.mkdir(parents=True, exist_ok=True)
    state = BatchState(path.parent, folder, encoding)
    try:
        _run_all(commands, state, path.name)
    except SfumatoError as error:
        _end(state, error.message)
        # Files written already need their warnings even if a later command fails.
        if said := [*state.warnings, *state.notices]:
            before = "hint.written_before" if state.written else "hint.noted_before"
            error.hint = Message(before, hint=error.hint, notes=tuple(said))
        raise
    _end(state)
    return BatchRun(tuple(state.log), tuple(state.written), tuple(state.warnings), state.passed)


def _run_all(commands: Sequence[Command], state: BatchState, name: str) -> None:
    with tempfile.TemporaryDirectory(prefix="sfumato-") as scratch:
        for command in commands:
            state.log.append(f"<{command.word}> {command.rest}".strip())
            if command.word == "GOINTERACTIVE":
                state.log.append("The batch ends here: there is nothing interactive.")
                break
            _run(command, state, name, Path(scratch))


def _end(state: BatchState, *remarks: Message) -> None:
    """Audit the written tables together and write the log, also after an error.

    Raises:
        UnattainableError: The joint audit cannot be completed.
    """
    state.log += [f"Error: {remark}" for remark in remarks]
    try:
        audit_written(state)
    except SfumatoError as error:
        state.log.append(f"Error: {error.message}")
        if not remarks:
            raise
        state.notices.append(error.message)
    finally:
        if state.logbook is not None:
            _write(state, state.logbook, "".join(line + "\n" for line in state.log))


def _run(command: Command, state: BatchState, name: str, scratch: Path) -> None:
    """Run one command; errors name its line."""
    steps: dict[str, Callable[[], None]] = {
        "OPENMICRODATA": lambda: _open(command, state, tabular=False),
        "OPENTABLEDATA": lambda: _open(command, state, tabular=True),
        "OPENMETADATA": lambda: _metadata(command, state),
        "SPECIFYTABLE": lambda: state.jobs.append(TableJob(batch_file.specification_in(command, name))),
        "SAFETYRULE": lambda: _unread(state).rules.extend(batch_file.rules_in(command, name)),
        "READMICRODATA": lambda: read_micro(state, scratch),
        "READTABLE": lambda: read_tables(state, command.rest),
        "APRIORI": lambda: _apriori(command, state, name),
        "RECODE": lambda: recode(state, scratch, *batch_file.recode_in(command, name)),
        "SUPPRESS": lambda: _suppress(command, state, name),
        "WRITETABLE": lambda: _write_table(command, state, name),
        "SOLVER": lambda: state.log.append("HiGHS solves all programs here."),
        "CLEAR": state.clear,
        "LOGBOOK": lambda: setattr(state, "logbook", batch_file.file_in(command)),
        "VERSIONINFO": lambda: _write(state, batch_file.file_in(command), f"Sfumato {__version__}\n"),
    }
    try:
        steps.get(command.word, lambda: None)()
    except SfumatoError as error:
        if f"{name}, line {command.line}" not in error.message:
            error.message = Message(
                "located.command", name=name, line=command.line, word=command.word, message=error.message
            )
        raise


def _open(command: Command, state: BatchState, tabular: bool) -> None:
    path = state.folder / batch_file.file_in(command)
    if not path.is_file():
        raise DataError("unreadable.no_such_file", name=path.name)
    if tabular is not state.tabular or not tabular:
        state.clear()
    state.data, state.tabular, state.metadata = path, tabular, None


def _metadata(command: Command, state: BatchState) -> None:
    if state.data is None:
        raise PlanError("order.no_data_are_open")
    state.metadata = read_metadata(state.folder / batch_file.file_in(command), state.encoding)


def _last(state: BatchState) -> TableJob:
    if not state.jobs:
        raise PlanError("order.no_table_is_specified")
    return state.jobs[-1]


def _unread(state: BatchState) -> TableJob:
    """Return the last table; its rules must be specified before it is read, because later ones have no effect."""
    job = _last(state)
    if job.table is not None:
        raise PlanError("order.table_already_read")
    return job


def job_of(state: BatchState, number: int) -> tuple[TableJob, ArgusTable]:
    """Return a table that was read, by its number from 1.

    Raises:
        PlanError: There is no such table, or it was not read.
    """
    if not 1 <= number <= len(state.jobs):
        raise PlanError("table.there_is_no_table", name=number, count=len(state.jobs))
    job = state.jobs[number - 1]
    if job.table is None:
        raise PlanError("order.table_was_not_read", name=number)
    return job, job.table


def _apriori(command: Command, state: BatchState, name: str) -> None:
    asked = batch_file.apriori_in(command, name)
    job, table = job_of(state, asked.table)
    path = state.folder / asked.file
    options = asked.ignore_errors, asked.expand_trivial, state.encoding
    applied = apply_apriori(path, table, asked.separator, *options)
    job.table, job.done, job.marked = with_margins(applied.table, job.rules), None, True
    state.log += [f"passed over: {what}" for what in applied.passed_over]


def _suppress(command: Command, state: BatchState, name: str) -> None:
    call = batch_file.suppression_in(command, name)
    if len(call.numbers) > USED.get(call.name, len(call.numbers)):
        state.log.append(f"{call.name}: only the first {USED[call.name]} numbers are used here. {UNUSED}")
    if call.numbers[0] == 0:
        protect_linked(state, call)
        return
    job, _ = job_of(state, int(call.numbers[0]))
    job.done = protect_job(state, job, call)
    state.log += list(job.done.notes)
    for warning in job.done.warnings:
        state.warn(warning)


def _write_table(command: Command, state: BatchState, name: str) -> None:
    asked = batch_file.output_in(command, name)
    job, table = job_of(state, asked.table)
    done = job.done or Protected(table)
    if done.method in ("", "masks"):
        done = replace(done, notes=(*done.notes, *_unprotected(state, job, done.table, asked)))
    text = partial(output_text, kind=asked.kind, options=asked.options)
    reason = house_reason(done, asked.kind, asked.options)
    _write(state, asked.file, text(done) if reason else written_without_hidden(done, text))
    if asked.options.get("AS") and asked.kind > 3:
        state.log.append(f"{asked.file}: option AS says nothing in output {asked.kind}, which has statuses of its own.")
    if reason:
        state.notices.append(Message("note.internal_file", name=asked.file, reason=reason))
        state.log.append(state.notices[-1])
    if asked.kind not in HOUSE:
        state.tables.append(_written_table(state, job, asked.file, done, job.tolerance))
    if (counts := shown_counts(done, asked.kind)) is not None:
        state.tables.append(_written_table(state, job, asked.file, counts, 0.0))
    _write(state, str(Path(asked.file).with_suffix(".html")), table_page(done))


def _written_table(state: BatchState, job: TableJob, file: str, done: Protected, tolerance: float) -> WrittenTable:
    return WrittenTable(file, done, tolerance, state.source_of(job, done.table), state.spanned(job))


def _unprotected(state: BatchState, job: TableJob, table: ArgusTable, asked: batch_file.Output) -> tuple[Message, ...]:
    """Return a warning if a table is written unprotected or without a rule."""
    unsafe = int(unsafe_of(table.statuses).sum())
    ruled = active_rules(job.rules) if not unsafe else job.done
    if asked.kind in HOUSE or ruled:
        return ()
    if unsafe:
        what = Message("note.unprotected_table", file=asked.file, number=asked.table, count=unsafe)
        state.passed = False
    else:
        what = Message("note.table_without_rule", file=asked.file, number=asked.table)
    state.warn(what)
    return (what,)


def _write(state: BatchState, name: str, text: str) -> None:
    """Write a file that the batch file names into the output folder, ignoring its original folder."""
    path = state.out / name.replace("\\", "/").rpartition("/")[2]
    if path.resolve() in {one.resolve() for one in (state.data,) if one is not None}:
        raise PlanError("output-exists.would_be_written_over_its_own", name=path.name)
    write_text(path, text)
    state.written.append(path)


def protect_job(state: BatchState, job: TableJob, call: RuleCall) -> Protected:
    """Protect one table as a command requests.

    Raises:
        UnattainableError: The table cannot be protected.
    """
    table = job.table
    if table is None:
        raise PlanError("order.the_table_was_not_read")
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
        raise PlanError("batch")
    part = office_part(table, job.tolerance, singletons=False)
    rounding = Rounding(base=numbers[1], steps=int(numbers[2]))
    deadline = within(numbers[3] * 60.0 or SECONDS)
    done = round_part(part, rounding, bases_of(numbers[1], len(table)), np.zeros(len(table)), deadline)
    return _published(
        table, "rounding", done, Message("note.rounded_steps", count=int(done.figures.get("further_steps", 0)))
    )


def _noisy(state: BatchState, job: TableJob, table: ArgusTable, call: RuleCall) -> Protected:
    """Add noise by the cell key method, CKM(table) "ptable", with the p-table of the metadata or of the command."""
    metadata = state.metadata
    own = metadata.flagged("RECORDKEY") if metadata is not None else ()
    if not table.cell_keys or not own:
        raise PlanError("no-key.records_have_no_keys")
    if state.records is not None and metadata is not None:
        check_record_keys(state.records, metadata)
    counts = table.value == "Freq"
    named = call.rest.split("|")[0].strip().strip('"')
    options = ("PFILE", "PFILE_FREQ") if counts else ("PFILE_CONT", "PFILE")
    file = named or next((own[0].option(option) for option in options if own[0].option(option)), "")
    if not file:
        raise PlanError("no-ptable")
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


def _published(table: ArgusTable, method: str, done: PerturbedCells, *remarks: Message) -> Protected:
    """Return the table with its perturbed numbers, if data users cannot compute too much from them.

    Raises:
        ViolationError: They can.
    """
    check_readers([done])
    unsafe = int(done.part.table.sensitive.sum())
    said = Message("note.audited_cells", count=unsafe) if unsafe else Message("note.perturbed_without_rule")
    return Protected(table, method, done.published, notes=(*remarks, said), reader=done.ranges)


def protect_linked(state: BatchState, call: RuleCall) -> None:
    """Suppress cells in all tables together.

    Raises:
        PlanError: The method does not support several tables, or a table was not read.
    """
    if call.name not in ("GH", "MOD"):
        raise PlanError("linked", name=call.name)
    tables = [job.table for job in state.jobs]
    there = [table for table in tables if table is not None]
    if len(there) < len(tables) or not there:
        raise PlanError("order.a_table_was_not_read")
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
    """Refuse a table whose totals do not add up if tables are protected together."""
    if job.table is not None and job.tolerance > precision_of(job.table.values) / 2:
        raise DataError("totals.table_not_masked_together", number=number, difference=job.tolerance)
