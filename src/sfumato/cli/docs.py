"""`sfumato docs`: show the documentation that is part of the package; no network is needed."""

import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from sfumato.bundled_docs import companions
from sfumato.cli.files import make_folder, write_bytes, write_text
from sfumato.errors import PlanError, did_you_mean, missing_extra


def command(
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
        _write(out)
    elif name is None:
        sys.stdout.write(_listing())
    else:
        _show(page_text(name))


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


def _write(out: Path) -> None:
    from sfumato.docs_reference.pages import overview, titles

    shelf = {page: page_text(page) for page in titles()}
    for page, text in shelf.items():
        make_folder((out / page).parent)
        write_text(out / f"{page}.md", text)
    for place, path in companions().items():
        make_folder((out / place).parent)
        write_bytes(out / place, path.read_bytes())
    write_text(out / "llms.txt", overview(shelf))


def _show(text: str) -> None:
    """Render Markdown on a terminal; print it unchanged elsewhere."""
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))
