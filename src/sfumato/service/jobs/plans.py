"""Read the plans of jobs: within limits, with all issues reported, and only with files of the request."""

import json
from collections.abc import Container, Iterator, Mapping
from typing import Any

from sfumato.errors import PlanError, issue
from sfumato.formats import DUCKDB_FILE, format_named
from sfumato.localization.messages import Message
from sfumato.schema.files import Written, parsed
from sfumato.schema.paths import paths_in
from sfumato.schema.scalar import Schema
from sfumato.service.jobs.store import OF_TABLES
from sfumato.service.problems import RefusedError
from sfumato.service.request_bodies import deeper_than

MOST_CHARACTERS = 500_000
# Maximum number of bytes read of a plan file; more bytes exceed the maximum number of characters.
MOST_BYTES = 4 * MOST_CHARACTERS
MOST_DEPTH = 20


def read_plan_text(text: str) -> Any:
    """Parse the text of a plan. References are refused, because a few of them can expand to any number of values.

    Raises:
        PlanError: It is no YAML.
        RefusedError: It is too long or too deep, or has references.
    """
    import yaml

    if len(text) > MOST_CHARACTERS:
        raise RefusedError("limit.plan", Message("request.plan_too_long", most=MOST_CHARACTERS))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = _json(text)
        if content is not None:
            return content
        _check_events(yaml.parse(text, Loader=loader))
        return parsed(text)
    except (yaml.YAMLError, ValueError) as error:  # an invalid value, such as an impossible date, is no YAML error
        mark = getattr(error, "problem_mark", None)
        raise (PlanError("yaml.text_line", line=mark.line + 1) if mark else PlanError("yaml.text")) from None


def _json(text: str) -> Any:
    """Return the value of JSON text, which YAML parsers do not accept in every length; None for other texts."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        content = json.loads(text, parse_float=_number, parse_constant=_number, object_pairs_hook=_mapping)
    except (ValueError, RecursionError):
        return None  # the YAML parser reports what is wrong with it
    return None if deeper_than(content, MOST_DEPTH) else content


def _number(text: str) -> Written:
    number = Written(text)
    number.text = text
    return number


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError(Message("error.value.key_occurs_twice"))
    return dict(pairs)


def _check_events(events: Iterator[Any]) -> None:
    import yaml

    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MOST_DEPTH:
            raise RefusedError("limit.depth", Message("request.plan_too_deep", most=MOST_DEPTH))
        if isinstance(event, yaml.AliasEvent):
            raise RefusedError("jobs.plan", Message("request.plan_references"))


def check_plan(plan: dict[str, Any], kind: str, files: Container[str]) -> None:
    """Refuse a plan with issues, without data, or with a file that is not among the given ones."""
    check_paths(plan, files)
    if kind in OF_TABLES:
        from sfumato.tables.plan.table_plan import read_table_plan

        read_in = read_table_plan(plan)
        table = read_in.table
        several = [crossing.source for crossing in read_in.tables]
        named = table.source or table.cells or table.microdata or (several and all(several)) or None
    else:
        from sfumato.microdata.plan.read import read_plan

        named = read_plan(plan).data.source
    if not named:
        raise PlanError("no-source.no_data")


def with_quoted_formulas(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plan with formulas quoted unless it says otherwise, because people open the file in spreadsheets.

    >>> with_quoted_formulas({"output": {"order": "keep"}})
    {'output': {'formulas': 'quote', 'order': 'keep'}}
    """
    output = plan.get("output") or {}
    return {**plan, "output": {"formulas": "quote", **output}} if isinstance(output, Mapping) else dict(plan)


def check_paths(plan: Any, files: Container[str], shape: Schema[Any] | None = None) -> None:
    """Refuse a plan, or a part of one, with a file that is not among the given ones.

    Args:
        plan: The plan in plain values.
        files: The names of the permitted files.
        shape: The schema; by default that of a plan of either kind.
    """
    from sfumato.microdata.plan.write import PLAN
    from sfumato.tables.plan.table_plan import PLAN as TABLE_PLAN

    faults = []
    shapes: tuple[Schema[Any], ...] = (PLAN, TABLE_PLAN) if shape is None else (shape,)
    for at, path in {pair for own in shapes for pair in paths_in(own, plan)}:
        if path not in files:
            faults.append(issue(at, "named_file_missing"))
        elif format_named(path) is DUCKDB_FILE:
            faults.append(issue(at, "duckdb_files_refused"))
    data = plan.get("data") if isinstance(plan, dict) else None
    if isinstance(data, dict) and data.get("format") == DUCKDB_FILE.name:
        faults.append(issue("data.format", "duckdb_files_refused"))
    if faults:
        raise PlanError.listing(sorted(faults, key=lambda fault: fault.path), "path")
