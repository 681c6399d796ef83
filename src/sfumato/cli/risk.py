"""`sfumato risk`: measure the re-identification risk of the rows of a file."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.files import write_text
from sfumato.cli.options import AsJson, Decimal, Encoding, Header, Quiet, Separator, Table, names


def command(
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
    _tell(report, html, as_json, quiet and (html is not None or rows is not None))


def _tell(report: Any, html: Path | None, as_json: bool, elsewhere: bool) -> None:
    """Print the result, unless it is requested only as a file."""
    from sfumato.report.risk import page_of, text

    if html is not None:
        write_text(html, page_of(report, report.language))
    if as_json:
        sys.stdout.write(json.dumps(report.to_dict(), ensure_ascii=False) + "\n")
    elif not elsewhere:
        sys.stdout.write(text(report))
