"""`sfumato report`: from a release folder, the annex for an impact assessment, and the reports as PDF."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.files import write_text
from sfumato.cli.options import Quiet
from sfumato.errors import PlanError
from sfumato.folders import check_free


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
    """Print what a release folder's report says, its pages as PDF, or an annex for an impact assessment."""
    from sfumato.pipelines.report_folder import print_page, read_dossier, read_files_report
    from sfumato.report.release.annex import markdown
    from sfumato.report.release.annex_document import document

    of_files = read_files_report(release)
    if of_files is not None:
        if annex is not None or pdf:
            what = f"{release.name} is a release of several files: there is no annex or PDF of it."
            raise PlanError(what, "Leave the option out, or print its report.html.", "files")
        sys.stdout.write(of_files)
        return
    dossier = read_dossier(release)
    written = [path for path in [annex] if path is not None]
    pages = [release / "report.html", release / "report-external.html"] if pdf else []
    written += [page.with_suffix(".pdf") for page in pages]
    for path in written:
        check_free(path)
    if annex is not None and annex.suffix.lower() == ".docx":
        document(dossier).save(annex)
    elif annex is not None:
        write_text(annex, markdown(dossier))
    for page in pages:
        print_page(page, page.with_suffix(".pdf"))
    if not written:
        sys.stdout.write(markdown(dossier))
    elif not quiet:
        sys.stderr.write("".join(f"Wrote {path}.\n" for path in written))
