"""Help on the server: how to use the pages, the glossary, the documentation; no network is needed."""

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

from nicegui import ui

from sfumato.bundled_docs import FIRST, pages, title
from sfumato.docs_reference.pages import written
from sfumato.localization.messages import DEFAULT
from sfumato.report.html_page import all_entries, definitions
from sfumato.web import components
from sfumato.web.page_layout import Shell

# Pictures are left out: they show the pages that the visitor has open.
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
FOLDERS = ("methods", "models")
STEPS = ("data", "columns", "goal", "result", "release")

_TITLED = re.compile(r'^```(\w+) title="([^"]+)"$', re.MULTILINE)


def build(shell: Shell) -> None:
    """Build the area for a workspace."""
    words = shell.workspace.words
    with components.head(words["help_area"], words["help_about"]):
        pass
    with components.card(words["help_steps"]):
        entries = [(words[step], words[f"help.{step}"]) for step in STEPS]
        ui.html(definitions(entries), sanitize=False).classes("sf-glossary")
    with components.card(words["sign.glossary"]):
        ui.html(definitions(all_entries(words)), sanitize=False).classes("sf-glossary")
    if pages():
        Documentation(shell).build()


class Documentation:
    """The pages of the documentation: an index by groups, and the current page."""

    def __init__(self, shell: Shell) -> None:
        self.words = shell.workspace.words
        self._buttons: dict[str, Any] = {}

    def build(self) -> None:
        """Build the index and a container for a page below it."""
        words = self.words
        with components.card(words["help_documents"]):
            if words.language != DEFAULT:
                ui.label(words["help_english"]).classes("sf-soft sf-small")
            with ui.element("div").classes("sf-index").props('lang="en"'):
                for group, names in grouped(pages()).items():
                    ui.html(f"<h4>{escape(words[f'help_group.{group}'])}</h4>", sanitize=False)
                    for name in names:
                        self._entry(name, title(pages()[name]))
        self._room = ui.column().classes("w-full gap-4")
        components.listen("sf_back", lambda event: self._read(str(event.args)))
        ui.run_javascript("sfArrive('')")

    def _entry(self, name: str, called: str) -> None:
        self._buttons[name] = ui.element("button").on("click", lambda: self._choose(name))
        with self._buttons[name]:
            ui.html(escape(called), sanitize=False, tag="span")

    def _choose(self, name: str) -> None:
        """Open a page and add it to the browser history."""
        self._read(name)
        ui.run_javascript(f"sfStep({json.dumps(name)})")

    def _read(self, name: str) -> None:
        """Show the page that the address names, or none."""
        if name in self._buttons:
            self._open(name)
        else:
            self._room.clear()
            ui.run_javascript("sfStand('')")

    def _open(self, name: str) -> None:
        """Show a page and scroll to it."""
        for other, button in self._buttons.items():
            button.props('aria-current="true"') if other == name else button.props(remove="aria-current")
        self._room.clear()
        with self._room, components.card(classes="sf-document") as card:
            card.props('lang="en"')
            text = _PICTURE.sub("", written(name))
            ui.markdown(titled(text), extras=["tables", "fenced-code-blocks"]).classes("sf-table").props('tabindex="0"')
        ui.run_javascript("document.querySelector('.sf-document')?.scrollIntoView({behavior: 'smooth'})")


def titled(text: str) -> str:
    """Return a page with the file names of examples above them, because the Markdown renderer ignores titles.

    >>> print(titled('```csv title="a.csv"\\nn\\n```'))
    `a.csv`
    <BLANKLINE>
    ```csv
    n
    ```
    """
    return _TITLED.sub(r"`\2`\n\n```\1", text)


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Group the pages: introduction, pages by folder, and the rest.

    >>> grouped(["index", "how-to/arx", "risk", "models/k-map"])
    {'start': ['index', 'how-to/arx'], 'guides': ['risk'], 'models': ['models/k-map']}
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        folder = name.partition("/")[0]
        group = "start" if folder in FIRST else folder if "/" in name and folder in FOLDERS else "guides"
        groups.setdefault(group, []).append(name)
    return groups
