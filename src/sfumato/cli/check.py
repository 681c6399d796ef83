"""`sfumato check`: check a file against a policy, clause by clause; exits with 1 if one fails."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import AsJson, Quiet, Separator, Table, names
from sfumato.cli.progress import show
from sfumato.errors import STATUS, PlanError


def command(
    data: Annotated[Path | None, typer.Argument(help="A release folder, or a file of rows or of a table.")] = None,
    policy: Annotated[str | None, typer.Option(help="The policy's id, for example hipaa-safe-harbor.")] = None,
    plan: Annotated[Path | None, typer.Option(help="The plan behind the rows.")] = None,
    quasi_identifiers: Annotated[str | None, typer.Option(help="Quasi-identifiers, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    limit: Annotated[list[str] | None, typer.Option(help="Replace the limit of a clause: CLAUSE=NUMBER.")] = None,
    attest: Annotated[
        list[str] | None, typer.Option(help="Attest a clause: CLAUSE=NAME; CLAUSE=no rejects it.")
    ] = None,
    raw: Annotated[Path | None, typer.Option(help="Original rows, for clauses that measure attacks.")] = None,
    control: Annotated[Path | None, typer.Option(help="With --raw: control rows that were never published.")] = None,
    population: Annotated[
        Path | None, typer.Option(help="Population of ZIP code areas: columns zip3 and people.")
    ] = None,
    code_column: Annotated[
        str | None, typer.Option(help="Column with a re-identification code; its origin must be attested.")
    ] = None,
    today: Annotated[datetime | None, typer.Option(formats=["%Y-%m-%d"], help="Reference date for ages.")] = None,
    separator: Separator = None,
    table: Table = None,
    list_: Annotated[bool, typer.Option("--list", help="List the policies.")] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> int:
    """Check a file against a policy; exit 1 if a clause fails."""
    if list_:
        return _list(json)
    if data is None or policy is None:
        raise PlanError("use.file_policy_needed")
    from sfumato.pipelines.policy_check import check
    from sfumato.report.checks import policy_text

    verdict = check(
        data,
        policy,
        plan=plan,
        quasi_identifiers=names(quasi_identifiers),
        sensitive=names(sensitive),
        values={name: _number(name, value) for name, value in _pairs(limit).items()},
        attested=_pairs(attest),
        raw=raw,
        control=control,
        population=population,
        code_column=code_column,
        today=None if today is None else today.date(),
        separator=separator,
        table=table,
    )
    del quiet  # there is no progress, and results are always printed
    show(policy_text(verdict), verdict.to_dict(), json)
    return 0 if verdict.satisfied else STATUS["promise"].exit


def _list(json: bool) -> int:
    from sfumato.policies.presets import policies

    entries = policies().values()
    lines = "".join(f"{policy.id:27} {policy.about:7} {policy.title}\n" for policy in entries)
    show(lines, [{"policy": policy.id, "about": policy.about, "title": policy.title} for policy in entries], json)
    return 0


def _pairs(texts: list[str] | None) -> dict[str, str]:
    """Parse pairs of a name and a value."""
    pairs = [text.partition("=") for text in texts or ()]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise PlanError("use.clause_its_value_written")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise PlanError("use.value_no_number", name=name) from None
