"""Help inside the server: how the pages are used, the words of the field, the documentation; no network is needed."""

import re

from nicegui import ui

from sfumato.manual import pages, title
from sfumato.reference.pages import written
from sfumato.report.page.html_parts import definitions
from sfumato.report.release.sign_off import glossary_entries
from sfumato.web import components
from sfumato.web.shell import Shell

# Pictures are not served: they show what the reader has open anyway.
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
STEPS = ("data", "columns", "goal", "result", "release")


def build(shell: Shell) -> None:
    """The area for a workspace."""
    words = shell.workspace.words
    with components.head(words["help_area"], words["help_about"]):
        pass
    with components.card(words["help_steps"]):
        entries = [(words[step], words[f"help.{step}"]) for step in STEPS]
        ui.html(definitions(entries), sanitize=False).classes("sf-glossary")
    with components.card(words["sign.glossary"]):
        ui.html(definitions(glossary_entries(words)), sanitize=False).classes("sf-glossary")
    if pages():
        with components.card(words["help_documents"]):
            for name, path in pages().items():
                _page(name, title(path))


def _page(name: str, called: str) -> None:
    """A page of the documentation, which is set out when it is first opened."""
    shown = ui.expansion(called).classes("w-full")

    def open_it() -> None:
        if shown.value and not shown.default_slot.children:
            with shown:
                ui.markdown(_PICTURE.sub("", written(name)), extras=["tables", "fenced-code-blocks"])

    shown.on_value_change(open_it)
