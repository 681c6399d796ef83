"""The release folder of a protected table."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import PlanError
from sfumato.folders import staged
from sfumato.report.tables import html
from sfumato.tables.cells.columns import Columns
from sfumato.tables.plan.plan import table_plan_dict
from sfumato.tables.protected import MaskedTable


def write_release(protected: MaskedTable, report: Mapping[str, Any], folder: Path) -> None:
    """Write the release folder under a temporary name beside it, and rename it when it is whole.

    Raises:
        PlanError: The folder is there already.
        EngineError: The disk refuses.
    """
    with staged(folder) as stage:
        _fill(protected, report, stage, folder)


def check_free(folder: Path) -> None:
    """Refuse a folder that is there already.

    Raises:
        PlanError: It is.
    """
    if folder.exists():
        raise PlanError(f"{folder.name} is there already.", "Name a new folder with --out.", "output-exists")


def _fill(protected: MaskedTable, report: Mapping[str, Any], folder: Path, target: Path) -> None:
    import yaml

    _write_columns(protected.columns, folder / "table.csv")
    _write_columns(protected.public, folder / "published.csv")
    if protected.holds:
        _write_columns(protected.external, folder / "table-external.csv")
    text = json.dumps(report, indent=2, ensure_ascii=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    (folder / "report.html").write_text(html(protected, report), encoding="utf-8")
    resolved = table_plan_dict(protected.plan, target)
    plan = yaml.safe_dump(resolved, allow_unicode=True, sort_keys=False)
    (folder / "plan.yaml").write_text(plan, encoding="utf-8")


def _write_columns(columns: Columns, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.texts)
        writer.writerows(zip(*columns.texts.values(), strict=True))
