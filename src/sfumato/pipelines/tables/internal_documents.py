"""Internal documents of a table release: the description of its folder, and its annex."""

import hashlib
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from sfumato.localization.messages import words_in
from sfumato.report.annex import ANNEX, Annex
from sfumato.report.tables.annex import tables_annex
from sfumato.report.tables.internal_report import DocumentContext, ReportWriter
from sfumato.report.tables.page import DAY, HANDED_OUT
from sfumato.tables.plan.table_plan import TablePlan, read_table_plan

# The report to sign.
HOUSE = "report.html"
# Formats derived from a folder later, which are no files of its release.
PRINTED = (".pdf", ".docx")


def annex_of(plan: TablePlan, report: Mapping[str, Any], papers: DocumentContext) -> Annex:
    """Return the annex of a release of tables, in the language of its plan."""
    return tables_annex(ReportWriter(words_in(plan.output.language), plan, report), papers)


def read_annex(folder: Path, report: Mapping[str, Any]) -> Annex:
    """Return the annex of the release of tables in a folder.

    Args:
        report: The content of its report.json.
    """
    day = date.fromisoformat(report[DAY]) if DAY in report else None
    return annex_of(read_table_plan(folder / "plan.yaml"), report, papers_of(folder, folder, day))


def papers_of(folder: Path, home: Path, day: date | None, without: tuple[str, ...] = (HOUSE, ANNEX)) -> DocumentContext:
    """Return the context of internal documents: the files of a folder with checksums, those for publication first.

    Args:
        home: The folder from which paths in plan.yaml are resolved.
        without: The documents that describe the others.
    """
    own = {folder / name for name in without}
    paths = [path for path in folder.rglob("*") if path.is_file() and path not in own and path.suffix not in PRINTED]
    paths.sort(key=lambda path: (path.name != HANDED_OUT, path))
    return DocumentContext(day, home, {path.relative_to(folder).as_posix(): hash_of(path) for path in paths})


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
