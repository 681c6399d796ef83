"""The release folder of a protected table."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.delimited.lines import delimited_text
from sfumato.folders import staged, write_text
from sfumato.report.tables.page import html
from sfumato.shapes.files import written
from sfumato.tables.cells.columns import Columns
from sfumato.tables.formats.masked_files import office_files
from sfumato.tables.plan.plain import table_plan_dict
from sfumato.tables.plan.plan import TablePlan
from sfumato.tables.protected import MaskedTable


def write_release(protected: MaskedTable, report: Mapping[str, Any], folder: Path) -> None:
    """Write the release folder under a temporary name beside it, and rename it when it is whole.

    Raises:
        PlanError: The folder is there already.
        EngineError: The disk refuses.
    """
    with staged(folder) as stage:
        fill(protected, report, stage, folder)


def fill(protected: MaskedTable, report: Mapping[str, Any], stage: Path, folder: Path) -> None:
    """Write the files of a release into a folder that will be called otherwise."""
    files = {
        "table.csv": _csv(protected.columns),
        "published.csv": _csv(protected.public),
        "report.json": json.dumps(report, indent=2, ensure_ascii=False) + "\n",
        "report.html": html(protected, report),
        "plan.yaml": plan_text(protected.plan, folder),
    }
    if protected.holds:
        files["table-external.csv"] = _csv(protected.external)
    for name, text in files.items():
        write_text(stage / name, text)
    for name, data in _office_files(protected).items():
        (stage / name).parent.mkdir(exist_ok=True)
        (stage / name).write_bytes(data)


def _office_files(protected: MaskedTable) -> dict[str, bytes]:
    """The files of offices that the plan asks for; one set for each group."""
    kinds = protected.plan.output.files
    if not kinds or not protected.holds:
        return {}
    files: dict[str, bytes] = {}
    for part in protected.parts:
        own = office_files(part, protected.plan.table.value, kinds)
        mark = "-".join(part.part.group)
        files |= {_marked(name, mark): data for name, data in own.items()}
    return files


def _marked(name: str, mark: str) -> str:
    """The name of a group's file: without signs that no file may have."""
    if not mark:
        return name
    folder, slash, file = name.rpartition("/")
    return f"{folder}{slash}{re.sub(r'[^0-9A-Za-z_-]', '_', mark)}-{file}"


def _csv(columns: Columns) -> str:
    return delimited_text([columns.texts, *zip(*columns.texts.values(), strict=True)])


def plan_text(plan: TablePlan, folder: Path) -> str:
    """The plan as YAML, for a folder in which it will lie."""
    return written(table_plan_dict(plan, folder), width=80)
