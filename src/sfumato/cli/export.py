"""`sfumato export`: write rows of a CSV or Parquet file as an SPSS or Stata file with their labels."""

import sys
from pathlib import Path
from typing import Annotated

import typer


def command(
    rows: Annotated[Path, typer.Argument(help="The published rows: data.csv or data.parquet.")],
    *,
    out: Annotated[Path, typer.Option(help="The file to write: .sav, .zsav or .dta.")],
    labels: Annotated[Path | None, typer.Option(help="The labels that `sfumato import` wrote, or the survey.")] = None,
) -> None:
    """Convert published rows back to a survey file."""
    from sfumato.pipelines.migration.project import export_survey

    number = export_survey(rows, out, labels)
    sys.stderr.write(f"Wrote {number:,} rows to {out}.\n")
