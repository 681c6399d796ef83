"""`sfumato docs`: the documentation that comes with the package, without a network."""

import sys
from typing import Annotated

import typer

from sfumato.errors import PlanError, did_you_mean
from sfumato.manual import pages, title


def command(
    name: Annotated[str | None, typer.Argument(help="A page; without one, all pages are listed.")] = None,
) -> None:
    """Read the documentation: the list of its pages, or one of them."""
    shelf = pages()
    if name is None:
        width = max(map(len, shelf), default=0)
        lines = [f"{page:<{width}}  {title(path)}" for page, path in shelf.items()]
        sys.stdout.write("\n".join([*lines, "", "Read one with: sfumato docs NAME"]) + "\n")
        return
    if name not in shelf:
        raise PlanError(f'there is no page "{name}".', did_you_mean(name, shelf), "docs")
    _show(shelf[name].read_text(encoding="utf-8"))


def _show(text: str) -> None:
    """Set out for people on a terminal, as it is written elsewhere."""
    if not sys.stdout.isatty():
        sys.stdout.write(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.pager(styles=True):
        console.print(Markdown(text))
