"""Commands that print documents: `docs`, `report`, `schema`."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.atomic_folders import check_free
from sfumato.bundled_docs import companions
from sfumato.cli.options import Quiet, make_folder, write_bytes, write_text
from sfumato.errors import PlanError, did_you_mean, missing_extra

if TYPE_CHECKING:
    from sfumato.report.annex import Annex


def docs_command(
    name: Annotated[
        str | None, typer.Argument(help="A page, or the end of its name; without one, all pages are listed.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write all pages to this folder, with pictures, notebooks and a list for programs (llms.txt)."
        ),
    ] = None,
) -> None:
    """Show the documentation: the list of its pages, or one of them."""
    if out is not None:
        _write_docs(out)
    elif name is None:
        sys.stdout.write(_listing())
    else:
        _show_page(page_text(name))


def page_text(name: str) -> str:
    """Return the page of that name, or the only one whose name ends with it; `llms` is the list for language models."""
    from sfumato.docs_reference.pages import Sources, overview, text_of, titles

    names = titles()
    if name in ("llms", "llms.txt"):
        return overview({page: page_text(page) for page in names})
    ends = [page for page in names if name in (page, page.rpartition("/")[2])]
    if name not in names and len(ends) != 1:
        raise PlanError("docs", hint=did_you_mean(name, ends or names), name=name)
    return text_of(name if name in names else ends[0], Sources(_package, _commands, _document))


def _package() -> ModuleType:
    return sys.modules[__name__.partition(".")[0]]


def _commands() -> Any:
    from typer.main import get_command

    from sfumato.cli.main import application

    return get_command(application([], loaded=True))


def _document() -> Mapping[str, Any]:
    """Return the OpenAPI document of the REST service, including jobs."""
    try:
        from sfumato.app import description
    except ModuleNotFoundError:
        raise missing_extra("fastapi", "web") from None
    return description()


def _listing() -> str:
    from sfumato.docs_reference.pages import titles

    names = titles()
    width = max(map(len, names), default=0)
    lines = [f"{page:<{width}}  {called}" for page, called in names.items()]
    return (
        "\n".join([*lines, "", "Read one with: sfumato docs NAME. Begin with: sfumato docs tutorials/patients"]) + "\n"
    )


def _write_docs(out: Path) -> None:
    from sfumato.docs_reference.pages import overview, titles

    shelf = {page: page_text(page) for page in titles()}
    for page, text in shelf.items():
        make_folder((out / page).parent)
        write_text(out / f"{page}.md", text)
    for place, path in companions().items():
        make_folder((out / place).parent)
        write_bytes(out / place, path.read_bytes())
    write_text(out / "llms.txt", overview(shelf))


def _show_page(text: str) -> None:
    """Render Markdown on a terminal; print it unchanged elsewhere."""
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))


def report_command(
    release: Annotated[Path, typer.Argument(help="A release folder.")],
    annex: Annotated[
        Path | None, typer.Option(help="Write the annex for an impact assessment to this file (.md or .docx).")
    ] = None,
    pdf: Annotated[
        bool, typer.Option("--pdf", help="Print report.html and report-external.html to PDF in the same folder.")
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
    pages = [page for page in _report_pages(release) if page.exists() or not of_tables] if pdf else []
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


def _report_pages(release: Path) -> list[Path]:
    """Return the report pages of a release: an internal one, and one for publication (of several tables one each)."""
    names = ("report.html", "report-external.html")
    return [release / name for name in names] + sorted(release.glob("*/report-external.html"))


def _write_annex(path: Path, annex: "Annex") -> None:
    from sfumato.report.annex import document, markdown

    if path.suffix.lower() == ".docx":
        document(annex).save(path)
    else:
        write_text(path, markdown(annex))


def schema_command(out: Annotated[Path, typer.Option(help="Folder for the schemas.")] = Path("docs")) -> None:
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
