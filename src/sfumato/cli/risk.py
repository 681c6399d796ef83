"""Commands that evaluate data and releases: `risk`, `attack`, `check`, `compare`."""

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.options import (
    AsJson,
    Decimal,
    Encoding,
    Engine,
    Header,
    NewFolder,
    PlanFile,
    Quiet,
    Separator,
    Table,
    check_engine,
    names,
    progress_shown,
    show,
    write_text,
)
from sfumato.errors import STATUS, PlanError
from sfumato.localization.messages import to_json


def risk_command(
    data: Annotated[Path, typer.Argument(help="The file: CSV, Parquet, JSON lines, Excel, SQLite or DuckDB.")],
    quasi_identifiers: Annotated[
        str | None, typer.Option(help="Columns that an attacker may know, separated by commas.")
    ] = None,
    plan: Annotated[Path | None, typer.Option(help="A plan with roles and hierarchies.")] = None,
    population_size: Annotated[int | None, typer.Option(help="Persons in the population.")] = None,
    sampling_fraction: Annotated[float | None, typer.Option(help="The share of the population in the file.")] = None,
    weight: Annotated[str | None, typer.Option(help="The column with the sampling weights.")] = None,
    household: Annotated[str | None, typer.Option(help="The column that names a row's household.")] = None,
    threshold: Annotated[float, typer.Option(help="Rows at a greater risk than this are counted.")] = 0.2,
    missing: Annotated[list[str] | None, typer.Option(help='A text that means "missing".')] = None,
    on_missing: Annotated[str, typer.Option(help="category, any or drop.")] = "category",
    separator: Separator = None,
    decimal: Decimal = None,
    header: Header = None,
    encoding: Encoding = None,
    table: Table = None,
    html: Annotated[Path | None, typer.Option(help="Write a report to this file, too.")] = None,
    rows: Annotated[
        Path | None,
        typer.Option(help="Write the re-identification risk of every row to this CSV file (internal use only)."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure the re-identification risk of rows."""
    from sfumato.errors import PlanError, did_you_mean
    from sfumato.pipelines.risk import risk

    if quasi_identifiers is None and plan is None:
        raise PlanError("columns.no_quasi_identifier_is_named")
    if on_missing not in ("category", "any", "drop"):
        hint = did_you_mean(on_missing, ("category", "any", "drop"))
        raise PlanError("on-missing", hint=hint, name=on_missing)
    for target in (html, rows):
        if target is not None:
            check_free(target)
    report = risk(
        data,
        names(quasi_identifiers),
        plan=plan,
        population_size=population_size,
        sampling_fraction=sampling_fraction,
        weight=weight,
        household=household,
        threshold=threshold,
        missing=missing or (),
        on_missing=on_missing,  # type: ignore[arg-type]
        separator=separator,
        decimal=decimal or ".",  # type: ignore[arg-type]
        header=header,
        encoding=encoding,
        table=table,
        row_numbers=rows is not None,
    )
    if rows is not None and report.row_risks is not None:
        lines = (",".join(line) + "\n" for line in report.row_risks.lines())
        write_text(rows, "".join(lines), private=True)
    _print_risk(report, html, as_json, quiet and (html is not None or rows is not None))


def _print_risk(report: Any, html: Path | None, as_json: bool, elsewhere: bool) -> None:
    """Print the result, unless the user requests only a file."""
    from sfumato.report.risk import page_of, text

    if html is not None:
        write_text(html, page_of(report, report.language))
    if as_json:
        sys.stdout.write(to_json(report.to_dict(), indent=None) + "\n")
    elif not elsewhere:
        sys.stdout.write(text(report))


def attack_command(
    release: Annotated[Path, typer.Argument(help="A release folder, or a published file.")],
    raw: Annotated[Path | None, typer.Option(help="The original rows; by default the source of the plan.")] = None,
    control: Annotated[
        Path | None, typer.Option(help="Control rows: records of other persons that were never published.")
    ] = None,
    register: Annotated[Path | None, typer.Option(help="Register of persons that the attacker knows.")] = None,
    earlier: Annotated[list[Path] | None, typer.Option(help="Earlier releases, the first one first.")] = None,
    plan: Annotated[Path | None, typer.Option(help="The plan behind a published file.")] = None,
    quasi_identifiers: Annotated[str | None, typer.Option(help="Quasi-identifiers, separated by commas.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Sensitive columns, separated by commas.")] = None,
    attempts: Annotated[int, typer.Option(min=1, help="Number of attempts of each attack.")] = 1000,
    neighbors: Annotated[int, typer.Option(min=1, help="Number of nearest rows used by linkage.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the attack.")] = 0,
    fail_above: Annotated[float | None, typer.Option(min=0, max=1, help="Exit 1 above this risk.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page to this file, too.")] = None,
    save: Annotated[bool, typer.Option(help="Also add the results to the reports of the release folder.")] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> int:
    """Measure attacks on a release, compared with rows that were never published."""
    from sfumato.pipelines.attack import attack
    from sfumato.pipelines.report_folder import add_to_folder, raw_of
    from sfumato.report.checks import attack_text, page_of

    if html is not None:
        check_free(html)
    with progress_shown(quiet):
        report = attack(
            release,
            raw or raw_of(release),
            control=control,
            register=register,
            earlier=earlier,
            plan=plan,
            quasi_identifiers=names(quasi_identifiers),
            sensitive=names(sensitive),
            attempts=attempts,
            neighbors=neighbors,
            seed=seed,
        )
    if html is not None:
        write_text(html, page_of(report.to_dict()))
    if save:
        add_to_folder(release, report)
    show(attack_text(report.to_dict()), report.to_dict(), json)
    return STATUS["promise"].exit if fail_above is not None and report.highest > fail_above else 0


def check_command(
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
        return _list_policies(json)
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


def _list_policies(json: bool) -> int:
    from sfumato.policies.policy import policies

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


T = TypeVar("T")


def compare_command(
    plan: PlanFile,
    *,
    out: NewFolder,
    methods: Annotated[str | None, typer.Option(help="Methods, separated by commas.")] = None,
    k: Annotated[
        str | None, typer.Option("--k", help="Values of k, separated by commas; the plan's own unless given.")
    ] = None,
    suppression: Annotated[str | None, typer.Option(help="Shares of rows that may be suppressed, by commas.")] = None,
    data: Annotated[Path | None, typer.Option(help="The data, instead of the plan's source.")] = None,
    engine: Engine = None,
    quiet: Quiet = False,
    json: AsJson = False,
) -> int:
    """Compare methods: loss, risk and time for a grid of methods, k and suppression."""
    check_engine(engine)
    check_free(out)
    ks, shares = _numbers(k, int, "--k", "2,5,10"), _numbers(suppression, float, "--suppression", "0,0.02")
    with progress_shown(quiet) as progress:
        from sfumato.pipelines.compare import DEFAULT_METHODS, compare
        from sfumato.report.compare import text

        names = tuple(name.strip() for name in methods.split(",")) if methods else DEFAULT_METHODS
        runs = compare(data, plan, methods=names, k=ks, suppression=shares, engine=engine, progress=progress)  # type: ignore[arg-type]
        runs.save(out)
        progress.close()
        show(text(runs), runs.to_dict(), json)
        progress.say(f"Comparison: {out / 'compare.html'}")
    return 0 if runs.answers else STATUS["unattainable"].exit


def _numbers(text: str | None, kind: Callable[[str], T], name: str, example: str) -> tuple[T, ...]:
    """Parse numbers separated by commas."""
    if text is None:
        return ()
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        raise PlanError("numbers", name=name, example=example) from None
