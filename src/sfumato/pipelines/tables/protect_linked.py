"""Protect several tables together: read or tabulate, combine, suppress, audit, and publish each."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.errors import PlanError, UnattainableError, ViolationError
from sfumato.localization.messages import Message, joined
from sfumato.microdata.data_plan import DataPlan
from sfumato.pipelines.tables.table_release import ProtectedTable, ProtectedTables
from sfumato.pipelines.tables.table_source import errors_in
from sfumato.tables.build import dimensions_of, tree_of
from sfumato.tables.cell_labels import cells_named
from sfumato.tables.cells.columns import TextColumns
from sfumato.tables.cells.constraints import check, derive
from sfumato.tables.cells.dimensions import CodeTree
from sfumato.tables.deadline import never, within
from sfumato.tables.formats.delimited_cells import read_delimited_cells
from sfumato.tables.linear_programs import check_installed
from sfumato.tables.linked.dependencies import determined_chains
from sfumato.tables.linked.from_plan import InputTable, with_cross, with_inconsistent_records
from sfumato.tables.linked.protection import joint_part, section_of, shown_of
from sfumato.tables.linked.records import Chain, Names, RecordCodes
from sfumato.tables.plan.rules import Dominance, Frequency, Holdings, PriorPosterior, Request
from sfumato.tables.plan.sections import COUNT, CellKey, Dimension, TableSpec
from sfumato.tables.plan.table_plan import TablePlan, read_table_plan
from sfumato.tables.protection_levels.resolve_plan import plan_precision
from sfumato.tables.published_tables.earlier_releases import EarlierTable, check_inferred, read_releases
from sfumato.tables.suppress_table import mask_part
from sfumato.tables.suppression.patterns import ProgressCallback
from sfumato.tables.table_result import check_kind
from sfumato.tables.tabulate import Base
from sfumato.values import replace

# Number of largest contributions kept from microdata.
TOP = 10
TOPS = tuple(f"top{place + 1}" for place in range(TOP))
RESPONDENTS = tuple(f"respondent{place + 1}" for place in range(TOP))


def protect_several(
    plan: TablePlan,
    table: Any = None,
    progress: ProgressCallback | None = None,
    asked: Callable[[], bool] | None = None,
) -> ProtectedTables:
    """Protect the tables of a plan together, and with earlier releases.

    Args:
        plan: A plan with `tables`, `previous` or microdata.
        table: The microdata as a frame, or the columns of the plan's only table; by default the files that the plan
            names are read.
        progress: Called with the progress of the search.
        asked: Returns whether the search should stop now and return its best result so far.

    Raises:
        ViolationError: An attacker can still narrow a cell below its protection level; nothing may be published.
    """
    check_installed()
    start = time.perf_counter()
    deadline = within(plan.method.time_limit, asked or never)
    crossings = crossings_of(plan)
    releases = read_releases(plan)
    plan, sheets = sheets_of(plan, table, releases)
    part, joint = joint_part(plan, sheets, releases)
    part = with_cross(with_inconsistent_records(part, joint.inconsistent), joint, deadline=deadline.share(0.5))
    built = time.perf_counter()
    try:
        masked = shown_of(mask_part(part, plan.method, plan.output.language, deadline, progress), joint)
    except UnattainableError as error:
        raise _explained(error, plan, sheets[0].chains) from None
    check_kind(plan, masked)
    seconds = {"check": built - start, "mask": time.perf_counter() - built}
    whole = ProtectedTable(plan, joint.columns, (masked,), seconds)
    if not whole.passed:
        raise ViolationError(
            "audit.attackers_still_narrow", count=len(whole.audit.failing), named=cells_named(whole.audit.failing)
        )
    tables = {
        crossing.name: ProtectedTable(plan_of(plan, place), section.columns, (section_of(masked, section),), seconds)
        for place, (crossing, section) in enumerate(zip(crossings, joint.sections, strict=False))
    }
    for own in tables.values():
        own.check(own.external)
    check_inferred(plan, masked, np.where(masked.suppressed, np.nan, masked.part.table.values))
    return ProtectedTables(whole, tables, sheets[0].chains, sheets[0].recorded)


def _explained(error: UnattainableError, plan: TablePlan, chains: Sequence[Chain]) -> UnattainableError:
    """Return the error with possible reasons.

    Either the codes of some columns are inconsistent in a few records, or dimensions determine each other. In that case
    all respondents of a group are in one category, whatever is suppressed.
    """
    odd = tuple(
        Message("phrase.inconsistent", columns=joined(chain.columns), count=len(chain.inconsistent))
        for chain in chains
        if chain.inconsistent
    )
    reasons = [error.hint]
    if odd:
        reasons.append(Message("hint.inconsistent_codes", columns=Message("names.list", names=odd)))
    if plan.table.group_disclosure:
        reasons.append(Message("hint.determined_dimensions"))
    return error.with_text(error.message, Message("sentences", parts=tuple(reasons)))


def crossings_of(plan: TablePlan) -> tuple[TableSpec, ...]:
    """Return the tables of a plan, or its single table."""
    return plan.tables or (TableSpec("table", plan.dimensions, plan.table.source),)


def sheets_of(
    plan: TablePlan, table: Any = None, releases: Sequence[EarlierTable] = ()
) -> tuple[TablePlan, list[InputTable]]:
    """Return the plan, adapted to tabulation, and its tables as read or tabulated from microdata.

    Args:
        table: The microdata or the columns of the only table, if the plan does not name the file.
        releases: Earlier releases of the same records; their columns may determine those of the plan.
    """
    crossings, chains, recorded = crossings_of(plan), tuple[Chain, ...](), frozenset[str]()
    placed = [{key: part.placed(plan.folder) for key, part in crossing.dimensions.items()} for crossing in crossings]
    if plan.table.microdata is not None or (table is not None and plan.tables):
        data = plan.table.microdata.within(plan.folder) if plan.table.microdata else table
        columns = [_crossed(plan, crossing, data) for crossing in crossings]
        chains, recorded = chains_of(plan, data, [*placed, *(release.sheet.dimensions for release in releases)])
        plan = of_crossed(plan)
    else:
        columns = [_read(plan, crossing, table) for crossing in crossings]
    own = zip(crossings, placed, columns, strict=True)
    return plan, [InputTable(crossing.name, dimensions, cells, chains, recorded) for crossing, dimensions, cells in own]


def chains_of(
    plan: TablePlan, data: Any, tables: Sequence[Mapping[str, Dimension]]
) -> tuple[tuple[Chain, ...], frozenset[str]]:
    """Return the functional dependencies between columns of tables in the records, and all columns checked.

    A single table has its own constraints.
    """
    if len(tables) < 2:
        return (), frozenset()
    own = set(columns_in(tables[: len(crossings_of(plan))]))
    names = [name for name in columns_in(tables) if name in own or _has_column(plan, data, name)]
    base = _base(plan, data, names)
    return record_chains(tables, RecordCodes(base.codes, base.counts)), frozenset(names)


def _has_column(plan: TablePlan, data: Any, name: str) -> bool:
    try:
        return bool(_base(plan, data, [name]).codes)
    except PlanError:
        return False


def _base(plan: TablePlan, data: Any, names: Sequence[str]) -> Base:
    """Return the codes of records and the number of records of each."""
    from sfumato.engines.tabulation import base_of

    return base_of(data, names, None, None, None, 0, _reading(plan))


def _reading(plan: TablePlan) -> DataPlan:
    dialect = plan.table.dialect
    return DataPlan(separator=dialect.separator, decimal=dialect.decimal, encoding=dialect.encoding)


def _read(plan: TablePlan, crossing: TableSpec, table: Any) -> TextColumns:
    if isinstance(table, TextColumns):
        return table
    if crossing.source is None:
        raise PlanError("no-source.table_has_no_source", name=crossing.name)
    path = crossing.source.within(plan.folder)
    with errors_in(path, plan.table, crossing.dimensions):
        columns = read_delimited_cells(path, plan.table)
        _check_alone(plan, crossing, columns)
    return columns


def _check_alone(plan: TablePlan, crossing: TableSpec, columns: TextColumns) -> None:
    """Refuse an invalid table; after merging, the message could name neither file nor line.

    Raises:
        DataError: A value is not a number, a cell is repeated, or totals are missing or do not add up.
    """
    trees, keys = dimensions_of(crossing.dimensions, columns, plan.folder)
    values = columns.numbers(plan.table.value)
    check(derive(trees, keys), values, plan.table.tolerance, plan_precision(plan.table, values))


def _crossed(plan: TablePlan, crossing: TableSpec, data: Any) -> TextColumns:
    from sfumato.engines.tabulation import base_of, columns_of, frame_of
    from sfumato.tables.tabulate import table_of

    source = plan.table
    value = None if source.value == COUNT else source.value
    dimensions = {key: part.placed(plan.folder) for key, part in crossing.dimensions.items()}
    names = [name for part in dimensions.values() for name in (part.levels or (part.column or "",))]
    records, requests = _records(plan), requests_of(plan)
    reading = _reading(plan)

    def cross(value: str | None, holding: str | None) -> dict[str, list[Any]]:
        base = base_of(data, [*names, *requests], value, source.weight, holding, TOP if value else 0, reading, records)
        return table_of(base, dimensions, value, TOP, with_holdings=holding is not None, requests=requests)

    # The rules use the contributions of the shadow variable, if there is one.
    judged = (value and source.shadow) or value
    cells = cross(judged, source.holding)
    if judged != value and value is not None:
        cells[value] = cross(value, None)[value]
    if judged is not None and source.holding is not None and _looks_at_respondents(plan):
        single = cross(judged, None)
        cells |= {respondent: single[top] for respondent, top in zip(RESPONDENTS, TOPS, strict=True)}
        cells |= {column: single[column] for column in requests_of(plan, "respondent")}
    return TextColumns(columns_of(frame_of("", cells)))


def requests_of(plan: TablePlan, level: str | None = None) -> list[str]:
    """Return the columns of protection requests in microdata: those of all rules, or of one level."""
    rules = [rule for rule in plan.primary if isinstance(rule, Request) and level in (None, rule.level)]
    return list(dict.fromkeys(rule.column for rule in rules))


def _looks_at_respondents(plan: TablePlan) -> bool:
    return any(getattr(rule, "level", None) == "respondent" for rule in plan.primary)


def _records(plan: TablePlan) -> Any:
    """Return the source of record keys for a method that needs them, or None."""
    from sfumato.engines.record_keys import RecordKeys

    method = plan.perturbation
    if not isinstance(method, CellKey):
        return None
    column = method.record or method.key
    if column is None or (method.record is not None and method.secret is None):
        raise PlanError("record-key")
    return RecordKeys(column, method.secret if method.record else None, method.digits)


def of_crossed(plan: TablePlan) -> TablePlan:
    """Return the plan for tables tabulated from microdata, with the columns that tabulation writes."""
    counted = plan.table.value == COUNT
    if counted and (plan.table.holding is None or not plan.primary):
        return plan
    if counted:
        _check_rules(plan)
    more = {"contributors": tuple(f"{top}_id" for top in TOPS), "holdings": "holdings"} if plan.table.holding else {}
    single = {"respondents": RESPONDENTS if plan.table.holding else TOPS}
    # Ten records of one holding are not ten respondents, so rules for small counts use the number of holdings.
    frequency = "holdings" if counted else COUNT
    single = single if _looks_at_respondents(plan) and not counted else {}
    table = {"frequency": frequency, "contributions": TOPS, **single, **more}
    plain = dict(plan.plain) | {
        "table": {**plan.plain["table"], **{key: _plain(value) for key, value in table.items()}}
    }
    return replace(plan, table=replace(plan.table, **table), plain=plain)


def _check_rules(plan: TablePlan) -> None:
    """Refuse plans whose rules use the number of records but never the holdings."""
    if not any(isinstance(rule, Frequency | Holdings | Dominance | PriorPosterior) for rule in plan.primary):
        raise PlanError("holding-rule")


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def plan_of(plan: TablePlan, place: int) -> TablePlan:
    """Return the plan of one of several tables, for its own release folder."""
    plain = {key: part for key, part in plan.plain.items() if key not in ("tables", "previous")}
    table = {key: part for key, part in plain["table"].items() if key not in ("microdata", "weight", "holding")}
    if plan.tables:
        own = plan.plain["tables"][place]
        table |= {"source": own["source"]} if "source" in own else {}
        plain["dimensions"] = own["dimensions"]
        # A rule about a dimension belongs to the tables that have it.
        plain["primary"] = [
            rule for rule in plain.get("primary", ()) if rule.get("dimension", "") in ("", *own["dimensions"])
        ]
    return read_table_plan(plain | {"table": table}, plan.folder)


def columns_in(dimensions: Iterable[Mapping[str, Dimension]]) -> list[str]:
    """Return the columns of the dimensions of some tables, each once."""
    return list(dict.fromkeys(name for own in dimensions for one in own.values() for name in _names(one)))


def record_chains(tables: Sequence[Mapping[str, Dimension]], records: RecordCodes) -> tuple[Chain, ...]:
    """Return the functional dependencies between the columns of tables in the records, with their codes.

    Args:
        records: The codes of the records in those columns that exist.
    """
    own = [one for dimensions in tables for one in dimensions.values() if records.codes.keys() >= set(_names(one))]
    crossed = [frozenset(columns_in([dimensions])) for dimensions in tables]
    return determined_chains(records, map(_names, own), _hierarchies(own, records), crossed)


def _names(dimension: Dimension) -> Names:
    return tuple(dimension.levels) or (dimension.column or "",)


def _hierarchies(dimensions: Iterable[Dimension], records: RecordCodes) -> Iterator[tuple[str, CodeTree]]:
    for one in dimensions:
        if one.column is not None and one.hierarchy is not None:
            codes = sorted(set(records.codes[one.column]))
            yield one.column, tree_of(one.column, one, [(code,) for code in codes])
