"""Read the tables of a batch file from records or cells, recode them, and apply their safety rules."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from sfumato.errors import DataError, PlanError
from sfumato.localization.messages import Message, joined
from sfumato.pipelines.tables.batch.state import BatchState, SpannedTable, TableJob, record_links, with_variables
from sfumato.tables.argus.office_table import ArgusTable, Finer
from sfumato.tables.argus.safety_rules import with_rules
from sfumato.tables.argus.tabulation import FREQUENCY, Crossed, cross, with_totals
from sfumato.tables.cells.dimensions import Code, CodeTree
from sfumato.tables.formats.batch_file import Specification
from sfumato.tables.formats.cells_file import check_totals, read_cells
from sfumato.tables.formats.hierarchy_files import Recoding, read_recoding
from sfumato.tables.formats.metadata import Metadata
from sfumato.tables.formats.records_file import Records, read_records, record_tree
from sfumato.tables.linked.records import Chain
from sfumato.tables.linked.ties import PART
from sfumato.values import replace


def read_micro(state: BatchState, scratch: Path) -> None:
    """Read the records, and tabulate every specified table."""
    data, metadata = _opened(state, tabular=False)
    state.records = read_records(data, metadata)
    _spell(state, metadata)
    chains = _chains(state)
    for job in state.jobs:
        # Tables that exist already keep their a priori settings and protection.
        if job.table is None:
            _cross(state, job, metadata, scratch, chains)


def _spell(state: BatchState, metadata: Metadata) -> None:
    """Spell the spanning variables of all tables as in the metadata, because batch files ignore case."""
    for job in state.jobs:
        names = tuple(metadata.named(name).name for name in job.wanted.spanning)
        job.wanted = replace(job.wanted, spanning=names)


def _opened(state: BatchState, tabular: bool) -> tuple[Path, Metadata]:
    if state.data is None or state.metadata is None or not state.jobs:
        raise PlanError("order.data_metadata_or_tables_are_missing")
    if state.tabular is not tabular:
        kind = "READTABLE" if state.tabular else "READMICRODATA"
        raise PlanError("order.the_data_are_of_the_other", name=kind)
    return state.data, state.metadata


def _cross(state: BatchState, job: TableJob, metadata: Metadata, scratch: Path, chains: tuple[Chain, ...]) -> None:
    if state.records is None:
        raise PlanError("order.the_records_were_not_read")
    weighted = job.weighted
    own = (scratch / str(len(list(scratch.iterdir())))).resolve()
    own.mkdir()
    job.crossed = cross(
        state.records, metadata, job.wanted, state.folder, own, job.recodings, weighted, _by_holding(job)
    )
    _warn_of_negatives(state, state.records, metadata, job.wanted.response)
    cost = job.wanted.cost
    table = _with_costs(job.crossed.table, cost, job.wanted.exponent)
    if cost and cost not in ("-1", "-2", "-3") and cost.lower() != job.wanted.response.lower():
        wanted = replace(job.wanted, response=cost)
        other = cross(state.records, metadata, wanted, state.folder, own, job.recodings, weighted).table
        table = table.with_columns(costs=np.abs(other.values) ** job.wanted.exponent)
    judged_table = judged(table, job, job.crossed).with_columns(chains=chains)
    job.table, job.done = judged_table.with_columns(finer=_finer(state.records, metadata, state.folder, job)), None


def _chains(state: BatchState) -> tuple[Chain, ...]:
    """Return the functional dependencies of variables in the records, and log those with a few exceptions."""
    if state.records is None:
        return ()
    spanned = [one for one in (*map(state.spanned, state.jobs), *_written(state)) if one is not None]
    if len(spanned) < 2:
        return ()
    tables = [frozenset(one.variables) for one in spanned]
    linked = record_links(spanned, state.folder)
    for fine, coarse, count in linked.inconsistent:
        if not any(own.issuperset(map(str.lower, (*fine, coarse))) for own in tables):
            values = {"file": state.records.name, "names": joined(fine), "coarse": coarse, "count": count}
            state.log.append(Message("note.inconsistent_records", **values))
    return linked.chains


def _written(state: BatchState) -> list[SpannedTable]:
    """Return the tables written from the same file, including those written before it was opened again."""
    own = [
        one.spanned
        for one in state.tables
        if one.spanned is not None and one.source is not None and state.data is not None
        if one.source[0] == state.data.resolve()
    ]
    return [one for one in own if state.records is not None and len(one.records) == len(state.records)]


def _warn_of_negatives(state: BatchState, records: Records, metadata: Metadata, response: str) -> None:
    """Warn about a negative response, which changes the largest contributions and the attacker knowledge."""
    one = None if response.lower() == FREQUENCY else metadata.named(response)
    negative = [] if one is None else np.flatnonzero(records.numbers(one) < 0).tolist()
    if negative:
        values = {"file": records.name, "line": records.lines[negative[0]][0], "name": response}
        state.warn(Message("note.negative_response", more=len(negative) - 1, **values))


def _finer(records: Records, metadata: Metadata, folder: Path, job: TableJob) -> Finer:
    """Return a function that tabulates the records of a table by other codes and applies its rules."""
    rules, by_holding = tuple(job.rules), _by_holding(job)

    def finer(parts: Mapping[str, Sequence[frozenset[str]]]) -> ArgusTable:
        own, described = with_variables(records, metadata, parts)
        wanted = Specification(tuple(described.named(name).name for name in parts), job.wanted.response)
        recodings = {
            name: Recoding({code: f"{PART}{place}" for place, own in enumerate(blocks) for code in own})
            for name, blocks in parts.items()
        }
        with tempfile.TemporaryDirectory(prefix="sfumato-") as scratch:
            path = Path(scratch).resolve()
            crossed = cross(own, described, wanted, folder, path, recodings, job.weighted, by_holding)
        return with_rules(crossed.table, rules, crossed.requests, crossed.missing)

    return finer


def _by_holding(job: TableJob) -> bool:
    """Return whether rules are given at the positions for holdings: the third and fourth of a kind, the second FREQ."""
    for name, first in (("P", 2), ("NK", 2), ("FREQ", 1), ("REQ", 1)):
        own = [rule for rule in job.rules if rule.name == name]
        if any(any(rule.numbers[:1]) for rule in own[first:]):
            return True
    return False


def judged(table: ArgusTable, job: TableJob, crossed: Crossed | None = None) -> ArgusTable:
    """Return the table with the statuses that its rules assign."""
    requests = None if crossed is None else crossed.requests
    missing = None if crossed is None else crossed.missing
    return with_rules(table, job.rules, requests, missing)


def _with_costs(table: ArgusTable, cost: str, exponent: float) -> ArgusTable:
    """Return the table with costs: respondents for -1, one per cell for -2 and -3 (no distance), else the value."""
    if cost == "-1" and table.frequency is not None:
        return table.with_columns(costs=table.frequency**exponent)
    if cost in ("-2", "-3"):
        return table.with_columns(costs=np.ones(len(table)))
    return table.with_columns(costs=np.abs(table.values) ** exponent) if exponent != 1.0 else table


def read_tables(state: BatchState, mode: str) -> None:
    """Read every specified table: mode 0 checks totals, 1 computes them (T keeps statuses), 2 does not need them.

    Raises:
        DataError: The mode is unknown, or totals are missing or do not add up.
    """
    data, metadata = _opened(state, tabular=True)
    kind, letter = (mode.strip()[:1] or "0"), mode.strip()[1:].strip().upper()
    if kind not in "012" or letter not in ("", "T", "F"):
        raise DataError("batch", name=mode)
    for job in state.jobs:
        if job.table is not None:
            continue
        value = None if job.wanted.response.lower() == FREQUENCY else job.wanted.response
        table = read_cells(data, metadata, value, list(job.wanted.spanning))
        if kind == "1":
            table = with_totals(table, letter == "T")
        do = Message("hint.readtable")
        check_totals(table, data.name, do)
        job.tolerance = (
            float(np.abs(table.relations().residuals(table.values)).max(initial=0.0)) if kind == "2" else 0.0
        )
        check_totals(table, data.name, do, job.tolerance)
        costs = table if table.costs is not None else _with_costs(table, job.wanted.cost, job.wanted.exponent)
        job.table, job.done = judged(costs, job), None


def recode(state: BatchState, scratch: Path, number: int, variable: str, recoding: str) -> None:
    """Recode a variable of a table by a file or to a level of its hierarchy, and tabulate the table again.

    Raises:
        PlanError: The table was not tabulated from records, or is protected already.
    """
    if state.tabular or state.metadata is None or not 1 <= number <= len(state.jobs):
        raise PlanError("recode.only_tables_of_records_are_recoded")
    job = state.jobs[number - 1]
    if job.done is not None:
        raise PlanError("recode.a_protected_table_is_not_recoded")
    if job.marked:
        raise PlanError("recode.table_not_recoded_after")
    one = state.metadata.find(variable)
    if one is None or one.name not in job.wanted.spanning or state.records is None:
        raise PlanError("recode.table_has_no_variable", name=number, column=variable)
    codes = list(state.records.text(one.name))
    tree = record_tree(state.records, one, state.folder, state.encoding)
    if recoding.isdigit() and len(recoding) == 1:
        made = Recoding({}, tuple(code[0] for code in tree.parents if tree.height(code) == int(recoding)))
    else:
        known = dict.fromkeys([*_codes(tree), *codes])
        made = read_recoding(state.folder / recoding, known, state.encoding)
        _check_new_codes(made, one.name, tree.root[0])
    job.recodings[one.name.lower()] = made
    _cross(state, job, state.metadata, scratch, _chains(state))


def _check_new_codes(recoding: Recoding, name: str, total: str) -> None:
    """Refuse a new code equal to that of the total, because its cells would be their own totals."""
    if total in recoding.codes.values():
        raise PlanError("recode.new_code_its_total", name=name, total=total)


def _codes(tree: CodeTree) -> list[str]:
    codes: list[Code] = list(tree.parents)
    return [code[0] for code in codes]
