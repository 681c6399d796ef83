"""`sfumato schema`: write the JSON Schemas of plans and reports."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.files import make_folder, write_text


def command(out: Annotated[Path, typer.Option(help="Folder for the schemas.")] = Path("docs")) -> None:
    """Write the JSON Schemas of the plans and of the reports to a folder."""
    make_folder(out)
    for name, schema in schemas().items():
        write_text(out / name, json.dumps(schema, indent=2, ensure_ascii=False) + "\n")


def schemas() -> dict[str, object]:
    """Return the schemas by file name."""
    from sfumato.microdata.plan.read import plan_schema
    from sfumato.report.schema import external_schema, report_schema
    from sfumato.tables.plan.table_plan import table_plan_schema

    return {
        "plan.schema.json": plan_schema(),
        "table-plan.schema.json": table_plan_schema(),
        "report.schema.json": report_schema(),
        "report-external.schema.json": external_schema(),
    }
