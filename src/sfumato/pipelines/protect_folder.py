"""The release folder of a protected table."""

import csv
import json
import os
import shutil
import tempfile
from pathlib import Path

from sfumato.errors import EngineError, PlanError
from sfumato.report.tables import figures, html
from sfumato.tables.cells.columns import Columns
from sfumato.tables.plan.plan import table_plan_dict
from sfumato.tables.protected import MaskedTable


def write_release(protected: MaskedTable, folder: Path) -> None:
    """Write the release folder under a temporary name beside it, and rename it when it is whole.

    Raises:
        PlanError: The folder is there already.
        EngineError: The disk refuses.
    """
    check_free(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        try:
            _fill(protected, draft, folder)
            os.chmod(draft, 0o755)  # noqa: PTH101
            draft.rename(folder)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
    except OSError as error:
        raise EngineError(f"{folder.name} cannot be written: {error.strerror}.", "Check the path.", "write") from None


def check_free(folder: Path) -> None:
    """Refuse a folder that is there already.

    Raises:
        PlanError: It is.
    """
    if folder.exists():
        raise PlanError(f"{folder.name} is there already.", "Name a new folder with --out.", "output-exists")


def _fill(protected: MaskedTable, folder: Path, target: Path) -> None:
    import yaml

    _write_columns(protected.columns, folder / "table.csv")
    _write_columns(protected.public, folder / "published.csv")
    if protected.holds:
        _write_columns(protected.external, folder / "table-external.csv")
    text = json.dumps(figures(protected), indent=2, ensure_ascii=False)
    (folder / "report.json").write_text(text + "\n", encoding="utf-8")
    (folder / "report.html").write_text(html(protected), encoding="utf-8")
    resolved = table_plan_dict(protected.plan, target)
    plan = yaml.safe_dump(resolved, allow_unicode=True, sort_keys=False)
    (folder / "plan.yaml").write_text(plan, encoding="utf-8")


def _write_columns(columns: Columns, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.texts)
        writer.writerows(zip(*columns.texts.values(), strict=True))
