"""`sfumato schema`: writes the JSON Schemas of the plans and of the reports."""

import json
from pathlib import Path
from typing import Annotated

import typer


def command(out: Annotated[Path, typer.Option(help="Folder for the schemas.")] = Path("docs")) -> None:
    """Write the JSON Schemas of the plans and of the reports to a folder."""
    out.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        (out / name).write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def schemas() -> dict[str, object]:
    """The schemas by the names of their files."""
    from sfumato.plan.read import plan_schema
    from sfumato.plan.tables import table_plan_schema
    from sfumato.report.schema import external_schema, report_schema

    return {
        "plan.schema.json": plan_schema(),
        "table-plan.schema.json": table_plan_schema(),
        "report.schema.json": report_schema(),
        "report-external.schema.json": external_schema(),
    }
