"""`sfumato report`: write the annex for an impact assessment, and reports as PDF, from a release folder."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.atomic_folders import check_free
from sfumato.cli.files import write_text
from sfumato.cli.options import Quiet
from sfumato.errors import PlanError

if TYPE_CHECKING:
    from sfumato.report.annex import Annex


def command(
    release: Annotated[Path, typer.Argument(help="A release folder.")],
    annex: Annotated[
        Path | None, typer.Option(help="Write the annex for an impact assessment to this file (.md or .docx).")
    ] = None,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Print report.html and report-external.html to PDF beside them.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Print the report of a release folder, its pages as PDF, or an annex for an impact assessment."""
    from sfumato.pipelines.report_folder import (
        is_of_tables,
        print_page,
        read_annex,
        read_files_report,
        read_tables_report,
    )
    from sfumato.report.annex import markdown

    of_tables = is_of_tables(release)
    of_files = None if of_tables else read_files_report(release)
    if of_files is not None:
        if annex is not None or pdf:
            raise PlanError("files.is_a_release_of_several", name=release.name)
        sys.stdout.write(of_files)
        return
    pages = [page for page in _pages(release) if page.exists() or not of_tables] if pdf else []
    written = [path for path in [annex] if path is not None] + [page.with_suffix(".pdf") for page in pages]
    own = None if of_tables and annex is None else read_annex(release)
    for path in written:
        check_free(path)
    if annex is not None and own is not None:
        _write_annex(annex, own)
    for page in pages:
        print_page(page, page.with_suffix(".pdf"))
    if not written:
        sys.stdout.write(read_tables_report(release) if own is None else markdown(own))
    elif not quiet:
        sys.stderr.write("".join(f"Wrote {path}.\n" for path in written))


def _pages(release: Path) -> list[Path]:
    """Return the pages of a release; for several tables the joint internal one, and one for publication with each."""
    names = ("report.html", "report-external.html")
    return [release / name for name in names] + sorted(release.glob("*/report-external.html"))


def _write_annex(path: Path, annex: "Annex") -> None:
    from sfumato.report.annex import document, markdown

    if path.suffix.lower() == ".docx":
        document(annex).save(path)
    else:
        write_text(path, markdown(annex))
